"""A case study's grid from the simulator's state, on worlds that `record.py` recorded.

    python case_studies/truth/grid.py worlds pick --out results

Methods, seeds and numbers of training episodes are those of the study's `state/recipe.toml`, and
`results/<world>/state` gets what `goalward reproduce` writes, against the truth of the world's test
frames too. The only difference is where the episodes come from: numbers of a simulator that drew
no camera.
"""

import argparse
import functools
import time
from dataclasses import replace
from pathlib import Path

from worlds import read_world

from goalward.embeddings.embed import embed
from goalward.experiments.grid import Grid, run_grid
from goalward.experiments.grid_truth import write_grid_truth
from goalward.experiments.recipe import Recipe, read_recipe
from goalward.experiments.reproduction_files import write_reproduction
from goalward.rollouts.dataset import Rollouts
from goalward.training.progress import TrainingProgress

STUDIES = Path(__file__).parents[1]


def sides(folder: Path, name: str, recipe: Recipe, _: str) -> tuple[Rollouts, Rollouts]:
    """Training and test episodes as networks see them, the last observations side by side."""
    world = read_world(folder, name)
    train, test = (
        embed(side, cameras=(), keep_features=True, n_obs_steps=recipe.n_obs_steps)
        for side in (world.train, world.test)
    )
    return train, test


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("worlds", nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, help="default: the recipe's")
    parser.add_argument("--sizes", type=int, nargs="+", help="default: the recipe's")
    options = parser.parse_args()
    for name in options.worlds:
        started = time.monotonic()
        recipe = read_recipe(STUDIES / name / "state" / "recipe.toml")
        recipe = replace(
            recipe,
            seeds=options.seeds or recipe.seeds,
            sizes=tuple(options.sizes or recipe.sizes),
        )
        grid = Grid.of(recipe)
        out = options.out / name / "state"
        features_of = functools.partial(sides, options.folder, name, recipe)
        results = run_grid(grid, features_of, out, on_progress=_Told(name))
        write_reproduction(out, recipe, grid, results)
        world = read_world(options.folder, name)
        write_grid_truth(out, grid, world.test, world.truth)
        print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)


class _Told:
    """A line about every tenth of a training."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.told = -1

    def __call__(self, encoder: str, progress: TrainingProgress | None) -> None:
        tenth = 10 if progress is None else 10 * progress.steps // progress.total_steps
        if tenth > self.told:
            self.told = tenth
            print(f"{self.name}, {encoder}: {10 * tenth} %", flush=True)


if __name__ == "__main__":
    main()

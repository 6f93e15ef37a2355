"""A case study from its data to its results: read, embed, train the grid, write what was found."""

import logging
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goalward.embeddings.embed import embed
from goalward.embeddings.encoders import find_encoder
from goalward.executors.choice import HERE, Workers
from goalward.executors.ray_cluster import one_cluster
from goalward.experiments.grid import FeaturesOf, Grid, run_grid
from goalward.experiments.grid_truth import write_grid_truth
from goalward.experiments.paper_comparison import (
    Beside,
    PaperClaim,
    beside_the_paper,
    claims,
    read_paper_results,
)
from goalward.experiments.recipe import NO_ENCODER, Recipe
from goalward.experiments.reproduction_files import write_reproduction
from goalward.experiments.results import Results
from goalward.leftovers import sweep
from goalward.locks import alone_in
from goalward.metrics.truth.frame_truth import TRUTH_FILE, FrameTruth, read_truth
from goalward.progress import PieceBar, progress_bar
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.findings import counted
from goalward.runs.making.inputs import embed_input, read_input
from goalward.training.progress import TrainingProgress

_log = logging.getLogger("goalward.experiments")


@dataclass(frozen=True, eq=False)
class Reproduction:
    """A finished case study: its results, ours beside the paper's, and whether its claim holds."""

    results: Results
    tables: list[Beside]
    claims: list[PaperClaim]


def reproduce(
    recipe: Recipe,
    data: Path,
    out: Path,
    *,
    device: str | None = None,
    workers: Workers = HERE,
    progress: bool = True,
    **overrides: Any,
) -> Reproduction:
    """Run a case study on the rollouts in the folder `data`; all results go into `out`.

    Every method, seed and number of training episodes is trained and scored on the same test
    episodes. Stopped at any moment, the same call goes on where it was. Where the truth of some
    test frames was measured, all methods are compared with that as well. `workers` of a cluster
    (`Workers("ray")`) embed and train instead of this process.
    """
    recipe.check_data(data)
    with one_cluster(), alone_in(out):
        sweep(out, below=True)
        return _reproduce(recipe, data, out, device, workers, progress, overrides)


def _reproduce(
    recipe: Recipe,
    data: Path,
    out: Path,
    device: str | None,
    workers: Workers,
    progress: bool,
    overrides: Mapping[str, Any],
) -> Reproduction:
    grid = Grid.of(recipe, overrides)
    paper = read_paper_results(recipe.paper_results)
    _check_encoders(recipe)
    sides = _read_sides(recipe, data, progress)
    truth = _truth_of(recipe, data)
    features_of = _features_of(recipe, sides, device, workers, progress)
    results = _run(grid, features_of, out, device, workers, progress)
    write_reproduction(out, recipe, grid, results)
    if truth is not None:
        write_grid_truth(out, grid, sides[1], truth)
    return Reproduction(results, beside_the_paper(results, paper), claims(results))


def _check_encoders(recipe: Recipe) -> None:
    """A wrong name is an error now, not after hours with the encoder before it."""
    for encoder in recipe.encoders:
        if encoder != NO_ENCODER:
            find_encoder(encoder, pool=recipe.pool)


def _truth_of(recipe: Recipe, data: Path) -> FrameTruth | None:
    """What `goalward truth` left in the test data set, if it was there."""
    path = data / recipe.data.wanted[-1] / TRUTH_FILE
    return read_truth(path) if path.is_file() else None


def _features_of(
    recipe: Recipe,
    sides: tuple[Rollouts, Rollouts],
    device: str | None,
    workers: Workers,
    progress: bool,
) -> FeaturesOf:
    """Embeds training and test episodes for each encoder that is asked for."""

    def features_of(encoder: str) -> tuple[Rollouts, Rollouts]:
        if encoder == NO_ENCODER:
            train, test = (
                embed(side, cameras=(), n_obs_steps=recipe.n_obs_steps) for side in sides
            )
            return train, test
        # The reader has left only the cameras that were asked for.
        options = {"encoder": encoder, "pool": recipe.pool, "n_obs_steps": recipe.n_obs_steps}
        train, test = (
            embed_input(side, options, device=device, workers=workers, progress=progress)
            for side in sides
        )
        return train, test

    return features_of


def _read_sides(recipe: Recipe, data: Path, progress: bool) -> tuple[Rollouts, Rollouts]:
    """Training and test episodes."""
    reading = {
        "success_key": recipe.data.success_key,
        "cameras": recipe.cameras,
        "proprioception": recipe.proprioception,
    }
    train = read_input(data / recipe.data.train, reading, {}, progress=progress)
    if recipe.data.test_fraction is not None:
        train, test = train.split(recipe.data.test_fraction)
    else:
        test = read_input(data / recipe.data.wanted[-1], reading, {}, progress=progress)
    for name, side in (("training", train), ("test", test)):
        _log.info("%s: %s, %d of them successes", name, counted(side), int(side.success.sum()))
    return train, test


def _run(
    grid: Grid,
    features_of: FeaturesOf,
    out: Path,
    device: str | None,
    workers: Workers,
    progress: bool,
) -> Results:
    updates: dict[str, PieceBar] = {}
    with ExitStack() as bar:

        def embedded(encoder: str) -> tuple[Rollouts, Rollouts]:
            # Embedding has bars of its own, and there is one place for a bar.
            bar.close()
            return features_of(encoder)

        def show(encoder: str, now: TrainingProgress | None) -> None:
            if now is None:
                _log.info("%s: results are there already", encoder)
                return
            if encoder not in updates:
                shown = progress_bar(f"training {encoder}", is_shown=progress)
                updates[encoder] = bar.enter_context(shown)
            updates[encoder](now.steps, now.total_steps)
            updates[encoder].met(now.setbacks)

        listener: Callable[[str, TrainingProgress | None], None] = show
        return run_grid(grid, embedded, out, device=device, workers=workers, on_progress=listener)

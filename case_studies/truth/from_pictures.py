"""What the camera costs: every method from pictures and from the state, on the same episodes.

    goalward simulate pick --out rollouts/train --episodes 200 --balanced --seed 6 --every 4
    goalward simulate pick --out rollouts/test --episodes 100 --balanced --seed 7 --every 4
    goalward truth rollouts/test --frames 150 --rollouts 4
    python case_studies/truth/from_pictures.py rollouts --out fits
    python case_studies/truth/from_pictures.py rollouts --out fits --table

The first call of the script fits `lambda-returns` and the paper's methods with five seeds to each
kind of input (minutes on a GPU, hours on two cores) and stores what they say of all test frames;
the second holds it against the truth, as `table.py` does.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from fit import OURS, PAPER, fitted_world, said, save
from table import Judged, numbers_of, world_text
from worlds import RecordedWorld

import goalward
from goalward.embeddings.embed import embed
from goalward.metrics.truth.frame_truth import FrameTruth, read_truth
from goalward.rollouts.dataset import Rollouts

ENCODER = "effnet-lite0"
STATE = ["observation.state", "observation.environment_state"]
# Name of an input -> how pictures are pooled; None: no pictures.
POOLS = {"global": "global", "grid2": "grid2", "proprioception": None, "state": None}


def seen(side: Rollouts, with_state: Rollouts, kind: str) -> Rollouts:
    """One side of the data as networks see it."""
    if kind == "state":
        return embed(with_state, cameras=())
    pool = POOLS[kind]
    if pool is None:
        return embed(side, cameras=())
    return embed(side, ENCODER, pool=pool)


def all_frames(test: Rollouts) -> FrameTruth:
    """Names every frame and says nothing of it, so that values of all are kept."""
    branches: dict[tuple[str, int, int], int | None] = {
        (episode.id, frame, 0): None for episode in test for frame in range(episode.num_frames)
    }
    return FrameTruth.from_branches(branches, 1)


def fit_kinds(sides: dict[str, tuple[Rollouts, Rollouts]], out: Path, seeds: int) -> None:
    """What every method says of all test frames, by kind of input."""
    for kind, (train, test) in sides.items():
        world = world_of(kind, train, test, all_frames(test))
        for suffix, methods in (("ours", [OURS]), ("paper", list(PAPER))):
            path = out / f"{world.name}_{suffix}.npz"
            if path.exists():
                continue
            fitted, seconds = fitted_world(world, methods, seeds)
            save(path, said(world, fitted) | {"seconds": seconds})


def world_of(kind: str, train: Rollouts, test: Rollouts, truth: FrameTruth) -> RecordedWorld:
    clock = int(test.lengths.max())
    return RecordedWorld(
        name=f"pick-{kind}",
        train=train,
        test=test,
        truth=truth,
        steps_on=np.zeros(len(train), dtype=np.int64),
        time_out=clock,
        # As long for the clock as the paper's 200 for its 250.
        horizon=round(0.8 * (clock - 1)),
    )


def read_sides(folder: Path, kinds: Sequence[str]) -> dict[str, tuple[Rollouts, Rollouts]]:
    def side(name: str, kind: str) -> Rollouts:
        read = goalward.read(folder / name)
        with_state = goalward.read(folder / name, proprioception=STATE, cameras=())
        return seen(read, with_state, kind)

    return {kind: (side("train", kind), side("test", kind)) for kind in kinds}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="with the data sets train and test")
    parser.add_argument("--out", type=Path, required=True, help="what methods say")
    parser.add_argument("--kinds", nargs="+", choices=list(POOLS), default=list(POOLS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--table", action="store_true", help="against the truth")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if not options.table:
        fit_kinds(read_sides(options.folder, options.kinds), options.out, options.seeds)
        return
    train, test = (goalward.read(options.folder / name, cameras=()) for name in ("train", "test"))
    truth = read_truth(options.folder / "test" / "truth.parquet")
    for kind in options.kinds:
        world = world_of(kind, train, test, truth)
        numbers = numbers_of(Judged(world, options.out))
        print(world_text(world.name, numbers))


if __name__ == "__main__":
    main()

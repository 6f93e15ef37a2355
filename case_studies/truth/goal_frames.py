"""Can goal frames be told from frames that are near the goal, and are there enough of them?

    python case_studies/truth/goal_frames.py worlds [--fits fits]

Of each goal frame of a test episode the nearest training frame in the simulator's state (every
number by its spread over training frames): is it at a goal, shortly before one, or a near miss, a
frame that none is recorded after? Once with goal frames alone and once with those of the second
after success, which `record.py` keeps. With `--fits` also the mean value that each method has at
test goal frames, where -1 is right.
"""

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt
from worlds import read_world

from goalward.rollouts.dataset import Rollouts

# Frames this many steps before a goal show much the same.
SHORTLY = 10


def nearest_kinds(train: Rollouts, test: Rollouts) -> dict[str, float]:
    """Share of test goal frames whose nearest training frame is of each kind."""
    endings, features = train.endings, np.asarray(train.features, dtype=np.float64)
    kinds = np.where(endings.at_goal, "at a goal", "near miss")
    ahead = (endings.steps > 0) & (endings.steps <= SHORTLY)
    kinds = np.where(ahead, f"up to {SHORTLY} steps before one", kinds)
    kinds = np.where(endings.steps > SHORTLY, "long before one", kinds)
    spread = features.std(axis=0)
    spread[spread == 0] = 1.0
    of_test = test.endings
    goals = (of_test.starts + of_test.goal_frames)[of_test.success]
    nearest = _nearest(np.asarray(test.features)[goals] / spread, features / spread)
    names, counts = np.unique(kinds[nearest], return_counts=True)
    return {str(name): count / len(goals) for name, count in zip(names, counts, strict=True)}


def _nearest(
    asked: npt.NDArray[np.float64], rows: npt.NDArray[np.float64]
) -> npt.NDArray[np.int64]:
    return np.array([((rows - one) ** 2).sum(axis=1).argmin() for one in asked])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fits", type=Path)
    options = parser.parse_args()
    print("| recorded | training frames | at a goal | nearest to a test goal frame |")
    print("|---|---:|---:|---|")
    for words, at_goal in (("goal frames alone", False), ("and the second after", True)):
        world = read_world(options.folder, "libero", at_goal=at_goal, planned=True)
        share = world.train.endings.at_goal.mean()
        found = nearest_kinds(world.train, world.test)
        told = ", ".join(f"{name} {100 * part:.0f} %" for name, part in sorted(found.items()))
        count = world.train.endings.num_frames
        print(f"| {words} | {count:,} | {100 * share:.1f} % | {told} |")
    for path in sorted(options.fits.glob("libero_*.npz")) if options.fits else ():
        with np.load(path, allow_pickle=False) as stored:
            for method, value in zip(stored["methods"], stored["at_goal"], strict=True):
                print(f"{path.name}: {method} {value:+.2f} at goal frames")


if __name__ == "__main__":
    main()

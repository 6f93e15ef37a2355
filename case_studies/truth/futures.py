"""What became of the measured frames of a world, before any method is asked.

    python case_studies/truth/futures.py worlds libero

Shares of futures that reach the goal within the standard horizon, one more clock and the cap, from
frames of successes, of time-outs, and the last frames of time-outs; and how far the best single
number for all frames would be from their true values, which a value function has to beat.
"""

import argparse
from pathlib import Path

import numpy as np
from worlds import read_world

from goalward.metrics.truth.known_frames import known_frames
from goalward.metrics.uncertainty.intervals import over_episodes
from goalward.metrics.uncertainty.weighing import mean_by_episode
from goalward.training.methods.presets import hyperparameters


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("worlds", nargs="+")
    options = parser.parse_args()
    for name in options.worlds:
        world = read_world(options.folder, name)
        known = known_frames(world.truth, world.test, np.ones(len(world.test), dtype=np.bool_))
        late = np.array(known.outcome) != "success"
        at_end = late & (known.position == world.test.episode_ends[known.episode] - 1)
        asked = (world.horizon, world.time_out - 1, world.truth.cap)
        print(f"## {name}\n\n| futures from | frames | {' | '.join(f'{n} steps' for n in asked)} |")
        print("|---" * (2 + len(asked)) + "|")
        groups = {"successes": ~late, "time-outs": late & ~at_end, "last frames": at_end}
        for words, frames in groups.items():
            cells: list[str] = []
            for steps in asked:
                share = known.truth.success_within(float(steps)).mean[frames]
                mean = over_episodes(mean_by_episode(share, known.episode[frames], scale="line"))
                low, high = 100 * (mean.low or 0), 100 * (mean.high or 0)
                cells.append(f"{100 * share.mean():.0f} % ({low:.0f} to {high:.0f})")
            print(f"| {words} | {int(frames.sum())} | {' | '.join(cells)} |")
        discount = hyperparameters(world.preset).discount or 0.0
        true = known.truth.true_value(discount).mean[~at_end]
        error = np.abs(true - np.median(true)).mean()
        lost = int((known.truth.success_within(float(world.truth.cap)).mean == 0).sum())
        print(f"\nBranches of a frame: {known.truth.num_branches.min()} to", end=" ")
        print(f"{known.truth.num_branches.max()}; frames of which no future got there: {lost}.")
        print(f"The best single number for all frames is off by {error:.3f} (discount {discount}).")


if __name__ == "__main__":
    main()

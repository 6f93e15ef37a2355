"""Does the interval of the expected share hold the measured one? Over many data sets.

    python case_studies/truth/fit.py worlds pick square --out fits --resampled 16
    PYTHONPATH=case_studies/truth python case_studies/truth/coverage.py worlds fits

Each data set is half of the episodes to learn from, judged at 24 of the test time-outs, drawn with
replacement. Measured is the share of all time-outs of the world, those learned from (each went on
once) and those of the test set (each many times), that succeeded within one more clock.

A second table has the interval of every fit that `fit.py` stored, on all test time-outs, against
the share measured at those same frames and against that of all time-outs.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy import special
from worlds import RecordedWorld, read_world

from goalward.metrics.more_time import share_beta
from goalward.metrics.truth.known_frames import known_frames
from goalward.rollouts.endings import FloatArray
from goalward.seeds import generator

NUM_JUDGED = 24
DRAWS_PER_SET = 20


def measured_share(world: RecordedWorld) -> float:
    """Of all time-outs, test and training, that were let go on."""
    clock = world.time_out - 1
    hidden = world.steps_on[~world.train.success]
    went_on = (hidden >= 0) & (hidden <= clock)
    return float(np.concatenate([went_on, measured_at_ends(world)]).mean())


def measured_at_ends(world: RecordedWorld) -> FloatArray:
    """Of every test time-out whose last frame was let go on, the share of futures in time."""
    known = known_frames(world.truth, world.test, np.ones(len(world.test), dtype=np.bool_))
    last = world.test.episode_ends[known.episode] - 1
    at_end = (np.array(known.outcome) != "success") & (known.position == last)
    return known.truth.success_within(world.time_out - 1).mean[at_end]


def tell_fits(worlds: Path, fits: Path) -> None:
    """Of every stored fit of our method: expected, its interval, measured, inside or not."""
    print("\n| world | expected | interval | measured there | of all time-outs | inside |")
    print("|---|---|---|---|---|---|")
    for path in sorted(fits.glob("*_ours.npz")):
        world = read_world(worlds, path.name.removesuffix("_ours.npz"))
        with np.load(path, allow_pickle=False) as stored:
            ends = stored["ends"].astype(np.float64)
        low, high = special.betaincinv(*share_beta(ends), [0.025, 0.975])
        there = float(measured_at_ends(world).mean())
        print(
            f"| {world.name} | {100 * ends.mean():.0f} % | {100 * low:.0f} to {100 * high:.0f} % | "
            f"{100 * there:.0f} % | {100 * measured_share(world):.0f} % | "
            f"{'yes' if low <= there <= high else 'no'} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("worlds", type=Path)
    parser.add_argument("fits", type=Path)
    options = parser.parse_args()
    print("| world | measured | expected, mean (least to most) | width | covered |")
    print("|---|---|---|---|---|")
    for path in sorted(options.fits.glob("*_resampled.npz")):
        world = read_world(options.worlds, path.name.removesuffix("_resampled.npz"))
        measured = measured_share(world)
        with np.load(path, allow_pickle=False) as stored:
            ends = stored["ends"].astype(np.float64)
        draws = generator(0, "coverage", world.name)
        shares, widths, covered = [], [], []
        for by_fold in ends:
            for _ in range(DRAWS_PER_SET):
                chosen = draws.integers(by_fold.shape[1], size=NUM_JUDGED)
                near, far = share_beta(by_fold[None][:, :, chosen])
                low, high = special.betaincinv(near, far, [0.025, 0.975])
                shares.append(by_fold[:, chosen].mean())
                widths.append(high - low)
                covered.append(low <= measured <= high)
        print(
            f"| {world.name} | {100 * measured:.0f} % | {100 * np.mean(shares):.0f} % "
            f"({100 * np.min(shares):.0f} to {100 * np.max(shares):.0f}) | "
            f"{100 * np.mean(widths):.0f} points | {100 * np.mean(covered):.0f} % |"
        )
    tell_fits(options.worlds, options.fits)


if __name__ == "__main__":
    main()

"""Does the interval of the expected share hold the measured one? Over many data sets.

    python case_studies/truth/fit.py worlds pick square --out fits --resampled 16
    python case_studies/truth/interval_coverage.py worlds fits --out case_studies/truth/results

Each data set is half of the episodes to learn from, judged at 24 of the test time-outs, drawn with
replacement. Measured is the share of all time-outs of the world, those learned from (each went on
once) and those of the test set (each many times), that succeeded within one more clock.

A second table has the interval of every fit that `fit.py` stored, on all test time-outs, against
the share measured at those same frames and against that of all time-outs. Intervals are those of
the summary (`metrics/more_time.py`), the model's error among them.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy import special
from worlds import RecordedWorld, read_world

from goalward.files import written_whole
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


def interval(by_network: FloatArray) -> tuple[float, float, float]:
    """The expected share and its 95 % interval, from chances (seeds, members, time-outs)."""
    share = float(by_network.mean())
    low, high = special.betaincinv(*share_beta(by_network), [0.025, 0.975]).tolist()
    return share, min(low, share), max(high, share)


def resampled_text(worlds: Path, fits: Path) -> list[str]:
    """Of many data sets of half of the episodes: how often the interval holds what was measured."""
    lines = [
        "| world | measured | expected, mean (least to most) | width | covered |",
        "|---|---|---|---|---|",
    ]
    shares_covered: list[float] = []
    for path in sorted(fits.glob("*_resampled.npz")):
        world = read_world(worlds, path.name.removesuffix("_resampled.npz"))
        measured = measured_share(world)
        with np.load(path, allow_pickle=False) as stored:
            ends = stored["ends"].astype(np.float64)
        draws = generator(0, "coverage", world.name)
        found = np.array(
            [
                interval(by_fold[None][:, :, draws.integers(by_fold.shape[1], size=NUM_JUDGED)])
                for by_fold in ends
                for _ in range(DRAWS_PER_SET)
            ]
        )
        share, low, high = found.T
        shares_covered.append(float(((low <= measured) & (measured <= high)).mean()))
        lines.append(
            f"| {world.name} | {100 * measured:.0f} % | {100 * share.mean():.0f} % "
            f"({100 * share.min():.0f} to {100 * share.max():.0f}) | "
            f"{100 * (high - low).mean():.0f} points | {100 * shares_covered[-1]:.0f} % |"
        )
    return [*lines, f"| mean over worlds | | | | {100 * np.mean(shares_covered):.0f} % |"]


def fits_text(worlds: Path, fits: Path) -> list[str]:
    """Of every stored fit of our method: expected, its interval, measured, inside or not."""
    lines = [
        "| world | expected | interval | measured there | of all time-outs | inside |",
        "|---|---|---|---|---|---|",
    ]
    for path in sorted(fits.glob("*_ours.npz")):
        world = read_world(worlds, path.name.removesuffix("_ours.npz"))
        with np.load(path, allow_pickle=False) as stored:
            share, low, high = interval(stored["ends"].astype(np.float64))
        there = float(measured_at_ends(world).mean())
        lines.append(
            f"| {world.name} | {100 * share:.0f} % | {100 * low:.0f} to {100 * high:.0f} % | "
            f"{100 * there:.0f} % | {100 * measured_share(world):.0f} % | "
            f"{'yes' if low <= there <= high else 'no'} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("worlds", type=Path)
    parser.add_argument("fits", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    resampled = resampled_text(options.worlds, options.fits)
    fitted = fits_text(options.worlds, options.fits)
    text = "\n".join([*resampled, "", *fitted, ""])
    options.out.mkdir(parents=True, exist_ok=True)
    with written_whole(options.out / "coverage.md") as temporary:
        temporary.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()

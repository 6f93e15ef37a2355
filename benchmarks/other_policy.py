"""Values learned from one policy, asked about another: how far off, and is it noticed?

    python case_studies/truth/record.py mw-pick-place --out worlds --test 2 --frames 1 --at-end 0
    for policy in retry no-retry; do
      python case_studies/truth/record.py mw-pick-place --policy $policy --name mw-pick-$policy \
          --out worlds --only-test --test 60 --test-seed 7 --frames 120 --at-end 20 --branches 4
    done
    python benchmarks/other_policy.py worlds mw-pick-place mw-pick-retry mw-pick-no-retry

A run learns from the first world, and judges fresh episodes of the others, as
`goalward evaluate NEW --values RUN` does: the same policy, and one that gives up where the first
tries again. Their truth is known by letting each policy go on from its own frames.
"""

import argparse
import tempfile
from pathlib import Path

import goalward
from goalward.metrics.truth.card import ALL
from goalward.rollouts.episode import Outcome
from recorded_world import recorded


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("learned", help="the world that is learned from")
    parser.add_argument("others", nargs="+", help="worlds whose test episodes are judged")
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--effort", default="quick")
    options = parser.parse_args()
    train, _ = recorded(options.folder / f"{options.learned}_train.npz", options.episodes)
    heads = (
        "AUROC",
        "off by",
        "bias",
        "bias in time-outs",
        "time-outs expected",
        "measured",
        "far",
    )
    print("| world | " + " | ".join(heads) + " |", flush=True)
    with tempfile.TemporaryDirectory() as place:
        learned = goalward.evaluate(
            train, Path(place) / "run", effort=options.effort, report=False, progress=False
        )
        for name in options.others:
            new, truth = recorded(options.folder / f"{name}_test.npz")
            out = Path(place) / name
            run = goalward.evaluate(
                new, out, values=learned, truth=truth, report=False, progress=False
            )
            assert run.truth is not None
            assert run.familiarity is not None
            groups = run.truth.methods[run.method].by_group
            ends = run.truth.clock_end
            expected = None if ends is None else ends.predicted[run.method].value
            measured = None if ends is None else ends.measured.value
            late = groups[Outcome.TIME_OUT].value.bias
            cells = (
                f"{run.trust.skill.value:.2f}",
                str(groups[ALL].value.absolute.mean),
                f"{groups[ALL].value.bias.mean.value:+.2f}",
                f"{late.mean.value:+.2f} ({late.interval})",
                "" if expected is None else f"{100 * expected:.0f} %",
                "" if measured is None else f"{100 * measured:.0f} %",
                f"{len(run.familiarity.far)} of {len(new)}",
            )
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

"""Does the verdict on the values hang on how episodes happen to be split into folds?

    python case_studies/truth/grades.py worlds mw-pick-place mw-shelf-place --episodes 20 50 100

The same episodes in another order fall into other folds and meet other first weights. Per world
and number of episodes: the grades that so many orders give, how often two of them disagree, how
often over whether exports are let through, and how far the AUROC and the expected share of
time-outs lie apart. Episodes are the first of each world, as many successes as time-outs; `demo`
is the data set that comes with the package, from pictures.
"""

import argparse
import tempfile
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
from worlds import read_world

import goalward
from goalward.rollouts.dataset import Rollouts


def in_another_order(rollouts: Rollouts, seed: int) -> Rollouts:
    return rollouts.select(np.random.default_rng(seed).permutation(len(rollouts)).tolist())


def episodes_of(folder: Path, name: str, count: int) -> Rollouts:
    if name == "demo":
        return goalward.embed(goalward.read("demo"), "effnet-lite0")
    return read_world(folder, name, num_train=count).train


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("worlds", nargs="+")
    parser.add_argument("--episodes", type=int, nargs="+", default=[20, 50, 100])
    parser.add_argument("--orders", type=int, default=6)
    parser.add_argument("--effort", default="quick")
    options = parser.parse_args()
    print("| world | episodes | grades | two disagree | on exports | AUROC | share expected |")
    print("|---|---|---|---|---|---|---|")
    for name in options.worlds:
        for count in options.episodes[: 1 if name == "demo" else None]:
            print(row(options, name, count), flush=True)


def row(options: argparse.Namespace, name: str, count: int) -> str:
    rollouts = episodes_of(options.folder, name, count)
    trusts, shares = [], []
    for order in range(options.orders):
        with tempfile.TemporaryDirectory() as place:
            run = goalward.evaluate(
                in_another_order(rollouts, order),
                Path(place) / "run",
                effort=options.effort,
                report=False,
                progress=False,
            )
            trusts.append(run.trust)
            shares.append(run.scores.policy.more_time.twice.share.value)
    grades = Counter(str(trust.grade) for trust in trusts)
    pairs = list(combinations(trusts, 2))
    apart = np.mean([a.grade != b.grade for a, b in pairs])
    exports = np.mean([a.grade.is_usable != b.grade.is_usable for a, b in pairs])
    skills = [trust.skill.value for trust in trusts]
    told = ", ".join(f"{grade} {number}" for grade, number in grades.most_common())
    return (
        f"| {name} | {len(rollouts)} | {told} | {100 * apart:.0f} % | {100 * exports:.0f} % "
        f"| {min(skills):.2f} to {max(skills):.2f} "
        f"| {100 * min(shares):.0f} to {100 * max(shares):.0f} % |"
    )


if __name__ == "__main__":
    main()

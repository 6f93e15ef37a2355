"""How much a table depends on which test episodes it was made with: the paper's cloth case has 20.

    python case_studies/test_set_size.py rollouts/cloth/test \\
        results/cloth/values/effnet-lite0_150.parquet --standard-horizon 100

Draws test sets of `--episodes` (half of them successes) out of the larger one, again and again, and
says where the paper's metrics of every method fall, and how often each method comes first.
"""

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt

import goalward
from goalward.metrics.scores.paper_metrics import composite_share, failure_share, success_share
from goalward.metrics.uncertainty.weighing import scores_by_run
from goalward.seeds import generator
from goalward.values.table import read_values

METRICS = {"success": success_share, "failure": failure_share, "composite": composite_share}


def drawn_sets(
    success: npt.NDArray[np.bool_], size: int, num_draws: int
) -> list[npt.NDArray[np.int64]]:
    draws = generator(0, "test sets")
    kinds = [np.flatnonzero(success), np.flatnonzero(~success)]
    return [
        np.sort(np.concatenate([draws.choice(kind, size // 2, replace=False) for kind in kinds]))
        for _ in range(num_draws)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("values", type=Path)
    parser.add_argument("--standard-horizon", type=int, required=True)
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--draws", type=int, default=300)
    arguments = parser.parse_args()
    rollouts = goalward.read(arguments.data)
    values = read_values(arguments.values)
    sets = drawn_sets(rollouts.success, arguments.episodes, arguments.draws)
    # (methods, metrics, draws), each the mean over seeds
    found = np.zeros((len(values.methods), len(METRICS), len(sets)))
    for draw, chosen in enumerate(sets):
        endings = rollouts.select(chosen).endings
        frames = np.concatenate([np.r_[values.frames_of(rollouts[i].id)] for i in chosen])
        for row, method in enumerate(values.methods):
            steps = np.asarray(values.steps(method)[:, frames], dtype=np.float64)
            for column, metric in enumerate(METRICS.values()):
                scores = scores_by_run(metric(steps, endings, arguments.standard_horizon))
                found[row, column, draw] = np.mean(
                    np.array([score.value for score in scores], dtype=np.float64)
                )
    first = found[:, 2].argmax(axis=0)
    print(f"| method | {' | '.join(METRICS)} | first by composite |")
    print("|---|" + "---:|" * (len(METRICS) + 1))
    for row, method in enumerate(values.methods):
        cells = []
        for column in range(len(METRICS)):
            low, middle, high = np.quantile(found[row, column], [0.05, 0.5, 0.95])
            cells.append(f"{middle:.2f} ({low:.2f} to {high:.2f})")
        print(f"| {method} | {' | '.join(cells)} | {100 * (first == row).mean():.0f} % |")


if __name__ == "__main__":
    main()

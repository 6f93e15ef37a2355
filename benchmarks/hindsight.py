"""How far from the truth are value and hindsight value, by lambda?

    python benchmarks/hindsight.py DATA VALUES

DATA is a data set with a `truth.parquet` of `goalward truth`, or demo; VALUES the `values.parquet`
of its episodes. A row per method: the mean absolute error of the value, mean over seeds, on frames
whose truth is known; then that of the hindsight value by lambda.
"""

import argparse
from pathlib import Path

import numpy as np

import goalward
from goalward.metrics.truth.frame_truth import TRUTH_FILE, read_truth
from goalward.rollouts.embedded import located
from goalward.targets.liveness import liveness_value
from goalward.values.hindsight import hindsight_values
from goalward.values.table import read_values

DECAYS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data")
    parser.add_argument("values", type=Path)
    options = parser.parse_args()
    values, rollouts = read_values(options.values), goalward.read(options.data)
    truth = read_truth(located(options.data) / TRUTH_FILE)
    # The common scale of a run with usual settings.
    discount = 1 - 1.75 / max(int(rollouts.lengths.max()) - 1, 1)
    frames = zip(truth.episode_ids, truth.frame_indices.tolist(), strict=True)
    rows = [values.frames_of(episode).start + frame for episode, frame in frames]
    true = truth.true_value(discount).mean
    print(f"{len(rows)} frames; value, then lambda {', '.join(f'{d:g}' for d in DECAYS)}")
    for method in values.methods:
        value = liveness_value(values.steps(method).astype(np.float64), discount).mean(axis=0)
        seen = [hindsight_values(value, rollouts.endings, discount, decay) for decay in DECAYS]
        errors = [float(np.abs(one[rows] - true).mean()) for one in (value, *seen)]
        print(f"{method:15}", *(f"{error:.3f}" for error in errors))


if __name__ == "__main__":
    main()

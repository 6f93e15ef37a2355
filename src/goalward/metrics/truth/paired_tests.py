"""Which methods are nearer to the truth than others, on the same frames."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from goalward.metrics.uncertainty.intervals import zero_test
from goalward.metrics.uncertainty.significance import (
    MethodTests,
    OverallTest,
    PairTest,
    adjusted_together,
)
from goalward.metrics.uncertainty.weighing import mean_by_episode
from goalward.rollouts.endings import FloatArray

ALPHA = 0.05


def paired_tests(
    sizes: Mapping[str, FloatArray], episode: Sequence[int] | np.ndarray, alpha: float = ALPHA
) -> MethodTests:
    """Which methods have larger errors than others on the same frames.

    `sizes` holds the absolute error of each method, (frames,) or (runs, frames). The differences,
    frame by frame, are tested against zero over episodes and, with several runs, over runs; p
    values are adjusted by Benjamini-Hochberg. Runs are paired by their order; as any seed of one
    method may meet any of the other, this neither helps nor hurts on average.

    >>> sizes = {"a": np.array([[0.1, 0.2, 0.1, 0.2]]), "b": np.array([[0.4, 0.5, 0.5, 0.6]])}
    >>> pair = paired_tests(sizes, np.arange(4)).pair("a", "b")
    >>> round(pair.difference, 3), round(pair.adjusted, 4), pair.differs
    (-0.35, 0.0012, True)
    """
    tests: list[PairTest] = []
    for first, second in combinations(sizes, 2):
        difference = sizes[first] - sizes[second]
        mean = mean_by_episode(difference, np.asarray(episode), scale="line")
        found = zero_test(mean)
        tests.append(
            PairTest(
                first,
                second,
                float(difference.mean()),
                found.statistic,
                found.p_value,
                reason=found.reason,
            )
        )
    overall = OverallTest(None, None, "methods are compared in pairs, frame by frame")
    return MethodTests(tuple(sizes), alpha, overall, adjusted_together(tests, alpha))

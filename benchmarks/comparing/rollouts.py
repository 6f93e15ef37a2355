"""Rollouts of each policy until a difference is found, beside the published test STEP.

    python -m venv step && step/bin/pip install sequentialized_barnard_tests
    PYTHONPATH=src step/bin/python benchmarks/comparing/rollouts.py

STEP (Snyder et al. 2025, package `sequentialized_barnard_tests`, CC-BY-NC: for this measurement
only, no part of goalward) at 5 % two-sided, which is its mode "ranking" and takes minutes to
prepare the first time; the watching test, which knows no end; the test for a budget. All see the
same rollouts, 200 of each at most. Without the package its columns are left out.
"""

import argparse
from collections.abc import Callable

import numpy as np

from goalward.metrics.comparing.watching.budget import wanted_leads
from goalward.metrics.comparing.watching.sequential import log_e_value

BUDGET, ALPHA = 200, 0.05
RATES = ((0.5, 0.8), (0.1, 0.3), (0.85, 0.95), (0.05, 0.05), (0.5, 0.5), (0.9, 0.9))

# (experiments, rollouts) of each policy to the number of rollouts at which it is settled.
Test = Callable[[np.ndarray, np.ndarray], np.ndarray]


def first_of(settled: np.ndarray) -> np.ndarray:
    return np.where(settled.any(axis=1), settled.argmax(axis=1) + 1.0, np.inf)


def watching(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    e = log_e_value((b & ~a).cumsum(axis=1), (a & ~b).cumsum(axis=1))
    return first_of(e >= -np.log(ALPHA))


def budget(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    found = []
    for one, other in zip(*(np.array_split(side, 10) for side in (a, b)), strict=True):
        lead = np.cumsum(other.astype(int) - one.astype(int), axis=1)
        found.append(first_of(np.abs(lead) >= wanted_leads(one != other, BUDGET, ALPHA)))
    return np.concatenate(found)


def step_test() -> Test | None:
    """Its decisions, read off its table: after t rollouts of each with x < y successes, which y."""
    try:
        from sequentialized_barnard_tests.base import Hypothesis  # type: ignore[import-not-found]
        from sequentialized_barnard_tests.step import (  # type: ignore[import-not-found]
            MirroredStepTest,
        )
    except ImportError:
        return None
    test = MirroredStepTest(Hypothesis.P0LessThanP1, BUDGET, ALPHA, inference_mode="ranking")
    # Its constructor asks for the table too early, and drops it.
    test.load_existing_policy()
    table = test.policy

    def step(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        luck = np.random.default_rng(1).random(a.shape)
        found = np.full(len(a), np.inf)
        sums = np.stack((a.cumsum(axis=1), b.cumsum(axis=1)))
        low, high = sums.min(axis=0), sums.max(axis=0)
        for t in range(BUDGET):
            for one in np.flatnonzero(np.isinf(found) & (high[:, t] > low[:, t])):
                row = table[t + 1][low[one, t]]
                above = int(high[one, t]) - int(row[0])
                # Beyond the table's row it is settled, within it with the chance that it gives.
                if above > 0 and (above >= len(row) or luck[one, t] <= row[above]):
                    found[one] = t + 1
        return found

    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiments", type=int, default=2_000)
    num = parser.parse_args().experiments
    step = step_test()
    tests: dict[str, Test] = {"watching": watching, f"budget of {BUDGET}": budget}
    if step is not None:
        tests["STEP"] = step
    print("| rates | test | settled by 50 | by 100 | by 200 | mean | median | 90 % |")
    print("|---|---|---|---|---|---|---|---|")
    for p, q in RATES:
        rng = np.random.default_rng(0)
        times = 5 if p == q else 1
        a, b = rng.random((2, times * num, BUDGET)) < np.array([p, q])[:, None, None]
        for name, test in tests.items():
            at = test(a, b)
            shares = " | ".join(f"{(at <= k).mean():.3f}" for k in (50, 100, 200))
            mean = np.minimum(at, BUDGET).mean()
            quantiles = [
                f"{k:.0f}" if k <= BUDGET else f"over {BUDGET}"
                for k in np.quantile(at, [0.5, 0.9], method="inverted_cdf")
            ]
            print(
                f"| {p} and {q} | {name} | {shares} | {mean:.0f} | {' | '.join(quantiles)} |",
                flush=True,
            )


if __name__ == "__main__":
    main()

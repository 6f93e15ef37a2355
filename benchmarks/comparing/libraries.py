"""What libraries do of what goalward does by hand: time, and how often intervals hold.

    python -m venv other && other/bin/pip install ppi-python statsmodels
    PYTHONPATH=src other/bin/python benchmarks/comparing/libraries.py

The reasons in docs/dependencies.md. None of these packages is a dependency.
"""

import time
from collections.abc import Callable

import numpy as np
from ppi_py import ppi_mean_ci  # type: ignore[import-not-found]
from scipy import stats
from statsmodels.stats.proportion import (  # type: ignore[import-not-found]
    confint_proportions_2indep,
)

from goalward.metrics.comparing.partial_credit.permutation import permutation_test
from goalward.metrics.comparing.rates.exact_tests import boschloo_test
from goalward.metrics.comparing.unlabelled_rollouts.mean import predicted_mean
from goalward.metrics.uncertainty.proportions import difference


def timed(call: Callable[[], float]) -> str:
    start = time.process_time()
    found = call()
    return f"p = {found:.6f} in {time.process_time() - start:.4f} s"


def predictions(num: int = 500) -> None:
    """A good judge: labels of 0 and 1, predictions near 0.15 and 0.85."""
    rng = np.random.default_rng(0)
    for labelled, rate in ((20, 0.95), (20, 0.5), (100, 0.8)):
        y = (rng.random((num, labelled + 500)) < rate).astype(float)
        f = np.round(20 * np.clip(0.15 + 0.7 * y + rng.normal(0, 0.15, y.shape), 0, 1)) / 20
        known, guessed, other = y[:, :labelled], f[:, :labelled], f[:, labelled:]
        theirs = [
            np.ravel(ppi_mean_ci(*one, alpha=0.05))
            for one in zip(known, guessed, other, strict=True)
        ]
        held = np.mean([low <= rate <= high for low, high in theirs])
        ours = predicted_mean(known, guessed, other).interval
        own = ((ours.lower <= rate) & (rate <= ours.upper)).mean()
        print(f"{labelled} labelled, rate {rate}: ppi_py holds {held:.3f}, ours {own:.3f}")


def main() -> None:
    predictions()
    rng = np.random.default_rng(0)
    a, b = rng.choice([0, 0.25, 0.5, 0.75, 1], 20), rng.choice([0.25, 0.5, 0.75, 1], 20)

    def scipy_permutations() -> float:
        found = stats.permutation_test(
            (a, b), lambda x, y, axis: x.mean(axis) - y.mean(axis), vectorized=True
        )
        return float(found.pvalue)

    print("permutations of 20 and 20 scores")
    print("  scipy, by draws:", timed(scipy_permutations))
    print("  ours, exact:    ", timed(lambda: permutation_test([a], [b]).p_value))
    print("Boschloo, 150 and 180 of 500")
    tables = [[150, 180], [350, 320]]
    print("  scipy:", timed(lambda: float(stats.boschloo_exact(tables).pvalue)))
    print("  ours: ", timed(lambda: boschloo_test(150, 500, 180, 500)))
    theirs = confint_proportions_2indep(18, 20, 14, 20, method="newcomb")
    ours = difference(14, 20, 18, 20)
    print("Newcombe, 14 and 18 of 20: statsmodels", *(f"{limit:.6f}" for limit in theirs))
    print("                           ours       ", *(f"{float(limit):.6f}" for limit in ours))


if __name__ == "__main__":
    main()

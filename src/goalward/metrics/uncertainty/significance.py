"""Which methods differ by more than seeds explain: Alexander-Govern, then Welch in pairs."""

# pyright: standard
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy import stats

from goalward.metrics.uncertainty.letters import compact_letters
from goalward.rollouts.endings import BoolArray, FloatArray


@dataclass(frozen=True)
class OverallTest:
    """Alexander-Govern: could all methods have the same mean score?"""

    statistic: float | None
    """Its statistic; none where there is nothing to test."""
    p_value: float | None
    """How likely so much difference is if there is none."""
    reason: str = ""
    """Why there is none."""


@dataclass(frozen=True)
class PairTest:
    """Welch's t-test of two methods: first minus second.

    `statistic`, `p_value` and `adjusted` (Benjamini-Hochberg over all pairs) are None where the
    test is not defined; `reason` says why, or what is special.
    """

    first: str
    """A method."""
    second: str
    """The one it is compared with."""
    difference: float | None
    """Of their mean scores."""
    statistic: float | None
    p_value: float | None
    adjusted: float | None = None
    differs: bool = False
    """Whether they are told apart at the level of all tests."""
    reason: str = ""


@dataclass(frozen=True)
class MethodTests:
    """All tests between methods at one significance level."""

    names: tuple[str, ...]
    """The methods."""
    alpha: float
    """The level of significance."""
    overall: OverallTest
    """Whether any differ."""
    pairs: tuple[PairTest, ...]
    """Which of them differ."""

    def pair(self, first: str, second: str) -> PairTest:
        """The test of two methods, whichever came first."""
        for pair in self.pairs:
            if {pair.first, pair.second} == {first, second}:
                return pair
        raise ValueError(f"no pair {first!r}, {second!r} among {', '.join(self.names)}")

    @property
    def differs(self) -> BoolArray:
        """Which methods differ, (methods, methods)."""
        return np.array(
            [[a != b and self.pair(a, b).differs for b in self.names] for a in self.names],
            dtype=np.bool_,
        ).reshape(len(self.names), len(self.names))

    def letters(self, order: Sequence[str] | None = None) -> dict[str, str]:
        """Compact letters: methods without a common letter differ."""
        return compact_letters(self.names, self.differs, order)


def method_tests(scores: Mapping[str, Sequence[float]], alpha: float = 0.05) -> MethodTests:
    """Which methods differ, from one score per seed and method.

    As in the paper: the Alexander-Govern test over all methods, then Welch's t-test for every
    pair, with p values adjusted by Benjamini-Hochberg. Two methods differ if the overall test and
    the adjusted pair are both at most `alpha`. With two methods the pair alone decides, and so it
    does where the overall test is not defined: the adjustment holds without it.

    Seeds are the only thing that varies: a difference may still come from these test episodes.

    >>> tests = method_tests(
    ...     {"a": [0.90, 0.91, 0.92], "b": [0.80, 0.82, 0.81], "c": [0.90, 0.90, 0.93]}
    ... )
    >>> tests.letters()
    {'a': 'a', 'b': 'b', 'c': 'a'}
    """
    groups = {name: np.asarray(values, dtype=np.float64) for name, values in scores.items()}
    for name, values in groups.items():
        if values.ndim != 1 or not np.isfinite(values).all():
            raise ValueError(f"{name}: scores must be finite numbers, one per seed")
    overall = _overall(groups)
    tests = [_welch(a, b, groups[a], groups[b]) for a, b in combinations(groups, 2)]
    asked = len(groups) > 2 and overall.p_value is not None
    passed = not asked or (overall.p_value is not None and overall.p_value <= alpha)
    pairs = adjusted_together(tests, alpha)
    if not passed:
        pairs = tuple(replace(pair, differs=False) for pair in pairs)
    return MethodTests(tuple(groups), alpha, overall, pairs)


def adjusted_together(tests: Sequence[PairTest], alpha: float) -> tuple[PairTest, ...]:
    """The tests with p values adjusted over all of them that have one, and what these say."""
    adjusted = iter(benjamini_hochberg([t.p_value for t in tests if t.p_value is not None]))
    told: list[PairTest] = []
    for test in tests:
        p_value = None if test.p_value is None else next(adjusted)
        differs = p_value is not None and p_value <= alpha
        told.append(replace(test, adjusted=p_value, differs=differs))
    return tuple(told)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """p values adjusted so that those at most alpha are false in a share of at most alpha.

    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.5])
    [0.04, 0.0533..., 0.0533..., 0.5]
    """
    if len(p_values) == 0:
        return []
    return [float(p) for p in stats.false_discovery_control(p_values, method="bh")]


def _overall(groups: Mapping[str, FloatArray]) -> OverallTest:
    if len(groups) < 2:
        return OverallTest(None, None, "needs two methods")
    for name, values in groups.items():
        if len(values) < 2:
            return OverallTest(None, None, f"{name} has fewer than two seeds")
        if _constant(values):
            return OverallTest(
                None, None, f"all seeds of {name} score {values[0]:g}: no spread to compare with"
            )
    with warnings.catch_warnings():
        # Methods whose means agree to the last digits: the statistic is 0, as it should be.
        warnings.filterwarnings("ignore", "Precision loss")
        result = stats.alexandergovern(*groups.values())
    return OverallTest(float(result.statistic), float(result.pvalue))


def _welch(first: str, second: str, a: FloatArray, b: FloatArray) -> PairTest:
    for name, values in ((first, a), (second, b)):
        if len(values) < 2:
            none = f"{name} has fewer than two seeds"
            return PairTest(first, second, None, None, None, reason=none)
    difference = float(a.mean() - b.mean())
    if _constant(a) and _constant(b):
        # No spread at all: t is 0 / 0 or infinite, yet what to conclude is plain.
        difference = 0.0 if _constant(np.array([a[0], b[0]])) else float(a[0] - b[0])
        certain = "neither score varies over seeds"
        return PairTest(first, second, difference, None, float(difference == 0), reason=certain)
    spread_a, spread_b = (0.0 if _constant(x) else float(x.std(ddof=1)) for x in (a, b))
    result = stats.ttest_ind_from_stats(
        a.mean(), spread_a, len(a), b.mean(), spread_b, len(b), equal_var=False
    )
    reason = ""
    if _constant(a) or _constant(b):
        still = first if _constant(a) else second
        reason = f"all seeds of {still} score the same: all spread is the other's"
    return PairTest(
        first, second, difference, float(result.statistic), float(result.pvalue), reason=reason
    )


def _constant(values: FloatArray) -> bool:
    """Up to rounding: a spread in the last digits of a sum is no spread between seeds."""
    return bool(np.ptp(values) <= 1e-9 * np.abs(values).max())

"""Are two policies' scores alike? Tests that compare with every other way to hand the scores out.

If the policies are alike, the scores of a task might as well have gone to the other policy, and the
scores of a pair might as well be swapped. The p-value is the share of all such ways in which
the difference would be as large. It needs no normality and holds at any number of rollouts. What it
refutes is that the policies are alike; docs/comparing.md says what that means where their
means are equal and their spreads are not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from goalward.metrics.comparing.partial_credit.mean_interval import checked_scores
from goalward.rollouts.endings import FloatArray, IndexArray
from goalward.seeds import generator

# Random ways, where all are too many. The p-value is then off by 0.002 at 0.05 (standard error).
NUM_DRAWS = 9_999
# Rubrics have scores on a lattice: multiples of 1 / q for one of these q. Then sums are counted.
_MOST_PARTS = 1_000
_MOST_CELLS = 200_000_000
# Sums of all 2^n signs, each half of the differences apart: two lists of 2^15.
_MOST_SIGNED = 30
_ALIKE = 1e-9


@dataclass(frozen=True)
class PermutationTest:
    """The two-sided p-value, twice the smaller tail; `is_exact` if all ways were counted.

    Else it rests on `NUM_DRAWS` random ones, the observed one counted in: (b + 1) / (m + 1), which
    keeps false alarms at alpha whatever the number of draws.
    """

    p_value: float
    is_exact: bool


def permutation_test(
    first: Sequence[npt.ArrayLike], second: Sequence[npt.ArrayLike]
) -> PermutationTest:
    """Independent rollouts: scores by task of the one and of the other policy, any number of each.

    Scores are handed out anew within tasks. The statistic is the difference of means by task with
    the weights of `task_weights`, which is the sum of the second policy's scores but for a
    constant. For scores of 0 and 1 alone it is the exact Cochran-Mantel-Haenszel test.

    >>> permutation_test([[0.0, 0.25, 0.5, 0.5]], [[0.75, 1.0, 1.0, 1.0]])       # 2 / 70
    PermutationTest(p_value=0.028571428571428..., is_exact=True)
    """
    tasks = [(checked_scores(a), checked_scores(b)) for a, b in zip(first, second, strict=True)]
    pools = [np.concatenate(two) for two in tasks]
    sizes = [len(b) for _, b in tasks]
    parts = _lattice(np.concatenate(pools))
    if parts is not None and _cells(pools, sizes, parts) <= _MOST_CELLS:
        chance, observed = np.ones(1), 0
        for pool, size, (_, b) in zip(pools, sizes, tasks, strict=True):
            whole = _whole(pool, parts)
            chance = np.convolve(chance, _sums_of_some(whole, size))
            observed += int(_whole(b, parts).sum())
        tails = chance[observed:].sum(), chance[: observed + 1].sum()
        return PermutationTest(min(1.0, 2 * float(min(tails))), is_exact=True)
    observed_sum = sum(float(b.sum()) for _, b in tasks)
    draws = generator(0, "permutation test")
    sums = np.zeros(NUM_DRAWS)
    for pool, size in zip(pools, sizes, strict=True):
        for rows in np.array_split(np.arange(NUM_DRAWS), max(1, NUM_DRAWS * len(pool) // 2**22)):
            shuffled = draws.permuted(np.broadcast_to(pool, (len(rows), len(pool))), axis=1)
            sums[rows] += shuffled[:, :size].sum(axis=1)
    return _by_draws(sums, observed_sum)


def sign_flip_test(first: npt.ArrayLike, second: npt.ArrayLike) -> PermutationTest:
    """Paired rollouts: the scores of every pair stay or are swapped.

    For scores of 0 and 1 alone it is McNemar's exact test.

    >>> sign_flip_test([0.0, 0.25, 0.5, 0.5, 0.1], [0.5, 1.0, 0.75, 1.0, 0.1]).p_value   # 2 / 16
    0.125
    """
    a, b = checked_scores(first), checked_scores(second)
    if a.shape != b.shape:
        raise ValueError(f"{len(a)} and {len(b)} scores are no pairs")
    parts = _lattice(np.concatenate([a, b]))
    if parts is not None:
        whole = _whole(b, parts) - _whole(a, parts)
        size = np.abs(whole[whole != 0])
        chance = np.ones(1)
        for one in size.tolist():
            either = np.zeros(2 * one + 1)
            either[0] = either[-1] = 0.5
            chance = np.convolve(chance, either)
        observed = int(whole.sum() + size.sum())
        tails = chance[observed:].sum(), chance[: observed + 1].sum()
        return PermutationTest(min(1.0, 2 * float(min(tails))), is_exact=True)
    differences = (b - a)[b != a]
    if len(differences) <= _MOST_SIGNED:
        return _all_signs(differences)
    draws = generator(0, "sign flip test")
    signs = 2.0 * draws.integers(0, 2, (NUM_DRAWS, len(differences)), dtype=np.int8) - 1
    return _by_draws(signs @ differences, float(differences.sum()))


def _all_signs(differences: FloatArray) -> PermutationTest:
    """Exact: how many sums of both halves reach the observed one, by sorting one half."""
    half = len(differences) // 2
    left, right = _signed_sums(differences[:half]), np.sort(_signed_sums(differences[half:]))
    observed = float(differences.sum())
    at_least = len(right) - np.searchsorted(right, observed - left - _ALIKE, side="left")
    at_most = np.searchsorted(right, observed - left + _ALIKE, side="right")
    tails = at_least.sum(), at_most.sum()
    return PermutationTest(min(1.0, 2 * float(min(tails)) / (len(left) * len(right))), True)


def _signed_sums(numbers: FloatArray) -> FloatArray:
    sums = np.zeros(1)
    for number in numbers.tolist():
        sums = np.concatenate([sums + number, sums - number])
    return sums


def _by_draws(sums: FloatArray, observed: float) -> PermutationTest:
    tails = (sums >= observed - _ALIKE).sum(), (sums <= observed + _ALIKE).sum()
    return PermutationTest(min(1.0, 2 * (int(min(tails)) + 1) / (len(sums) + 1)), False)


def _lattice(scores: FloatArray) -> int | None:
    """The smallest q of which all scores are multiples of 1 / q; None if there is none."""
    distinct = np.unique(scores)
    if len(distinct) > _MOST_PARTS + 1:
        return None
    for parts in range(1, _MOST_PARTS + 1):
        scaled = distinct * parts
        if (np.abs(scaled - np.round(scaled)) < _ALIKE * parts).all():
            return parts
    return None


def _whole(scores: FloatArray, parts: int) -> IndexArray:
    return np.round(scores * parts).astype(np.int64)


def _cells(pools: Sequence[FloatArray], sizes: Sequence[int], parts: int) -> float:
    """How many numbers `_sums_of_some` goes through, over all tasks."""
    return sum(len(p) * size**2 * parts for p, size in zip(pools, sizes, strict=True))


def _sums_of_some(numbers: IndexArray, size: int) -> FloatArray:
    """P(sum) for `size` of the whole numbers taken at random without replacement.

    One number after the other is taken or left: with j taken so far of those before the i-th, the
    next is taken with the chance (size - j) / (how many are left).
    """
    top = int(np.sort(numbers)[::-1][:size].sum())
    chance = np.zeros((size + 1, top + 1))
    chance[0, 0] = 1.0
    missing = size - np.arange(size + 1)[:, np.newaxis]
    for i, number in enumerate(numbers.tolist()):
        taken = chance * np.minimum(missing / (len(numbers) - i), 1.0)
        chance = chance - taken
        if number <= top:
            chance[1:, number:] += taken[:-1, : top + 1 - number]
    return chance[size]

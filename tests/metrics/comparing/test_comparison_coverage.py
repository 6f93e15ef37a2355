"""Intervals hold the truth as often as they say, and tests raise false alarms as rarely.

This file, run with `pytest -s`, prints what `docs/comparing.md` states.
"""

import numpy as np
import pytest
from scipy.stats import binom

from goalward import Outcome
from goalward.metrics.comparing.rates.exact_tests import (
    boschloo_test,
    mcnemar_test,
    stratified_test,
)
from goalward.metrics.comparing.steps.time_to_success import (
    restricted_mean,
    restricted_mean_difference,
    success_times,
)
from goalward.metrics.uncertainty.proportions import (
    clopper_pearson,
    difference,
    difference_by_task,
    paired_difference,
    wilson,
)

NUM_EXPERIMENTS = 2_000


def share_covered(name, interval, truth):
    share = float(((interval[0] <= truth) & (truth <= interval[1])).mean())
    print(f"\n{name}: {share:.3f}", end="")
    return share


def random_rates(rng, low=0.05, high=0.98):
    """A rate per experiment: what a team meets over the years, not one rate over and over."""
    return rng.uniform(low, high, NUM_EXPERIMENTS)


@pytest.mark.parametrize("size", [10, 20, 50, 200])
def test_wilson(size):
    rng = np.random.default_rng(size)
    rate = random_rates(rng)
    found = wilson(rng.binomial(size, rate), size)
    assert 0.93 <= share_covered(f"Wilson, {size} rollouts", found, rate) <= 0.97


@pytest.mark.parametrize("size", [10, 50, 500])
def test_clopper_pearson_covers_at_least_its_level_at_every_rate(size):
    # Exact, by summing over all counts: a discrete count cannot be cut at 2.5 % on either side.
    rates = np.linspace(0.02, 0.98, 97)
    counts = np.arange(size + 1)
    lower, upper = clopper_pearson(counts, size)
    inside = (lower <= rates[:, None]) & (rates[:, None] <= upper)
    covered = (binom.pmf(counts, size, rates[:, None]) * inside).sum(axis=1)
    print(f"\nClopper-Pearson, {size} rollouts: {covered.min():.3f} to {covered.max():.3f}", end="")
    assert covered.min() >= 0.95 - 1e-9
    assert covered.mean() > 0.955


@pytest.mark.parametrize("sizes", [(20, 20), (50, 50), (50, 200), (500, 500)])
def test_difference_of_independent_rates(sizes):
    rng = np.random.default_rng(sum(sizes))
    first, second = random_rates(rng), random_rates(rng)
    found = difference(
        rng.binomial(sizes[0], first), sizes[0], rng.binomial(sizes[1], second), sizes[1]
    )
    assert 0.93 <= share_covered(f"Newcombe, {sizes}", found, second - first) <= 0.97


@pytest.mark.parametrize("size", [20, 50, 500])
@pytest.mark.parametrize("alike", [0.0, 0.5])
def test_difference_of_paired_rates(size, alike):
    rng = np.random.default_rng(size)
    first, second = random_rates(rng, 0.2), random_rates(rng, 0.2)
    # With probability `alike` both policies meet the same luck, which pairs their outcomes.
    luck = rng.random((2, NUM_EXPERIMENTS, size))
    luck[1] = np.where(rng.random((NUM_EXPERIMENTS, size)) < alike, luck[0], luck[1])
    a, b = luck[0] < first[:, None], luck[1] < second[:, None]
    found = paired_difference((a & ~b).sum(axis=1), (b & ~a).sum(axis=1), size)
    name = f"Tango, {size} pairs, alike {alike}"
    assert 0.93 <= share_covered(name, found, second - first) <= 0.97


@pytest.mark.parametrize("per_task", [5, 10, 50])
@pytest.mark.parametrize("same_difference", [True, False])
def test_difference_over_ten_tasks(per_task, same_difference):
    rng = np.random.default_rng(per_task)
    first = np.linspace(0.05, 0.9, 10)
    second = first + (0.08 if same_difference else np.tile([0.1, -0.05], 5))
    totals = np.full((NUM_EXPERIMENTS, 10), per_task)
    found = difference_by_task(
        rng.binomial(totals, first), totals, rng.binomial(totals, second), totals
    )
    name = f"Klingenberg, 10 x {per_task}, same difference {same_difference}"
    assert 0.93 <= share_covered(name, found, (second - first).mean()) <= 0.98


def drawn_times(rng, size, rate, scale, horizon, time_outs_until=None):
    """Steps of a policy that would need a gamma number of them, or never succeeds."""
    needed = np.where(rng.random(size) < rate, rng.gamma(4, scale / 4, size).round() + 1, np.inf)
    ends = np.full(size, float(horizon))
    if time_outs_until is not None:
        ends = rng.integers(time_outs_until, horizon, size).astype(float)
    outcomes = [
        Outcome.SUCCESS if n <= e else Outcome.TIME_OUT for n, e in zip(needed, ends, strict=True)
    ]
    return success_times(outcomes, np.minimum(needed, ends).astype(int).tolist(), horizon)


@pytest.mark.parametrize(("size", "time_outs_until"), [(20, None), (50, None), (50, 100)])
def test_difference_of_restricted_means(size, time_outs_until):
    rng = np.random.default_rng(size)
    horizon = 300
    kinds = [(0.7, 120), (0.85, 100)]
    truth = [drawn_times(rng, 400_000, *kind, horizon).steps.mean() for kind in kinds]
    limits = []
    for _ in range(NUM_EXPERIMENTS):
        means = [
            restricted_mean(drawn_times(rng, size, *kind, horizon, time_outs_until))
            for kind in kinds
        ]
        found = restricted_mean_difference(*means, paired=False)
        limits.append((found.lower, found.upper))
    name = f"restricted means, {size} rollouts, time-outs from {time_outs_until or horizon}"
    covered = share_covered(name, np.array(limits).T, truth[1] - truth[0])
    assert 0.93 <= covered <= 0.97


def test_difference_of_restricted_means_in_pairs():
    rng = np.random.default_rng(0)
    size, horizon, kinds = 40, 300, [(0.7, 120), (0.85, 100)]

    def pair_of_times(size):
        state, steps = rng.random(size), rng.gamma(4, 1 / 4, size)
        pair = []
        for rate, scale in kinds:
            own = rng.gamma(4, 1 / 4, size)
            needed = np.where(state < rate, (scale * (steps + own) / 2).round() + 1, np.inf)
            outcomes = [Outcome.SUCCESS if n <= horizon else Outcome.TIME_OUT for n in needed]
            ended = np.minimum(needed, horizon).astype(int).tolist()
            pair.append(success_times(outcomes, ended, horizon))
        return pair

    large = pair_of_times(400_000)
    truth = large[1].steps.mean() - large[0].steps.mean()
    limits, widths = [], []
    for _ in range(NUM_EXPERIMENTS):
        means = [restricted_mean(times) for times in pair_of_times(size)]
        found = restricted_mean_difference(*means, paired=True)
        apart = restricted_mean_difference(*means, paired=False)
        limits.append((found.lower, found.upper))
        widths.append((found.upper - found.lower) / (apart.upper - apart.lower))
    covered = share_covered(f"restricted means, {size} pairs", np.array(limits).T, truth)
    assert 0.93 <= covered <= 0.97
    assert np.mean(widths) < 0.8


@pytest.mark.parametrize("rate", [0.05, 0.5, 0.9])
def test_exact_tests_raise_false_alarms_no_more_often_than_allowed(rate):
    # Exact where that is cheap: the probability of all tables that the test rejects.
    sizes = 20, 15
    probability = np.outer(*(binom.pmf(np.arange(n + 1), n, rate) for n in sizes))
    alarms = sum(
        probability[x1, x2]
        for x1 in range(sizes[0] + 1)
        for x2 in range(sizes[1] + 1)
        if boschloo_test(x1, sizes[0], x2, sizes[1]) <= 0.05
    )
    print(f"\nBoschloo, {sizes}, rate {rate}: {alarms:.3f}", end="")
    assert alarms <= 0.05
    rng = np.random.default_rng(1)
    found = [
        stratified_test(x1, [12, 8, 10], x2, [9, 9, 10]) <= 0.05
        for x1, x2 in zip(
            rng.binomial([12, 8, 10], [rate, 0.3, 0.8], (NUM_EXPERIMENTS, 3)).tolist(),
            rng.binomial([9, 9, 10], [rate, 0.3, 0.8], (NUM_EXPERIMENTS, 3)).tolist(),
            strict=True,
        )
    ]
    pairs = rng.multinomial(40, [rate / 2, rate / 2, 1 - rate], NUM_EXPERIMENTS)
    alarms = [mcnemar_test(b, c) <= 0.05 for b, c, _ in pairs.tolist()]
    print(f"\nby task {np.mean(found):.3f}, McNemar {np.mean(alarms):.3f}", end="")
    assert np.mean(found) <= 0.055
    assert np.mean(alarms) <= 0.055

"""The test that may be looked at after every rollout keeps its word, and finds differences."""

import numpy as np
import pytest

from goalward.metrics.comparing.watching.sequential import (
    difference_interval,
    log_capital,
    log_e_value,
    looks,
)

SETTLED = np.log(20)


def outcomes(rng, first, second, shape):
    a, b = rng.random(shape) < first, rng.random(shape) < second
    return np.cumsum(b & ~a, axis=1), np.cumsum(a & ~b, axis=1)


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.5, 0.8, 0.95])
def test_false_alarms_of_10_000_null_experiments_looked_at_500_times(rate):
    wins, losses = outcomes(np.random.default_rng(0), rate, rate, (10_000, 500))
    alarms = (log_e_value(wins, losses) >= SETTLED).any(axis=1).mean()
    print(f"\nrate {rate}: false alarms {alarms:.4f}", end="")
    assert alarms <= 0.05


def test_false_alarms_when_pairs_end_alike_and_tasks_differ():
    rng = np.random.default_rng(0)
    # Tasks one after the other, from hopeless to easy; each pair shares its initial state's luck.
    rates = np.repeat([0.02, 0.3, 0.6, 0.95], 75)
    state = rng.random((10_000, 300)) < 0.5
    luck = rng.random((2, 10_000, 300))
    luck[1] = np.where(state, luck[0], luck[1])
    a, b = luck < rates
    e_values = log_e_value(np.cumsum(b & ~a, axis=1), np.cumsum(a & ~b, axis=1))
    assert (e_values >= SETTLED).any(axis=1).mean() <= 0.05


@pytest.mark.parametrize(
    ("first", "second", "most"), [(0.5, 0.8, 400), (0.7, 0.84, 1500), (0.9, 0.97, 1500)]
)
def test_rollouts_until_a_difference_is_found(first, second, most):
    wins, losses = outcomes(np.random.default_rng(1), first, second, (2_000, most))
    reached = log_e_value(wins, losses) >= SETTLED
    after = np.where(reached.any(axis=1), reached.argmax(axis=1) + 1, np.inf)
    median, late = np.median(after), np.quantile(after, 0.9)
    print(f"\n{first} against {second}: median {median:.0f}, 90 % {late:.0f}", end="")
    # A number fixed beforehand is 39, 141 and 194 for 80 % (normal approximation, Fleiss 1981).
    fixed = {0.5: 39, 0.7: 141, 0.9: 194}[first]
    assert median < 1.1 * fixed
    assert late < 2.5 * fixed


def test_as_fast_as_the_safe_two_by_two_test():
    # Turner, Ly and Grünwald (2024), Journal of Statistical Planning and Inference 230: per pair,
    # the likelihood of (a, b) over that of their mean, both being posterior means of Beta priors.
    rng = np.random.default_rng(3)
    first, second = rng.random((2, 2_000, 400)) < np.array([0.5, 0.8])[:, None, None]
    medians = {}
    for prior in (0.18, 0.5, 1.0):
        before = np.arange(400) + 2 * prior
        a, b = (((np.cumsum(y, axis=1) - y) + prior) / before for y in (first, second))
        gain = 0.0
        for y, rate in ((first, a), (second, b)):
            gain += np.log(np.where(y, rate, 1 - rate))
            gain -= np.log(np.where(y, (a + b) / 2, 1 - (a + b) / 2))
        medians[prior] = np.median((np.cumsum(gain, axis=1) >= SETTLED).argmax(axis=1) + 1)
    wins = np.cumsum(second & ~first, axis=1)
    losses = np.cumsum(first & ~second, axis=1)
    ours = np.median((log_e_value(wins, losses) >= SETTLED).argmax(axis=1) + 1)
    print(f"\nmedian {ours:.0f}, safe 2x2 test by prior {medians}", end="")
    assert ours <= min(medians.values()) + 2


def test_looking_at_ordinary_p_values_is_what_goes_wrong():
    rng = np.random.default_rng(4)
    a, b = (np.cumsum(rng.random((2_000, 500)) < 0.7, axis=1) for _ in range(2))
    pairs = np.arange(1, 501)
    spread = np.sqrt(np.maximum((a + b) * (2 * pairs - a - b), 1) / (2 * pairs))
    alarms = (np.abs(a - b)[:, 10:] > 1.96 * spread[:, 10:]).any(axis=1).mean()
    print(
        f"\nfalse alarms of a z-test after every pair from the 11th to the 500th: {alarms:.2f}",
        end="",
    )
    assert alarms > 0.25


def test_the_interval_holds_at_all_looks_at_once():
    rng = np.random.default_rng(2)
    truth = 0.15
    wins, losses = outcomes(rng, 0.6, 0.6 + truth, (2_000, 200))
    pairs = np.broadcast_to(np.arange(1, 201), wins.shape)
    # A truth is outside the interval at a look exactly if the bets against it have won by then.
    capital = log_capital(np.full(wins.shape, truth), wins, losses, pairs)
    missed = (capital >= SETTLED).any(axis=1).mean()
    print(f"\never outside the interval: {missed:.4f}", end="")
    assert missed <= 0.05
    for look in (0, 50, 199):
        lower, upper = difference_interval(wins[:50, look], losses[:50, look], look + 1)
        outside = (truth < lower) | (truth > upper)
        assert (outside == (capital[:50, look] >= SETTLED)).all()


def test_bets_are_fair():
    # Mean of the capital after one more pair, over what that pair may be, equals the capital now.
    shares = {(1, 0, 1): 0.3, (0, 1, 1): 0.1, (0, 0, 1): 0.6}
    before = np.array([4.0, 2.0, 11.0])
    after = sum(
        share * np.exp(log_capital(np.array([0.2]), *(before + step)[:, None]))
        for step, share in shares.items()
    )
    assert after == pytest.approx(np.exp(log_capital(np.array([0.2]), *before[:, None])))


def test_interval_and_test_agree_about_no_difference():
    for wins, losses, pairs in [(8, 0, 9), (7, 0, 9), (14, 3, 40), (12, 3, 40), (0, 0, 30)]:
        lower, upper = difference_interval(wins, losses, pairs)
        assert (lower > 0) == (log_e_value(wins, losses) >= SETTLED)
        assert upper >= (wins - losses) / pairs >= lower


def test_looks_by_hand():
    found = looks([False] * 9, [True] * 8 + [False], level=0.95)
    # 2^k / (k + 1) after k wins: 1, 4/3, 2, 16/5, 16/3, 64/7, 16, 256/9; then a tie.
    expected = [2**k / (k + 1) for k in range(1, 9)]
    assert np.exp(found.log_e_value) == pytest.approx([*expected, expected[-1]])
    assert found.settled_at(alpha=0.05) == 8
    assert found.settled_at(alpha=1 / 16) == 7
    assert found.settled_at(alpha=0.01) is None
    assert found.e_value == pytest.approx(256 / 9)
    assert found.p_value == pytest.approx(9 / 256)
    assert float(found.interval(-1).lower) > 0 > float(found.interval(5).lower)


def test_rollouts_without_a_partner_wait():
    assert looks([True, False, True], [True]).num_pairs == 1
    empty = looks([], [True])
    assert (empty.num_pairs, empty.e_value, empty.p_value, empty.settled_at(0.05)) == (
        0,
        1,
        1,
        None,
    )
    assert [float(limit) for limit in empty.interval()] == [-1, 1]


def test_very_many_wins_stay_a_number():
    assert looks([False] * 5_000, [True] * 5_000).e_value == pytest.approx(1e300)

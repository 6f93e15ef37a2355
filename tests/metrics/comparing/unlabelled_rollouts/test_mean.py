"""Few labelled rollouts and many with a prediction only."""

import numpy as np
import pytest

from goalward import GoalwardError
from goalward.metrics.comparing.comparison import compare
from goalward.metrics.comparing.partial_credit.mean_interval import mean_interval
from goalward.metrics.comparing.tables.outcome_file import read_outcomes
from goalward.metrics.comparing.unlabelled_rollouts import mean as unlabelled
from goalward.metrics.comparing.unlabelled_rollouts.mean import (
    FEWEST_LABELS,
    predicted_difference,
    predicted_mean,
)

# Enough to see a fault; benchmarks/comparing/intervals.py has 2,000.
NUM_EXPERIMENTS = 80


def rollouts(rng, rate, labelled, judge, unlabelled=200):
    y = (rng.random((NUM_EXPERIMENTS, labelled + unlabelled)) < rate).astype(float)
    f = np.round(20 * np.clip(judge(rng, y), 0, 1)) / 20
    return y[:, :labelled], f[:, :labelled], f[:, labelled:]


JUDGES = {
    "good": lambda rng, y: 0.15 + 0.7 * y + rng.normal(0, 0.15, y.shape),
    "knows nothing": lambda rng, y: rng.random(y.shape),
    "always too high": lambda rng, y: 0.6 + 0.4 * y + rng.normal(0, 0.1, y.shape),
}


@pytest.mark.parametrize("judge", JUDGES)
def test_it_holds_the_truth_however_wrong_the_judge_is(judge):
    found = predicted_mean(*rollouts(np.random.default_rng(0), 0.7, 40, JUDGES[judge]))
    covered = ((found.interval.lower <= 0.7) & (found.interval.upper >= 0.7)).mean()
    print(f"\n{judge}: {covered:.3f}", end="")
    assert covered >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / NUM_EXPERIMENTS)
    # Right on average: a wrong judge moves the mean of many experiments nowhere.
    error = 3 * found.mean.std() / np.sqrt(NUM_EXPERIMENTS)
    assert abs(found.mean.mean() - 0.7) < error


def test_a_good_judge_narrows_and_one_that_knows_nothing_hardly_widens():
    rng = np.random.default_rng(1)
    widths = {}
    for judge in ("good", "knows nothing"):
        found = predicted_mean(*rollouts(rng, 0.5, 40, JUDGES[judge]))
        own, labels = (one.upper - one.lower for one in (found.interval, found.labelled_interval))
        widths[judge] = float((own / labels).mean())
    assert widths["good"] < 0.75
    assert 0.97 < widths["knows nothing"] < 1.1


def test_few_labels_trust_nobody():
    labels, predictions = [1.0, 0.0] * 4, [0.9, 0.1] * 4
    assert len(labels) < FEWEST_LABELS
    found = predicted_mean(labels, predictions, [0.9] * 100)
    assert found.trust == 0
    assert found.mean == 0.5
    low, high = mean_interval(labels)
    assert float(found.interval.lower) == pytest.approx(float(low))
    assert float(found.interval.upper) == pytest.approx(float(high))


def test_no_label_chooses_the_trust_that_it_is_judged_by():
    """One label that is turned round leaves the trust of its own fifth as it was."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 20).astype(float)
    f = np.clip(0.1 + 0.8 * y + rng.normal(0, 0.3, 20), 0, 1)
    before = unlabelled._trust(y, f, 100)
    y[0] = 1 - y[0]
    after = unlabelled._trust(y, f, 100)
    own = np.arange(20) % 5 == 0
    assert (before[own] == after[own]).all()
    assert (before[~own] != after[~own]).any()


def test_differences_add_up_as_sides_of_a_triangle():
    one = predicted_mean([1.0, 0.0] * 10, [0.8, 0.3] * 10, [0.8, 0.3] * 30)
    other = predicted_mean([1.0, 1.0, 0.0] * 8, [0.9, 0.7, 0.2] * 8, [0.9, 0.7, 0.2] * 30)
    difference, limits = predicted_difference(one, other)
    assert difference == other.mean - one.mean
    below = np.hypot(other.mean - other.interval.lower, one.interval.upper - one.mean)
    assert limits.lower == pytest.approx(difference - below)


def table(tmp_path, policies, labelled=30, in_all=200, empty=""):
    rng = np.random.default_rng(0)
    lines = ["policy,success,prediction"]
    for policy, rate in policies.items():
        for i in range(in_all):
            won = rng.random() < rate
            guess = np.clip((0.85 if won else 0.15) + rng.normal(0, 0.05), 0, 1)
            lines.append(f"{policy},{int(won) if i < labelled else empty},{guess:.2f}")
    (tmp_path / "all.csv").write_text("\n".join(lines))
    return read_outcomes([tmp_path / "all.csv"])


def test_unlabelled_rollouts_help_and_are_no_episodes(tmp_path):
    found = compare(table(tmp_path, {"old": 0.55, "new": 0.7}))
    assert [policy.episodes for policy in found.policies] == [30, 30]
    old, new = found.predicted.policies
    assert (old.num_labelled, old.num_unlabelled) == (30, 170)
    for one in (old, new):
        (low, high), (labels_low, labels_high) = one.interval, one.labelled_interval
        assert high - low < labels_high - labels_low
    assert found.predicted.pairs[0].better == "new"


def test_many_pairs_are_told_apart_together(tmp_path):
    """An interval that leaves 0 out for a pair alone need not do for six."""
    alone = compare(table(tmp_path, {"p0": 0.5, "p1": 0.66})).predicted.pairs[0]
    rates = {"p0": 0.5, "p1": 0.66, "p2": 0.5, "p3": 0.5}
    among = compare(table(tmp_path, rates)).predicted.pairs[0]
    assert (alone.first, alone.second) == (among.first, among.second)
    assert alone.interval == among.interval
    assert alone.interval[0] > 0
    assert (alone.better, among.better) == ("p1", None)


def test_a_policy_without_predictions_is_explained(tmp_path):
    lines = ["policy,success,prediction", *["a,1,0.9", "a,0,0.2", "a,,0.5"], *["b,1,0.9"] * 2]
    (tmp_path / "all.csv").write_text("\n".join(lines))
    found = compare(read_outcomes([tmp_path / "all.csv"]))
    assert found.predicted is None
    assert any("unlabelled rollouts are not used" in note for note in found.notes)


def test_a_policy_without_labels_is_refused(tmp_path):
    lines = ["policy,success,prediction", "a,1,0.9", "b,,0.9"]
    (tmp_path / "all.csv").write_text("\n".join(lines))
    with pytest.raises(GoalwardError, match="'b' has predictions and no rollout whose outcome"):
        read_outcomes([tmp_path / "all.csv"])

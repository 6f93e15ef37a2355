"""Methods against the truth: four frames by hand, tests in pairs against scipy, wrong rollouts."""

import math

import numpy as np
import pytest
from scipy import stats

import goalward
from goalward.errors import GoalwardError
from goalward.metrics.truth.card import truth_card
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.metrics.truth.known_frames import KnownFrames, known_frames
from goalward.metrics.truth.paired_tests import paired_tests
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.findings import LeftOut
from goalward.values.made_chances import chances_of_values
from goalward.values.table import ValueTable

INF = math.inf
LENGTH = 4
# Episodes 0 and 1 succeed, 2 and 3 time out. At a discount of 1/2 the true values of these frames
# are 0, 1/2, 1/2 (of 1 and 0: standard error 1/2) and 1.
TRUTH = FrameTruth(
    ("0", "1", "2", "3"),
    np.array([2, 1, 0, 3]),
    np.array([[1, 1], [2, 2], [INF, 1], [INF, INF]]),
    cap=4,
)
STEPS = {"good": [1, 2, 1, INF], "bad": [INF, INF, INF, INF]}


def rollouts(num_episodes=4):
    arrays = [np.zeros((LENGTH, 1), np.float32)] * num_episodes
    success = [i < num_episodes / 2 for i in range(num_episodes)]
    return goalward.from_arrays(arrays, success=success)


def value_table(steps_by_method, known, num_seeds=2):
    """Nonsense on all frames but those whose truth is known; all seeds alike."""
    steps = np.full((len(steps_by_method), num_seeds, 4 * LENGTH), 77.0, dtype=np.float32)
    for m, steps_of in enumerate(steps_by_method.values()):
        steps[m, :, known.position] = np.array(steps_of)[:, None]
    return ValueTable(
        methods=tuple(steps_by_method),
        seeds=tuple(range(num_seeds)),
        episode_ids=("0", "1", "2", "3"),
        episode_tasks=("",) * 4,
        episode_ends=LENGTH * np.arange(1, 5),
        # On scales of their own, and not to be used.
        raw_value=np.full_like(steps, 0.123),
        steps_to_goal=steps,
    )


def tables(steps_by_method, known, num_seeds=2):
    values = value_table(steps_by_method, known, num_seeds)
    return values, chances_of_values(values, np.arange(13))


@pytest.fixture(scope="module")
def card():
    known = known_frames(TRUTH, rollouts(), np.ones(4, dtype=bool))
    return truth_card(*tables(STEPS, known), known, discount=0.5, standard_horizon=2)


def test_errors_of_value_by_hand(card):
    """Errors of good: 0, 0, -1/2, 0; of bad: 1, 1/2, 1/2, 0."""
    good, bad = (card.methods[name].by_group["all"].value for name in STEPS)
    assert good.bias.mean.value == pytest.approx(-0.125)
    assert good.absolute.mean.value == pytest.approx(0.125)
    assert bad.bias.mean.value == pytest.approx(0.5)
    assert bad.absolute.mean.value == pytest.approx(0.5)
    # Clustered by episode, one frame each: the standard error of four numbers.
    assert bad.absolute.standard_error.value == pytest.approx(stats.sem([1, 0.5, 0.5, 0]))
    assert card.closest() == ("good", "bad")


def test_errors_by_outcome_of_the_episode(card):
    late = card.methods["bad"].by_group["time_out"].value
    early = card.methods["bad"].by_group["success"].value
    assert (early.bias.mean.value, late.bias.mean.value) == pytest.approx((0.75, 0.25))
    assert (early.num_frames, late.num_frames) == (2, 2)


def test_chances_by_hand(card):
    """True chances within 2 steps: 1, 1, 1/2, 0; good says 1, 1, 1, 0, bad never."""
    assert (card.standard_horizon, card.horizons) == (2, (1, 2, 4))
    good, bad = (card.methods[name].by_group["all"].within[2] for name in STEPS)
    assert (good.bias.mean.value, good.absolute.mean.value) == pytest.approx((0.125, 0.125))
    assert (bad.bias.mean.value, bad.absolute.mean.value) == pytest.approx((-0.625, 0.625))
    assert card.methods["good"].calibration.expected_error.value == pytest.approx(0.125)
    # (0 + 0 + 1/4 + 0) / 4
    assert card.methods["good"].calibration.brier.value == pytest.approx(0.0625)


def test_chances_against_single_futures(card):
    """Within 2 steps 1 1, 1 1, 0 1 and 0 0 of the futures; good says 1, 1, 1, 0 and bad 0.

    Five of eight succeed: who always says so has a Brier score of 5/8 * 3/8.
    """
    good, bad = (card.methods[name] for name in STEPS)
    assert good.brier.value == pytest.approx(1 / 8)
    assert bad.brier.value == pytest.approx(5 / 8)
    assert card.base_rate_brier.value == pytest.approx(15 / 64)
    assert good.brier_interval.low < 1 / 8 < good.brier_interval.high


def test_seeds_are_one_chance():
    """One seed sees all succeed in 2 steps, the other none: a half, and no error per seed."""
    known = known_frames(TRUTH, rollouts(), np.ones(4, dtype=bool))
    values = value_table({"td": [0, 0, 0, 0]}, known)
    values.steps_to_goal[:, 1] = INF
    chances = chances_of_values(values, np.arange(13))
    found = truth_card(values, chances, known, discount=0.5, standard_horizon=2).methods["td"]
    assert found.brier.value == pytest.approx(1 / 4)
    # True chances 1, 1, 1/2, 0.
    within = found.by_group["all"].within[2]
    assert within.absolute.mean.value == pytest.approx((0.5 + 0.5 + 0 + 0.5) / 4)


def test_seeds_are_one_value():
    """What is shown is the mean over seeds; seeds that err to both sides are not two errors."""
    known = known_frames(TRUTH, rollouts(), np.ones(4, dtype=bool))
    values = value_table({"td": [0, 0, 0, 0]}, known)
    values.steps_to_goal[:, 1] = INF
    chances = chances_of_values(values, np.arange(13))
    card = truth_card(values, chances, known, discount=0.5, standard_horizon=2)
    found = card.methods["td"].by_group["all"].value
    # -1 and 1 are the value 0 everywhere, where 0, 1/2, 1/2 and 1 are true; each seed is off by 1.
    assert card.methods["td"].predicted == pytest.approx([0.0] * 4)
    assert found.absolute.mean.value == pytest.approx(0.5)
    assert found.absolute.standard_error.value == pytest.approx(stats.sem([0, 0.5, 0.5, 1]))


def test_where_the_clock_ran_out_each_episode_gets_its_own_again():
    """Last frames of time-outs of 4 and 8 frames: within 3 and 7 steps; successes do not count.

    Of the futures 2 of 3, and 1 of 3, as 8 steps are more than 7.
    """
    episodes = [
        Episode("0", 4, Outcome.SUCCESS, 3),
        Episode("1", 4, Outcome.TIME_OUT),
        Episode("2", 8, Outcome.TIME_OUT),
        Episode("3", 4, Outcome.FAILURE),
    ]
    data = goalward.Rollouts(episodes)
    steps = np.array([[0.0, 0, 0], [3, 2, 4], [7, 8, INF], [1, 1, 1]])
    truth = FrameTruth(("0", "1", "2", "3"), np.array([3, 3, 7, 3]), steps, cap=20)
    said = np.full((1, 2, 20), 99.0, dtype=np.float32)
    said[0, :, 7], said[0, :, 15] = [3, 3.5], [7, 7]
    values = ValueTable(("m",), (0, 1), data.ids, ("",) * 4, data.episode_ends, -said, said)
    known = known_frames(truth, data, np.ones(4, dtype=bool))

    def late(truth, known):
        chances = chances_of_values(values, np.arange(30))
        return truth_card(values, chances, known, discount=0.5, standard_horizon=2).clock_end

    found = late(truth, known)
    assert found.num_frames == 2
    assert found.measured.value == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert found.predicted["m"].value == pytest.approx((1 / 2 + 1) / 2)
    # Futures of 5 steps say nothing of 7: of both is asked what comes within 5.
    capped = FrameTruth(truth.episode_ids, truth.frame_indices, np.where(steps > 5, INF, steps), 5)
    found = late(capped, known_frames(capped, data, np.ones(4, dtype=bool)))
    assert found.measured.value == pytest.approx((2 / 3 + 0) / 2)
    assert found.predicted["m"].value == pytest.approx((1 / 2 + 0) / 2)
    elsewhere = FrameTruth(("1",), np.array([2]), np.array([[1.0]]), cap=20)
    known = known_frames(elsewhere, data, np.ones(4, dtype=bool))
    assert late(elsewhere, known) is None


def test_the_noise_of_the_truth_by_hand(card):
    """Standard errors 0, 0, 1/2, 0: all of good's squared error may be noise, not all of bad's."""
    everything = card.groups["all"]
    assert everything.noise.value == pytest.approx(math.sqrt(2 / math.pi) / 8)
    assert card.methods["good"].by_group["all"].root_mean_square.value == 0
    root = card.methods["bad"].by_group["all"].root_mean_square.value
    assert root == pytest.approx(math.sqrt(0.375 - 0.0625))


def test_one_future_says_nothing_of_noise():
    """One frame was run once, another three times."""
    steps = np.array([[1, np.nan, np.nan], [2, 2, np.nan], [INF, 1, INF], [INF, INF, np.nan]])
    frames = FrameTruth(TRUTH.episode_ids, TRUTH.frame_indices, steps, cap=4)
    known = known_frames(frames, rollouts(), np.ones(4, dtype=bool))
    found = truth_card(*tables(STEPS, known), known, discount=0.5, standard_horizon=2)
    assert found.num_branches == (1, 3)
    reason = "a frame has one future only"
    assert found.groups["all"].noise.reason == reason
    assert found.methods["good"].by_group["all"].root_mean_square.reason == reason
    assert found.groups["time_out"].noise.defined


def test_values_have_all_their_digits():
    """Predicted steps are stored with seven digits; values are not rounded to as many."""
    known = known_frames(TRUTH, rollouts(), np.ones(4, dtype=bool))
    found = truth_card(*tables({"td": [37] * 4}, known), known, discount=0.99, standard_horizon=2)
    assert found.methods["td"].predicted == pytest.approx([1 - 2 * 0.99**37] * 4, abs=1e-14)


def test_what_is_true_by_hand(card):
    late = card.groups["time_out"]
    assert late.value.value == pytest.approx(0.75)
    assert late.more_time_success.value == pytest.approx(0.25)
    # Two futures at the cap weigh 2 * (1/2)^4 each: on average over 1/2 and 1 of them.
    assert late.by_cap.value == pytest.approx(0.125 * 0.75)
    assert card.num_branches == (2, 2)


def test_correlations_with_the_truth(card):
    good, bad = (card.methods[name].by_group["all"] for name in STEPS)
    true, predicted = [0, 0.5, 0.5, 1], [0, 0.5, 0, 1]
    assert good.pearson.over_seeds.mean.value == pytest.approx(np.corrcoef(true, predicted)[0, 1])
    assert good.spearman.over_seeds.mean.value == pytest.approx(
        stats.spearmanr(true, predicted).statistic
    )
    assert bad.pearson.over_seeds.mean.reason == "all predictions are equal"
    assert bad.spearman.over_seeds.mean.reason == "all predictions are equal"


def test_pairs_are_tested_frame_by_frame(card):
    """One frame per episode and seeds that agree: a t-test of the four differences."""
    pair = card.tests["all"].pair("good", "bad")
    wanted = stats.ttest_1samp([-1, -0.5, 0, 0], 0)
    assert pair.difference == pytest.approx(-0.375)
    assert pair.statistic == pytest.approx(wanted.statistic)
    assert pair.p_value == pytest.approx(wanted.pvalue)
    assert not pair.differs


def test_frames_of_one_episode_do_not_make_a_difference_surer():
    rng = np.random.default_rng(0)
    first, second = rng.random((1, 10)), rng.random((1, 10)) + 0.3
    once = paired_tests({"a": first, "b": second}, np.arange(10)).pair("a", "b")
    copies = {"a": np.repeat(first, 5, axis=1), "b": np.repeat(second, 5, axis=1)}
    often = paired_tests(copies, np.repeat(np.arange(10), 5)).pair("a", "b")
    assert often.p_value == pytest.approx(once.p_value)
    assert once.p_value == pytest.approx(stats.ttest_rel(first[0], second[0]).pvalue)


def test_methods_alike_differ_in_no_more_than_alpha_of_trials():
    """Errors that vary by seed, by episode and by frame, and no true difference."""
    rng = np.random.default_rng(1)
    episode = np.repeat(np.arange(20), 3)
    found = 0
    for _ in range(400):
        sizes = {
            name: np.abs(
                rng.normal(size=(5, 1))
                + rng.normal(size=(1, 20))[:, episode]
                + rng.normal(size=(5, 60))
            )
            for name in ("a", "b")
        }
        found += paired_tests(sizes, episode).pair("a", "b").differs
    # 5 % of 400 is 20; the interval is known to be a little wide.
    assert 1 <= found <= 32


def test_adjusted_for_the_number_of_pairs():
    rng = np.random.default_rng(2)
    sizes = {name: rng.random((2, 12)) for name in "abcd"}
    tests = paired_tests(sizes, np.arange(12))
    raw = [pair.p_value for pair in tests.pairs]
    assert [pair.adjusted for pair in tests.pairs] == pytest.approx(
        stats.false_discovery_control(raw)
    )


def test_one_episode_is_no_basis_for_a_test():
    tests = paired_tests({"a": np.ones((2, 3)), "b": np.zeros((2, 3))}, np.zeros(3, dtype=int))
    pair = tests.pair("a", "b")
    assert pair.p_value is None
    assert "at least two episodes" in pair.reason


# ---- which frames -------------------------------------------------------------------------------


def test_only_held_out_episodes_count():
    known = known_frames(TRUTH, rollouts(), np.array([False, True, False, True]))
    assert isinstance(known, KnownFrames)
    assert known.truth.episode_ids == ("1", "3")
    assert known.position.tolist() == [1 * LENGTH + 1, 3 * LENGTH + 3]
    assert known.outcome == ("success", "time_out")


def test_truth_of_other_rollouts():
    everything = np.ones(2, dtype=bool)
    with pytest.raises(GoalwardError, match="of other rollouts: no episode 2 here"):
        known_frames(TRUTH, rollouts(2), everything)
    beyond = FrameTruth(("1",), np.array([LENGTH]), np.array([[1.0]]), cap=4)
    with pytest.raises(GoalwardError, match="frame 4 of episode 1, which ends with frame 3"):
        known_frames(beyond, rollouts(2), everything)


def test_episodes_that_were_left_out_are_no_other_rollouts():
    some = rollouts(2).with_left_out([LeftOut("2", "cut off"), LeftOut("3", "cut off")])
    known = known_frames(TRUTH, some, np.ones(2, dtype=bool))
    assert known.truth.episode_ids == ("0", "1")


def test_one_kind_of_episode_is_one_group():
    known = known_frames(TRUTH, rollouts(), np.array([True, True, False, False]))
    assert list(known.groups()) == ["all"]

"""Tests between methods against published examples, and where there is no spread."""

import numpy as np
import pytest

from goalward.metrics.uncertainty.significance import benjamini_hochberg, method_tests


def test_alexander_govern_example_of_scipy():
    """scipy.stats.alexandergovern, documentation: car loans in four cities, data of NIST."""
    tests = method_tests(
        {
            "atlanta": [13.75, 13.75, 13.5, 13.5, 13.0, 13.0, 13.0, 12.75, 12.5],
            "chicago": [14.25, 13.0, 12.75, 12.5, 12.5, 12.4, 12.3, 11.9, 11.9],
            "houston": [14.0, 14.0, 13.51, 13.5, 13.5, 13.25, 13.0, 12.5, 12.5],
            "memphis": [15.0, 14.0, 13.75, 13.59, 13.25, 12.97, 12.5, 12.25, 11.89],
        }
    )
    assert tests.overall.statistic == pytest.approx(4.65087071883494)
    assert tests.overall.p_value == pytest.approx(0.19922132490385214)
    assert not tests.differs.any()
    assert set(tests.letters().values()) == {"a"}


def test_alexander_govern_example_of_ochuko():
    """Ochuko et al. (2015), The modification and evaluation of the Alexander-Govern test."""
    young = [482.43, 484.36, 488.84, 495.15, 495.24, 502.69, 504.62, 518.29, 519.1, 524.1]
    young += [524.12, 531.18, 548.42, 572.1, 584.68, 609.09, 609.53, 666.63, 676.4]
    middle = [335.59, 338.43, 353.54, 404.27, 437.5, 469.01, 485.85, 487.3, 493.08, 494.31]
    middle += [499.1, 886.41]
    old = [519.01, 528.5, 530.23, 536.03, 538.56, 538.83, 557.24, 558.61, 558.95, 565.43]
    old += [586.39, 594.69, 629.22, 645.69, 691.84]
    overall = method_tests({"young": young, "middle": middle, "old": old}).overall
    assert overall.statistic == pytest.approx(5.3237, abs=1e-3)
    assert overall.p_value == pytest.approx(0.06982, abs=1e-4)


def test_welch_on_student_s_sleep_data():
    """R, example(t.test): t = -1.8608, p-value = 0.07939 (data of Cushny and Peebles 1905)."""
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    pair = method_tests({"1": first, "2": second}).pair("1", "2")
    assert pair.statistic == pytest.approx(-1.8608, abs=5e-5)
    assert pair.p_value == pytest.approx(0.07939, abs=5e-6)
    assert pair.adjusted == pair.p_value
    assert pair.difference == pytest.approx(-1.58)
    assert not pair.differs


def test_benjamini_hochberg_1995():
    """Their table of 15 p values (Neuhaus et al. 1992): four are rejected at 0.05."""
    p_values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240]
    p_values += [0.4262, 0.5719, 0.6528, 0.7590, 1.0000]
    adjusted = benjamini_hochberg(p_values)
    assert [p <= 0.05 for p in adjusted] == [True] * 4 + [False] * 11
    # p * 15 / rank, then the smallest of itself and all that follow.
    expected = [0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.0298 * 15 / 7, 0.0298 * 15 / 7]
    np.testing.assert_allclose(adjusted[:7], expected)
    shuffled = benjamini_hochberg(p_values[::-1])
    np.testing.assert_allclose(shuffled[::-1], adjusted)
    assert benjamini_hochberg([]) == []


SCORES = {
    "liveness": [0.95, 0.953, 0.951, 0.949, 0.952],
    "td": [0.88, 0.885, 0.878, 0.884, 0.883],
    "mc": [0.879, 0.884, 0.88, 0.886, 0.882],
}


def test_pairs_and_letters():
    tests = method_tests(SCORES)
    assert tests.differs.tolist() == [
        [False, True, True],
        [True, False, False],
        [True, False, False],
    ]
    assert tests.pair("mc", "liveness") is tests.pair("liveness", "mc")
    assert tests.letters() == {"liveness": "a", "td": "b", "mc": "b"}
    assert tests.letters(["td", "mc", "liveness"])["liveness"] == "b"
    with pytest.raises(ValueError, match="no pair"):
        tests.pair("td", "other")


def test_the_overall_test_comes_first():
    """A pair may be far apart by chance among many: without the overall test no pair differs."""
    tests = method_tests(
        {"a": [0.0, 1.0, 2.0], "b": [0.5, 1.5, 2.5], "c": [0.6, 1.4, 2.2], "d": [0.1, 1.1, 1.9]},
        alpha=0.5,
    )
    assert tests.overall.p_value > 0.5
    assert not tests.differs.any()


def test_alpha_decides():
    scores = {"a": [1.0, 1.2, 1.1, 1.3], "b": [1.2, 1.4, 1.3, 1.5]}
    p_value = method_tests(scores).pair("a", "b").p_value
    assert 0.05 < p_value < 0.1
    assert not method_tests(scores, alpha=0.05).differs.any()
    assert method_tests(scores, alpha=0.1).differs.sum() == 2


def test_one_method_that_never_varies():
    """Welch's t of a constant against n numbers is the one-sample t with n - 1 degrees."""
    tests = method_tests({"still": [0.5] * 5, "moving": [0.6, 0.62, 0.58, 0.61, 0.59]})
    assert tests.overall.p_value is None
    assert tests.overall.reason == "all seeds of still score 0.5: no spread to compare with"
    pair = tests.pair("still", "moving")
    # 0.1 / (0.0158114 / sqrt 5) = 14.14; Student's table has 8.610 for p = 0.001, 4 degrees.
    assert pair.statistic == pytest.approx(-14.142, abs=1e-3)
    assert pair.p_value < 0.001
    assert pair.differs
    assert pair.reason == "all seeds of still score the same: all spread is the other's"


def test_two_methods_that_never_vary():
    apart = method_tests({"x": [0.4] * 3, "y": [0.5] * 3}).pair("x", "y")
    assert (apart.statistic, apart.p_value, apart.differs) == (None, 0, True)
    assert apart.difference == pytest.approx(-0.1)
    alike = method_tests({"x": [0.1 + 0.2] * 3, "y": [0.1 + 0.2] * 5}).pair("x", "y")
    assert (alike.p_value, alike.differs) == (1, False)
    assert alike.reason == "neither score varies over seeds"


def test_too_few_seeds_or_methods():
    tests = method_tests({"a": [0.5], "b": [0.6, 0.7], "c": [0.1, 0.12]})
    assert tests.overall.reason == "a has fewer than two seeds"
    assert tests.pair("a", "b").adjusted is None
    assert tests.pair("a", "b").reason == "a has fewer than two seeds"
    # The only test left stands for itself.
    assert tests.pair("b", "c").adjusted == tests.pair("b", "c").p_value
    alone = method_tests({"a": [0.5, 0.6]})
    assert (alone.pairs, alone.overall.reason) == ((), "needs two methods")
    assert alone.letters() == {"a": "a"}
    assert method_tests({}).letters() == {}


def test_wrong_scores():
    with pytest.raises(ValueError, match="td: scores must be finite"):
        method_tests({"td": [0.5, np.nan], "mc": [0.1, 0.2]})


@pytest.mark.parametrize("num_seeds", [2, 3, 5])
def test_false_alarms_are_as_rare_as_promised(num_seeds):
    """Five methods that are all alike, with unequal spread: any mark at all in at most 5 %."""
    rng = np.random.default_rng(num_seeds)
    spread = np.array([0.002, 0.004, 0.01, 0.02, 0.03])
    false_alarms = 0
    for _ in range(300):
        scores = 0.8 + spread[:, None] * rng.standard_normal((5, num_seeds))
        false_alarms += method_tests(dict(zip("abcde", scores.tolist(), strict=True))).differs.any()
    assert false_alarms / 300 < 0.08

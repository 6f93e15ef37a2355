"""The order of the tests between methods: who decides, at which level, and from how many seeds."""

import math

import numpy as np
import pytest

from goalward.metrics.uncertainty.significance import method_tests

# Found by search: Welch's adjusted p values are 0.039 for a and b and for b and c, but
# Alexander-Govern over all three has 0.066.
GATED = {"a": [0.7, 0.8, 0.6], "b": [-1.0, -0.2, -0.9], "c": [1.0, 0.4, 0.4]}
# Likewise for two: Welch 0.0499, Alexander-Govern 0.055.
TWO = {"a": [1.0, 0.8, 1.5], "b": [0.6, 0.3, 0.3, -0.2, 0.9]}


def test_no_pair_differs_where_the_overall_test_finds_nothing():
    tests = method_tests(GATED)
    assert tests.overall.p_value == pytest.approx(0.0658, abs=5e-5)
    assert tests.pair("a", "b").adjusted == pytest.approx(0.0389, abs=5e-5)
    assert not tests.differs.any()
    # With a higher level, and with exactly this one, the overall test lets them through.
    for alpha in (0.07, tests.overall.p_value):
        again = method_tests(GATED, alpha=alpha)
        assert again.alpha == alpha
        assert again.letters() == {"a": "a", "b": "b", "c": "a"}


def test_of_two_methods_the_pair_alone_decides():
    tests = method_tests(TWO)
    assert tests.overall.p_value == pytest.approx(0.0551, abs=5e-5)
    assert tests.pair("a", "b").p_value == pytest.approx(0.0499, abs=5e-5)
    assert tests.pair("a", "b").differs
    # At exactly its level it still differs.
    assert method_tests(TWO, alpha=tests.pair("a", "b").adjusted).pair("a", "b").differs


def test_pairs_decide_where_the_overall_test_is_not_defined():
    tests = method_tests(GATED | {"still": [0.0, 0.0, 0.0]})
    assert tests.overall.p_value is None
    assert tests.overall.reason == "all seeds of still score 0: no spread to compare with"
    assert tests.pair("a", "still").differs
    assert not tests.pair("a", "c").differs


def test_two_seeds_are_enough():
    """Means 0.15 and 0.4, standard errors 0.05 and 0.05: t = -0.25 / sqrt(0.005)."""
    tests = method_tests({"a": [0.1, 0.2], "b": [0.35, 0.45], "c": [0.1, 0.3]})
    assert tests.overall.p_value is not None
    pair = tests.pair("a", "b")
    assert pair.statistic == pytest.approx(-0.25 / math.sqrt(0.005))
    assert pair.reason == ""


def test_the_one_that_stands_still_is_named_whichever_comes_first():
    moving, still = [0.6, 0.62, 0.58], [0.5] * 3
    for scores in ({"x": moving, "y": still}, {"y": still, "x": moving}):
        (pair,) = method_tests(scores).pairs
        assert pair.reason == "all seeds of y score the same: all spread is the other's"


def test_rounding_is_no_difference():
    """0.3 and 0.1 + 0.2 differ in the last digit of a float."""
    (pair,) = method_tests({"x": [0.3] * 3, "y": [0.1 + 0.2] * 3}).pairs
    assert (pair.difference, pair.p_value, pair.differs) == (0, 1, False)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_the_unit_of_a_score_does_not_matter(unit):
    tests = method_tests({name: [unit * score for score in scores] for name, scores in TWO.items()})
    assert tests.overall.p_value == pytest.approx(0.0551, abs=5e-5)
    assert tests.pair("a", "b").p_value == pytest.approx(0.0499, abs=5e-5)


def test_scores_in_single_precision_are_counted_in_double():
    single = {name: np.array(scores, dtype=np.float32) for name, scores in TWO.items()}
    double = {name: scores.astype(np.float64) for name, scores in single.items()}
    assert method_tests(single) == method_tests(double)


def test_methods_that_nearly_agree_raise_no_warning():
    """Warnings are errors in these tests."""
    nearly = [1.0, 1.0 + 1e-8, 1.0 - 1e-8]
    assert method_tests({"x": nearly, "y": nearly, "z": nearly}).overall.p_value == pytest.approx(1)


def test_an_unknown_pair_is_told_who_is_there():
    with pytest.raises(ValueError, match="^no pair 'a', 'z' among a, b, c$"):
        method_tests(GATED).pair("a", "z")

"""Verdicts in sentences."""

import pytest
from rollout_files.outcomes import write_policy

from goalward.metrics.comparing.comparison import compare
from goalward.metrics.comparing.outcome_file import read_outcomes
from goalward.report.words.comparison import verdict


def said(*paths):
    """What is said of the first pair."""
    comparison = compare(read_outcomes(paths))
    return " ".join(verdict(comparison.pairs[0], comparison))


def test_a_winner_that_a_watcher_would_not_have_yet(tmp_path):
    old = write_policy(tmp_path / "o.csv", 30, 50)
    new = write_policy(tmp_path / "n.csv", 40, 50)
    sentences = said(old, new)
    assert "n is better than o: 80 % against 60 %" in sentences
    assert "it is not settled yet (e-value " in sentences
    assert ", 20 wanted)" in sentences


def test_cannot_tell_yet(tmp_path):
    a = write_policy(tmp_path / "a.csv", 14, 20)
    b = write_policy(tmp_path / "b.csv", 17, 20)
    sentences = said(a, b)
    assert (
        "Cannot tell b from a yet: 85 % against 70 %, difference 15 points (\u221211 to 39)"
        in sentences
    )
    assert "more rollouts each would settle it in half of all cases" in sentences
    assert "is better" not in sentences


@pytest.mark.parametrize(
    ("successes", "sentence"),
    [
        (
            0,
            "Cannot tell b from a: neither ever succeeded; a difference from \u221216 to 16 points",
        ),
        (
            20,
            "Cannot tell b from a: both always succeeded; a difference from \u221216 to 16 points",
        ),
        (
            10,
            "Cannot tell b from a: both succeeded in 50 %; a difference from \u221228 to 28 points",
        ),
    ],
)
def test_no_difference(tmp_path, successes, sentence):
    a, b = (write_policy(tmp_path / f"{name}.csv", successes, 20) for name in "ab")
    sentences = said(a, b)
    assert sentence in sentences
    assert "more rollouts" not in sentences


def test_a_policy_without_success(tmp_path):
    a = write_policy(tmp_path / "a.csv", 0, 20)
    b = write_policy(tmp_path / "b.csv", 15, 20)
    sentences = said(a, b)
    assert "b is better than a: 75 % against 0 %" in sentences
    assert "it was settled after 10 of each" in sentences
    assert "Steps are not compared: a never succeeded." in sentences


def test_a_difference_that_went_away(tmp_path):
    (tmp_path / "a.csv").write_text("success\n" + "0\n" * 12 + "1\n0\n1\n1\n" * 6)
    (tmp_path / "b.csv").write_text("success\n" + "1\n" * 12 + "0\n0\n1\n0\n" * 7)
    sentences = said(tmp_path / "a.csv", tmp_path / "b.csv")
    assert "Cannot tell a from b yet: 50 % against 48 %" in sentences
    assert "it was settled after 8 of each, yet it is not clear over all" in sentences


def test_a_difference_too_small_to_settle(tmp_path):
    a = write_policy(tmp_path / "a.csv", 950, 1000)
    b = write_policy(tmp_path / "b.csv", 951, 1000)
    assert "even 10,000 more rollouts each would not settle it" in said(a, b)

"""Doubts in words: each kind says what is the matter, with its numbers."""

import pytest

from goalward.metrics.doubts import Doubt, DoubtKind, WrongShare
from goalward.metrics.score import Interval, Score
from goalward.metrics.truth.errors import TruthError
from goalward.report.words.blocks import plain_text
from goalward.report.words.doubt import doubt_words

NO_INTERVAL = Interval(None, None, reason="two episodes")
BIAS = TruthError(Score(-0.42), Score(0.06), Interval(-0.55, -0.3))


@pytest.mark.parametrize(
    ("doubt", "why"),
    [
        (
            Doubt("td", DoubtKind.NOT_DEFINED, 3, Score(None, "no episode succeeded"), NO_INTERVAL),
            "that cannot be checked (no episode succeeded among the held-out episodes).",
        ),
        (
            Doubt("td", DoubtKind.NO_INTERVAL, 2, Score(0.9), NO_INTERVAL),
            "that cannot be checked with 2 held-out episodes (two episodes).",
        ),
        (
            Doubt("td", DoubtKind.NO_SKILL, 24, Score(0.55), Interval(0.45, 0.64)),
            "on held-out episodes they may tell successes from the others no better than a coin "
            "(AUROC 0.55 (0.45 to 0.64); a coin has 0.50).",
        ),
        (
            Doubt(
                "td", DoubtKind.CONTRADICTED, 24, Score(0.7), Interval(0.6, 0.8), BIAS, Score(0.6)
            ),
            "the truth of some frames shows them too optimistic in time-outs (-0.42; 95 % interval "
            "-0.55 to -0.30); of the true futures 60 % reach the goal.",
        ),
        (
            Doubt(
                *("td", DoubtKind.CONTRADICTED, 24, Score(0.7), Interval(0.6, 0.8)),
                share=WrongShare(0.2, Interval(0.1, 0.35), 0.5, Interval(0.4, 0.6), True),
            ),
            "where the clock ran out, and given it again, 50 % (40 % to 60 %) of the true futures "
            "reach the goal, where 20 % (10 % to 35 %) are expected.",
        ),
        (
            Doubt(
                *("td", DoubtKind.CONTRADICTED, 24, Score(0.7), Interval(0.6, 0.8), BIAS),
                share=WrongShare(0.2, Interval(0.1, 0.35), 0.5, Interval(0.4, 0.6), False),
            ),
            "from frames of time-outs 50 % (40 % to 60 %) of the true futures reach the goal, "
            "where 20 % (10 % to 35 %) are expected; the truth of some frames shows them too "
            "optimistic in time-outs (-0.42; 95 % interval -0.55 to -0.30).",
        ),
    ],
)
def test_every_doubt_says_why(doubt, why):
    start = "Do not rely on what the values of td say here: "
    # Better than a coin, but not for sure: a hint.
    if doubt.kind is DoubtKind.NO_SKILL and doubt.auroc.value > 0.5:
        start = "Take what the values of td say here as a hint: "
    assert plain_text(doubt_words(doubt)) == start + why

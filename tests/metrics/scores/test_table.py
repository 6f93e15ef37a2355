"""The table of scores: each row is what it says, and the documentation shows the table."""

from pathlib import Path

import numpy as np
import pytest

from goalward.metrics.scores.movement import EpisodeMedian
from goalward.metrics.scores.predictions import Predictions
from goalward.metrics.scores.table import (
    SCORES,
    documentation,
    scores_shown,
    scores_tested,
    table_of,
)
from goalward.metrics.uncertainty.weighing import scores_by_run
from goalward.rollouts.endings import Endings

DOCS = Path(__file__).parents[3] / "docs" / "metrics.md"

# Successes of 4 and 2 frames, the second filmed on for a frame; a time-out of 3, a failure of 2.
ENDINGS = Endings(np.array([4, 7, 10, 12]), np.array([3, 1, -1, -1]), np.array([0, 0, 0, 1]) > 0)
STEPS = np.array([[1.0, 4, 1, 0, 3, 0, 99, 9, 2, 9, 9, 9], [9.0, 2, 1, 0, 1, 0, 0, 3, 3, 3, 5, 2]])
# By hand, from the meanings, at a horizon of 4 steps.
BY_HAND = {
    # Below 4 in the first success, below 2 (its length) in the second: 3 + 1 of 6; 3 + 2 of 6.
    "success": (4 / 6, 5 / 6),
    # Above 4: 9, 9, 9, 9 of five frames; 5 of five frames.
    "failure": (4 / 5, 1 / 5),
    "composite": ((4 / 6 + 4 / 5) / 2, (5 / 6 + 1 / 5) / 2),
    # Trained on itself: split at 6.5 (6 of 6, 4 of 5) and at 1.5 (4 of 6, 5 of 5).
    "composite_at_threshold": ((1 + 4 / 5) / 2, (4 / 6 + 1) / 2),
    # {1, 4, 1, 0, 3, 0} against {9, 2, 9, 9, 9}: 28 of 30; {9, 2, 1, 0, 1, 0} against
    # {3, 3, 3, 5, 2}: 9 wins none, 2 wins four and ties one, the others win five each.
    "frame_auroc": (28 / 30, 24.5 / 30),
    # Medians 1, 0 against 9, 9; 1, 0 against 3, 2.
    "episode_auroc": (1.0, 1.0),
    # Ranks of 1 4 1 0 3 0 against 3 2 1 0 1 0, and of 9 2 1 0 1 0: scipy.stats.spearmanr.
    "spearman": (0.7121212121, 1.0),
    # Within: 1 4 1 0 against 3 2 1 0 (0.6324555), 3 0 against 1 0; then 1 and 1.
    "order_within_episodes": ((0.6324555320 + 1) / 2, 1.0),
    # Moves up to the goal, steps cut at 4: up, down, down, down; then all down.
    "forward_share": (3 / 4, 1.0),
    # The rise from 1 to 4, and none.
    "setback_in_success": (1.5, 0.0),
    # Cut at 4: from 2 to 4, and none; none, and none (5 to 2 is 4 to 2).
    "setback_in_other": (1.0, 0.0),
    # The clock cuts one frame each of 8, 4 and 2 under way at 0, 1 and 2 steps: G = 1, 7/8, 21/32,
    # 21/64. Weights in 21sts: 64 32 24 21, 24 21, none of the time-out, 24 21 of the failure; 11 in
    # all. Half sure at the first frame of a success (64/4) and of the failure (24/4): 22 of 231.
    "brier": (22 / 231,),
    # Successes weigh 186 of 231.
    "brier_of_base_rate": (186 / 231 * 45 / 231,),
}
CHANCE = np.array([0.5, 1, 1, 1, 1, 1, 0.3, 0.3, 0.3, 0.3, 0.5, 0])


@pytest.mark.parametrize("name", SCORES)
def test_every_score_by_hand(name):
    learned = Predictions(STEPS, ENDINGS, horizon=4)
    score = SCORES[name].function(Predictions(STEPS, ENDINGS, 4, learned, chance=CHANCE))
    assert [one.value for one in scores_by_run(score)] == pytest.approx(BY_HAND[name])


@pytest.mark.parametrize("name", SCORES)
def test_the_unit_is_that_of_the_score(name):
    """A share or a correlation has bounds that its interval keeps; steps have none."""
    kind = SCORES[name]
    learned = Predictions(STEPS, ENDINGS, horizon=4)
    score = kind.function(Predictions(STEPS, ENDINGS, 4, learned, chance=CHANCE))
    assert score.scale == {"steps": "line"}.get(kind.unit, kind.unit)
    assert isinstance(score, EpisodeMedian) == (kind.unit == "steps")


def test_names_and_places():
    assert all(name == kind.name for name, kind in SCORES.items())
    assert SCORES["episode_auroc"].shown == "episode AUROC"
    assert list(scores_shown("paper")) == ["success", "failure", "composite"]
    assert list(scores_shown("summary")) == [
        "success",
        "failure",
        "composite",
        "composite_at_threshold",
        "frame_auroc",
        "spearman",
        "brier",
        "brier_of_base_rate",
    ]
    assert not scores_tested().keys() & {"composite_at_threshold", "setback_in_other"}
    # More is better for any policy, or nobody can say: a setback may be a true one.
    assert {name for name, kind in SCORES.items() if kind.better is None} == {
        "forward_share",
        "setback_in_success",
        "setback_in_other",
        "brier_of_base_rate",
    }
    assert {name for name, kind in SCORES.items() if kind.better == "lower"} == {"brier"}
    with pytest.raises(ValueError, match="two scores have the same name"):
        table_of(SCORES["success"], SCORES["success"])


def test_the_documentation_shows_the_table():
    """`python -m goalward.metrics.scores.table` prints what has to stand there."""
    _, marked = DOCS.read_text(encoding="utf-8").split("<!-- the table of scores -->\n")
    block, _ = marked.split("<!-- end of the table of scores -->\n")
    assert block.strip() == documentation()

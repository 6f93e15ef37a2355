"""A new score is one function and one row: scorecard, tables, figures and docs then have it."""

import numpy as np

from goalward.metrics.scores.card import scorecard
from goalward.metrics.scores.table import (
    SCORES,
    ScoreKind,
    documentation,
    scores_shown,
    scores_tested,
    table_of,
)
from goalward.metrics.uncertainty.weighing import frame_mean
from goalward.report.figures.scores import metric_bars
from goalward.report.words.tables import score_table
from goalward.rollouts.endings import Endings


def mean_steps(predictions):
    """Steps said in time-outs, on average, no more than the horizon."""
    endings = predictions.endings
    return frame_mean(
        np.minimum(predictions.steps, predictions.horizon),
        ~endings.success[endings.episode_of],
        endings,
        scale="line",
        by_episode=False,
        if_empty="no episode without success",
    )


NEW = ScoreKind(
    name="mean_steps",
    shown="steps said",
    meaning="mean of the steps said in time-outs",
    function=mean_steps,
    unit="steps",
    better="lower",
    tested=True,
    places=frozenset({"summary"}),
)


def test_a_new_score_shows_up_everywhere():
    endings = Endings(np.array([2, 4, 6]), np.array([1, -1, -1]))
    kinds = table_of(*SCORES.values(), NEW)
    steps = {
        "td": np.array([[1.0, 0, 2, 2, 3, 9], [1.0, 0, 3, 3, 3, 9]]),
        "mc": np.array([[1.0, 0, 1, 2, 2, 1], [1.0, 0, 1, 1, 2, 2]]),
    }
    cards = {method: scorecard(found, endings, 5, kinds=kinds) for method, found in steps.items()}
    # Up to a horizon of 5: 2, 2, 3, 5 and 3, 3, 3, 5.
    row = cards["td"]["mean_steps"]
    assert [score.value for score in row.by_seed] == [3, 3.5]
    assert row.interval.defined

    assert list(scores_shown("summary", kinds))[-1] == "mean_steps"
    assert list(scores_tested(kinds))[-1] == "mean_steps"
    assert documentation(kinds).splitlines()[-1] == (
        "| `mean_steps` | mean of the steps said in time-outs | steps | lower | yes | yes |"
    )
    table = score_table(cards, kinds)
    assert table.columns[-1] == "steps said ↓"
    assert [cells[-1].markdown() for _, cells in table.rows] == ["3.2 ± 0.4", "**1.5 ± 0.0**"]
    *_, axes = metric_bars(cards, kinds).get_axes()
    assert axes.get_ylabel() == "steps"
    assert axes.get_xticklabels()[-1].get_text() == "steps\nsaid"
    assert [patch.get_height() for patch in axes.patches[-2:]] == [3.25, 1.5]

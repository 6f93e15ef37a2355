"""What only some comparisons have, in the words that are shown."""

import numpy as np
from rollout_files.outcomes import outcome_rows, table_of

from goalward.metrics.comparing.comparison import compare
from goalward.metrics.comparing.tables.outcome_file import read_outcomes
from goalward.report.words.comparing.summary import comparison_document
from goalward.report.words.rendering import markdown


def written(tmp_path, header, rows):
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "all.csv").write_text("\n".join(lines))
    return read_outcomes([tmp_path / "all.csv"])


def told(table, **options):
    found = compare(table, **options)
    return markdown(comparison_document(found)), found


def test_checkpoints(tmp_path):
    rows = [outcome_rows(f"step_{k}", x, 80) for k, x in ((1, 20), (2, 70), (3, 30))]
    text, _ = told(table_of(tmp_path, *rows), ordered=True)
    assert "**The best checkpoint is step\\_2.** All others are worse, at 95 %." in text
    assert "From step\\_1 to step\\_3: no clear trend, by 12.5 points along a straight line" in text
    assert "step\\_3 is worse than step\\_2, the one before it: \u221250.0 points, p " in text
    text, _ = told(table_of(tmp_path, *rows[:2]), ordered=True)
    assert "rates climb, by 62.5 points" in text
    assert "No checkpoint is clearly worse than the one before it." in text


def test_scores_alone_lead(tmp_path):
    """The first sentence is about what is known, not about successes that nobody recorded."""
    rng = np.random.default_rng(0)
    rows = [(p, f"{rng.beta(k, 2):.3f}") for _ in range(30) for p, k in (("weak", 1), ("fit", 4))]
    table = written(tmp_path, "policy,progress", rows)
    text, found = told(table)
    first = comparison_document(found).sections[0].blocks[0].words[0].text
    assert first.startswith("By scores, fit is better than weak: mean score ")
    assert "neither ever succeeded" not in text
    assert "Full credit" not in text
    assert "Boschloo" not in text
    rows += [("weak", 1.0)]
    text, _ = told(written(tmp_path, "policy,progress", rows))
    assert "Nothing but scores is known. Here success is a score of 1" in text


def test_scores_beside_outcomes(tmp_path):
    rows = [("a", 0.5, 0)] * 20 + [("b", 0.75, 0)] * 20
    text, _ = told(written(tmp_path, "policy,score,success", rows))
    assert "## Partial credit" in text
    assert "**By scores, b is better than a: mean score 0.75 against 0.50, difference 0.25" in text


def test_scores_that_only_a_fixed_number_tells_apart(tmp_path):
    rows = [(p, s) for k in range(16) for p, s in (("a", k % 2), ("b", 1 - k % 5 / 4))]
    text, found = told(written(tmp_path, "policy,score", rows))
    (pair,) = found.scores.pairs
    if pair.better is not None:
        assert pair.settled_at is None
    rng = np.random.default_rng(3)
    rows = [(p, f"{rng.beta(k, 2):.2f}") for _ in range(16) for p, k in (("a", 1.5), ("b", 4))]
    text, found = told(written(tmp_path, "policy,score", rows))
    (pair,) = found.scores.pairs
    assert (pair.better, pair.settled_at) == ("b", None)
    assert "For someone who looked after every rollout it is not settled yet (e-value" in text


def test_predictions(tmp_path):
    rng = np.random.default_rng(0)
    rows = []
    for policy, rate in (("old", 0.4), ("new", 0.8)):
        for i in range(120):
            won = rng.random() < rate
            rows.append((policy, int(won) if i < 20 else "", 0.9 if won else 0.1))
    text, _ = told(written(tmp_path, "policy,success,prediction", rows))
    assert "## With unlabelled rollouts" in text
    assert "new is better than old, by labels and predictions: difference " in text
    assert "| new | 20 | 100 |" in text


def test_posterior(tmp_path):
    text, found = told(
        table_of(tmp_path, outcome_rows("a", 10, 20), outcome_rows("b", 18, 20)), posterior=True
    )
    chance = found.posterior.pairs[0].second_better
    assert f"b is better than a with a probability of {100 * chance:.1f} %; by " in text
    assert "every rate is as likely as every other: Beta(1, 1)" in text

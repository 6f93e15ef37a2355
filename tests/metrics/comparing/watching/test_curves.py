"""What a picture of the watching test shows is what the test says."""

import numpy as np
import pytest
from rollout_files.outcomes import outcome_rows, table_of

from goalward.metrics.comparing.comparison import compare
from goalward.metrics.comparing.partial_credit.watching import score_looks
from goalward.metrics.comparing.tables.outcome_file import read_outcomes
from goalward.metrics.comparing.watching.curves import watching_curves


def test_evidence_reaches_what_is_wanted_where_it_is_settled(tmp_path):
    table = table_of(tmp_path, outcome_rows("old", 15, 60), outcome_rows("new", 54, 60))
    found = compare(table)
    (curve,) = watching_curves(table, found)
    reached = curve.pairs[curve.evidence >= curve.wanted]
    assert reached[0] == found.pairs[0].watched.settled_at
    assert curve.evidence[-1] == pytest.approx(found.pairs[0].watched.e_value)
    assert curve.difference[-1] == pytest.approx(39 / 60)
    assert (curve.lower[-1], curve.upper[-1]) == pytest.approx(found.pairs[0].watched.interval)


def test_with_a_budget_the_lead_is_what_counts(tmp_path):
    table = table_of(tmp_path, outcome_rows("old", 15, 60), outcome_rows("new", 54, 60))
    found = compare(table, budget=50)
    (curve,) = watching_curves(table, found)
    reached = curve.pairs[curve.evidence >= np.nan_to_num(curve.wanted, nan=np.inf)]
    assert reached[0] == found.pairs[0].budget.settled_at
    assert curve.pairs[-1] == 50


def test_pairs_of_the_best_policy_alone(tmp_path):
    rows = [outcome_rows(f"p{n}", n, 40) for n in (10, 20, 30)]
    table = table_of(tmp_path, *rows)
    curves = watching_curves(table, compare(table))
    assert [(one.first, one.second) for one in curves] == [("p10", "p30"), ("p20", "p30")]


def test_nothing_is_drawn_where_nobody_knows_the_order(tmp_path):
    (tmp_path / "all.csv").write_text("policy,successes,trials\na,30,50\nb,45,50\n")
    table = read_outcomes([tmp_path / "all.csv"])
    assert watching_curves(table, compare(table)) == []


def test_scores_alone_are_watched_as_scores(tmp_path):
    rng = np.random.default_rng(0)
    a, b = rng.beta(1, 2, 50).round(2), rng.beta(3, 2, 50).round(2)
    lines = ["policy,score"]
    for one, other in zip(a, b, strict=True):
        lines += [f"a,{one}", f"b,{other}"]
    (tmp_path / "all.csv").write_text("\n".join(lines))
    table = read_outcomes([tmp_path / "all.csv"])
    found = compare(table)
    (curve,) = watching_curves(table, found)
    looks = score_looks(a, b)
    assert curve.pairs[curve.evidence >= curve.wanted][0] == looks.settled_at(0.05)
    assert curve.difference[-1] == pytest.approx((b - a).mean())
    assert curve.lower[-1] == pytest.approx(float(looks.interval().lower))

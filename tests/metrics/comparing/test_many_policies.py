"""Fifty policies: fast enough, and each pair as if it were alone."""

import time
from itertools import pairwise

import numpy as np
import pytest

from goalward import Outcome
from goalward.metrics.comparing.comparison import compare
from goalward.metrics.comparing.rates.boschloo import boschloo_tests
from goalward.metrics.comparing.rates.exact_tests import boschloo_test
from goalward.metrics.comparing.tables.outcome_table import (
    EpisodeOutcome,
    OutcomeTable,
    PolicyOutcomes,
)
from goalward.report.words.comparing.summary import comparison_document, shown_pairs

OF = {True: Outcome.SUCCESS, False: Outcome.TIME_OUT}


def policies(num_policies, num_rollouts):
    rng = np.random.default_rng(0)
    rates = rng.uniform(0.3, 0.9, num_policies)
    ended = rng.random((num_policies, num_rollouts)) < rates[:, None]
    return OutcomeTable(
        tuple(
            PolicyOutcomes(
                f"p{i}",
                tuple(
                    EpisodeOutcome(str(j), OF[bool(won)], None, "", None, None, "")
                    for j, won in enumerate(row)
                ),
            )
            for i, row in enumerate(ended)
        )
    )


def test_fifty_policies_in_seconds():
    """It took 160 s before tests of all pairs walked together; 2 s of them are left."""
    heard = []
    before = time.process_time()
    found = compare(policies(50, 200), on_progress=lambda done, of: heard.append((done, of)))
    assert time.process_time() - before < 8
    assert len(found.pairs) == 1225
    assert heard[-1] == (3675, 3675)
    assert all(a <= b for (a, _), (b, _) in pairwise(heard))
    for pair in found.pairs[::200]:
        one, other = (found.policy(name) for name in (pair.first, pair.second))
        assert pair.p_value == pytest.approx(
            boschloo_test(one.successes, 200, other.successes, 200), rel=1e-9
        )
    # Nobody reads 1,225 paragraphs.
    best = found.best_first[0].policy
    shown = shown_pairs(found, 15)
    assert len(shown) == 15
    assert all(best in (pair.first, pair.second) for pair in shown)
    document = comparison_document(found, most_pairs=15)
    # And one that says which is the best.
    assert len(document.paragraphs("answer")) == 16


def test_tests_of_many_sizes_at_once_are_each_as_if_alone():
    rng = np.random.default_rng(1)
    n1, n2 = rng.integers(3, 60, (2, 40))
    x1, x2 = rng.binomial(n1, 0.4), rng.binomial(n2, 0.7)
    together = boschloo_tests(x1, n1, x2, n2)
    alone = [boschloo_tests(*table)[0] for table in zip(x1, n1, x2, n2, strict=True)]
    assert together == pytest.approx(alone, rel=1e-12)


def test_ten_thousand_rollouts_of_each():
    """Against the probability at the common rate that a normal approximation has as its worst."""
    p_value = boschloo_tests([7_000], [10_000], [7_130], [10_000])[0]
    assert p_value == pytest.approx(0.0443, abs=1e-3)
    assert boschloo_tests([0], [10_000], [10_000], [10_000])[0] == 0

"""How far values can be trusted: one grade, the same for every consumer."""

from types import SimpleNamespace

import numpy as np
import pytest

from goalward.metrics.doubts import Doubt, DoubtKind
from goalward.metrics.score import Interval, Score, no_interval
from goalward.metrics.trust import Grade, trust_of, trust_words


def scores(auroc, low=None, high=None):
    score = Score(None, "one outcome only") if auroc is None else Score(auroc)
    interval = no_interval("too few", 0.95) if low is None else Interval(low, high)
    row = SimpleNamespace(over_seeds=SimpleNamespace(mean=score), interval=interval)
    return SimpleNamespace(methods=("m",), num_held_out=12, cards={"m": {"frame_auroc": row}})


@pytest.mark.parametrize(
    ("auroc", "low", "high", "grade"),
    [
        (0.8, 0.7, 0.9, Grade.GOOD),
        (0.8, 0.65, 0.9, Grade.FAIR),
        (0.7, 0.51, 0.9, Grade.FAIR),
        (0.7, 0.5, 0.9, Grade.WEAK),
        (0.51, 0.3, 0.7, Grade.WEAK),
        (0.5, 0.3, 0.7, Grade.NONE),
        (0.4, 0.3, 0.45, Grade.NONE),
        (0.9, None, None, Grade.UNKNOWN),
        (None, None, None, Grade.UNKNOWN),
    ],
)
def test_the_grade_goes_by_how_sure_the_skill_is(auroc, low, high, grade) -> None:
    found = trust_of(scores(auroc, low, high), ())
    assert found.grade is grade
    assert found.grade.is_usable == (grade in (Grade.GOOD, Grade.FAIR, Grade.WEAK))


def test_a_bound_that_moves_by_a_hair_changes_no_more_than_a_shade() -> None:
    """0.48 and 0.50 as lower bounds: with and without a doubt before, next to each other now."""
    grades = [trust_of(scores(0.7, low, 0.9), ()).grade for low in (0.48, 0.50, 0.51)]
    assert grades == [Grade.WEAK, Grade.WEAK, Grade.FAIR]
    assert all(grade.is_usable for grade in grades)


def test_the_truth_overrules_skill() -> None:
    doubt = Doubt("m", DoubtKind.CONTRADICTED, 12, Score(0.8), Interval(0.7, 0.9))
    found = trust_of(scores(0.8, 0.7, 0.9), (doubt,))
    assert found.grade is Grade.CONTRADICTED
    assert not found.grade.is_usable
    assert trust_words(found).startswith("Do not rely on the values: the truth")


def test_the_distance_between_seeds_is_said_where_there_are_several() -> None:
    by_seed = np.array([[0.0, 0.2], [0.2, 0.0]])
    found = trust_of(scores(0.8, 0.7, 0.9), (), by_seed)
    assert found.seed_distance == pytest.approx(np.sqrt(0.02))
    assert "seeds are 0.14 apart" in trust_words(found)
    assert trust_of(scores(0.8, 0.7, 0.9), (), by_seed[:1]).seed_distance is None


def test_words_of_what_cannot_be_checked() -> None:
    told = trust_words(trust_of(scores(0.9), ()))
    assert "how sure an AUROC of 0.90 is cannot be said of" in told
    assert told.endswith("episodes that the networks never saw: too few).")
    assert "one outcome only" in trust_words(trust_of(scores(None), ()))

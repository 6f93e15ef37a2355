"""Labels that the chances contradict, by numbers that can be worked out by hand."""

import numpy as np
import pytest

from goalward.metrics.auditing.label_doubts import label_doubts, looks_done
from goalward.rollouts.endings import Endings


def doubts(looked, success, held_out=None):
    """Episodes of one frame, which look as done as told."""
    success = np.array(success)
    endings = Endings(np.arange(1, len(success) + 1), np.where(success, 0, -1))
    seen = np.ones(len(success), dtype=bool) if held_out is None else np.array(held_out)
    return label_doubts(np.array(looked, dtype=float), endings, seen)


def test_the_one_wrong_label_of_each_kind_comes_first():
    looked = [0.9] * 20 + [0.1] * 20
    success = [True] * 20 + [False] * 20
    success[3], success[33] = False, True
    wrong = doubts(looked, success).wrong
    assert set(np.argsort(-wrong)[:2]) == {3, 33}
    assert wrong[3] == pytest.approx(0.4, abs=0.01)
    assert wrong[33] == pytest.approx(0.4, abs=0.01)
    assert np.delete(wrong, [3, 33]).max() < 0.01


def test_values_that_tell_nothing_leave_labels_as_they_were_believed():
    looked = [0.2, 0.8] * 20
    success = [True, True, False, False] * 10
    assert doubts(looked, success).wrong == pytest.approx(np.full(40, 0.05), abs=1e-3)


def test_values_that_are_upside_down_accuse_nobody():
    wrong = doubts([0.1] * 10 + [0.9] * 10, [True] * 10 + [False] * 10).wrong
    assert wrong == pytest.approx(np.full(20, 0.05), abs=1e-3)


def test_a_few_episodes_are_never_certain():
    wrong = doubts([0.99, 0.98, 0.01, 0.99], [True, True, False, False]).wrong
    assert np.argmax(wrong) == 3
    assert wrong.max() < 0.5


def test_episodes_that_were_learned_from_are_not_judged_and_do_not_count():
    held_out = [True] * 8 + [False]
    found = doubts([0.9] * 4 + [0.1] * 4 + [0.9], [True] * 4 + [False] * 5, held_out)
    without = doubts([0.9] * 4 + [0.1] * 4, [True] * 4 + [False] * 4)
    assert np.isnan(found.wrong[8])
    assert found.wrong[:8].tolist() == without.wrong.tolist()


@pytest.mark.parametrize(
    ("success", "held_out", "reason"),
    [
        ([True, False], [False, False], "no episode was held out"),
        ([True, True], [True, True], "held out succeeded"),
        ([False, False], [True, True], "held out did not succeed"),
    ],
)
def test_where_nothing_can_be_said_a_reason_is(success, held_out, reason):
    found = doubts([0.5, 0.6], success, held_out)
    assert reason in found.reason
    assert np.isnan(found.wrong).all()


def test_one_frame_that_looks_done_is_noise_and_the_best_frame_is_told():
    endings = Endings(np.array([6, 12]), np.array([5, -1]))
    done = looks_done(np.array([0, 0, 0, 0, 0.7, 0.9, 0, 0.9, 0, 0, 0.4, 0.4]), endings)
    found = label_doubts(done, endings, np.array([True, True]))
    assert found.looked.tolist() == [0.9, 0.4]
    assert found.frame.tolist() == [5, 4]

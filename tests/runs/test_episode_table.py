"""The table of episodes against curves that are drawn: every number is known beforehand."""

import math

import numpy as np
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

from goalward.errors import GoalwardError
from goalward.metrics.more_time import Verdict
from goalward.rollouts.episode import Outcome
from goalward.runs.episode_table import EpisodeRow, sorted_rows


def slip() -> np.ndarray:
    """Comes to 10 steps to go, falls back to 90 in frame 60, and stays there to frame 100."""
    curve = np.concatenate([np.linspace(100, 10, 60), np.full(41, 90.0)])
    return np.stack([curve, curve])


@pytest.fixture
def run(tmp_path):
    """A success, a time-out with a setback at its end, and one that is split between its seeds."""
    unsure = np.stack([np.full(101, 50.0), np.full(101, math.inf)])
    episodes = [
        drawn_episode("done", 101, outcome=Outcome.SUCCESS, fps=10.0),
        drawn_episode("slipped", 101, fps=10.0),
        drawn_episode("unsure", 101, task="pour"),
    ]
    steps = {"good": [countdown(101), slip(), unsure]}
    return drawn_run(episodes, steps, tmp_path, learned_from=["unsure"])[0]


def test_a_row_per_episode_with_its_end_and_its_events(run):
    done, slipped, unsure = run.episode_table()
    assert (done.id, done.outcome, done.num_frames, done.goal_frame) == (
        *("done", Outcome.SUCCESS, 101, 100),
    )
    assert (done.seconds, slipped.seconds, unsure.seconds) == (10.1, 10.1, None)
    assert (done.held_out, unsure.held_out, unsure.task) == (True, False, "pour")
    # Seeds say 0 and 1 step to go at the goal.
    assert done.value == pytest.approx(-run.discount)
    assert (done.setback_steps, done.near_miss_steps, done.verdict) == (None, None, None)
    assert slipped.steps_to_go == pytest.approx(90)
    assert (slipped.setback_steps, slipped.setback_frame) == (pytest.approx(80, abs=5), 60)
    assert (slipped.stall_frames, slipped.stall_frame) == (41, 60)
    assert slipped.near_miss_steps == pytest.approx(10, abs=5)
    assert slipped.near_miss_frame == pytest.approx(59, abs=2)


def test_the_chance_is_that_of_its_own_clock_again(run):
    """Within 100 steps more: 90 by both seeds of one, 50 and never by those of the other."""
    _, slipped, unsure = run.episode_table()
    assert (slipped.chance, unsure.chance) == (1.0, 0.5)
    (late,) = run.scores.policy.more_time.late
    assert (slipped.verdict, slipped.chance) == (Verdict.ON_ITS_WAY, late.chance)
    # It was learned from: nothing is said of it.
    assert unsure.verdict is None


def row(name: str, **numbers) -> EpisodeRow:
    usual = {"value": 0.0, "steps_to_go": 10.0, "chance": 0.5, "num_frames": 9}
    facts = {"task": "", "outcome": Outcome.TIME_OUT, "seconds": None, "goal_frame": None}
    return EpisodeRow(id=name, held_out=True, **facts | usual | numbers)


@pytest.mark.parametrize(
    ("by", "numbers", "order", "backwards"),
    [
        ("setback", {"setback_steps": (3.0, None, 7.0)}, "cab", "acb"),
        ("stall", {"stall_frames": (None, 20, 4)}, "bca", "cba"),
        ("chance", {"chance": (0.2, 0.9, 0.5)}, "bca", "acb"),
        ("steps", {"steps_to_go": (3.0, math.inf, 1.0)}, "cab", "bac"),
        ("value", {"value": (0.5, -1.0, 1.0)}, "bac", "cab"),
        ("frames", {"num_frames": (3, 9, 5)}, "bca", "acb"),
        ("id", {}, "abc", "cba"),
    ],
)
def test_what_to_look_at_comes_first_and_what_has_none_last(by, numbers, order, backwards):
    rows = tuple(
        row(name, **{key: given[i] for key, given in numbers.items()})
        for i, name in enumerate("abc")
    )
    assert "".join(one.id for one in sorted_rows(rows, by)) == order
    assert "".join(one.id for one in sorted_rows(rows, by, reverse=True)) == backwards


def test_an_unknown_order_is_refused(run):
    with pytest.raises(GoalwardError, match="sorted by setback, stall, .*, not by luck"):
        run.episode_table("luck")

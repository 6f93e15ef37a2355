"""Events of a whole table: every episode by its own frames, and errors that say whose."""

import numpy as np
import pytest

from goalward.errors import GoalwardError
from goalward.values.events import EventKind, EventRules, find_events, table_events, write_events
from goalward.values.table import ValueTable

# An even approach of 100 frames to its goal, and one that loses 100 steps at frame 50.
APPROACH = np.arange(99.0, -1, -1)
DROP = np.concatenate([np.arange(100.0, 50, -1), np.arange(150.0, 110, -1)])
# A worse seed: the same, but farther off.
STEPS = np.concatenate([APPROACH, DROP])[None] + np.array([[0.0], [2.0]])


def table(steps=STEPS):
    return ValueTable(
        methods=("other", "liveness"),
        seeds=(0, 1),
        episode_ids=("good", "bad"),
        episode_tasks=("", ""),
        episode_ends=np.array([100, 190]),
        raw_value=np.zeros((2, 2, 190), dtype=np.float32),
        steps_to_goal=np.stack([np.full((2, 190), 7.0), steps]).astype(np.float32),
    )


def test_every_episode_has_the_events_of_its_own_frames():
    good, bad = table_events(table(), "liveness", [99, None], ceiling=200)
    assert [(event.kind, event.frame) for event in good] == [(EventKind.GOAL, 99)]
    assert [(event.kind, event.frame) for event in bad] == [(EventKind.SETBACK, 50)]
    assert bad == find_events(STEPS[:, 100:], None, ceiling=200)


def test_rules_and_ceiling_arrive():
    _, bad = table_events(table(), "liveness", [99, None], ceiling=200, rules=EventRules(setback=1))
    assert EventKind.SETBACK not in [event.kind for event in bad]
    _, low = table_events(table(), "liveness", [99, None], ceiling=120)
    assert low[0].steps_after == 120


def test_another_method_sees_something_else():
    stalls = table_events(table(), "other", [99, None], ceiling=200)
    assert [[event.kind for event in events] for events in stalls] == [
        [EventKind.STALL, EventKind.GOAL],
        [EventKind.STALL],
    ]


def test_steps_that_are_no_number_name_method_and_episode():
    steps = STEPS.copy()
    steps[1, 103] = np.nan
    with pytest.raises(
        GoalwardError,
        match="^liveness: episode bad: the steps to go of frame 3 are not a number$",
    ):
        table_events(table(steps), "liveness", [99, None], ceiling=200)


def test_there_is_a_goal_frame_or_none_for_every_episode():
    with pytest.raises(ValueError):
        table_events(table(), "liveness", [99], ceiling=200)


def test_events_are_written_with_plain_line_ends(tmp_path):
    (good, _) = table_events(table(), "liveness", [99, None], ceiling=200)
    write_events(tmp_path / "events.csv", {"é\r\n2": good})
    assert (tmp_path / "events.csv").read_bytes() == (
        b"episode,kind,frame,start,end,steps_before,steps_after,agreement\n"
        b'"\xc3\xa9\r\n2",goal,99,99,99,0.0,0.0,1.0\n'
    )

"""Events on disk: as they were, or an error that names the file."""

import pytest

from goalward.errors import GoalwardError
from goalward.values.events import Event, EventKind, read_events, write_events


def test_events_survive_the_disk(tmp_path):
    strange = 'a "b", </script>\n../c 🙂'
    events = {
        strange: (
            Event(EventKind.SETBACK, 30, 20, 40, 40.25, 180.0, 0.6667),
            Event(EventKind.GOAL, 90, 90, 90, 0.0, 0.0, 1.0),
        ),
        "7": (Event(EventKind.NO_RETURN, 3, 2, 5, 1.5, 200.0, 1.0),),
    }
    write_events(tmp_path / "events.csv", events | {"calm": ()})
    assert read_events(tmp_path / "events.csv") == events
    lines = (tmp_path / "events.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "episode,kind,frame,start,end,steps_before,steps_after,agreement"
    assert lines[-1] == "7,point_of_no_return,3,2,5,1.5,200.0,1.0"


@pytest.mark.parametrize(
    "text", ["episode,kind\nx,goal\n", "episode,kind,frame\nx,party,3\n", "\x00\xff", '"']
)
def test_a_file_that_lists_no_events_is_named(tmp_path, text):
    (tmp_path / "events.csv").write_text(text, encoding="latin-1")
    with pytest.raises(GoalwardError, match=r"events\.csv: is no list of events"):
        read_events(tmp_path / "events.csv")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(GoalwardError, match=r"events\.csv: no such file"):
        read_events(tmp_path / "events.csv")

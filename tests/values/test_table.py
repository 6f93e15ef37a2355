"""Tables of values in memory, on disk and against hand-made numbers."""

from dataclasses import replace

import numpy as np
import pytest

from goalward.errors import GoalwardError
from goalward.values.table import ValueTable, read_values


@pytest.fixture
def table():
    value = np.arange(2 * 3 * 5, dtype=np.float32).reshape(2, 3, 5)
    steps = value + 0.5
    steps[0, 0, 1] = np.inf
    return ValueTable(
        methods=("liveness", "td"),
        seeds=(0, 4, 7),
        episode_ids=("x", "y"),
        episode_tasks=("open", "close"),
        episode_ends=np.array([2, 5]),
        raw_value=value,
        steps_to_goal=steps,
    )


def test_survives_the_disk(table, tmp_path):
    table.write(tmp_path / "values.parquet")
    again = read_values(tmp_path / "values.parquet")
    for name in ("methods", "seeds", "episode_ids", "episode_tasks"):
        assert getattr(again, name) == getattr(table, name)
    for name in ("episode_ends", "raw_value", "steps_to_goal"):
        assert np.array_equal(getattr(again, name), getattr(table, name))


def test_rows_on_disk_say_what_they_are(table):
    row = table.to_arrow().slice(5 + 3, 1).to_pylist()[0]
    assert row == {
        "method": "liveness",
        "seed": 4,
        "task": "close",
        "episode": "y",
        "frame": 1,
        "raw_value": 8.0,
        "steps_to_goal": 8.5,
    }


def test_mean_and_spread_over_seeds(table):
    """Values of frame 0 by `td`: 15, 20, 25."""
    assert table.mean("td")[0] == 20
    assert table.spread("td")[0] == 5


def test_frames_of_an_episode(table):
    assert table.frames_of("y") == slice(2, 5)
    assert table.raw_values("liveness")[1, table.frames_of("y")].tolist() == [7, 8, 9]


def test_unknown_names_are_explained(table, tmp_path):
    with pytest.raises(GoalwardError, match="no method 'mc'; there are: liveness, td"):
        table.mean("mc")
    with pytest.raises(GoalwardError, match="no episode z among 2"):
        table.frames_of("z")
    (tmp_path / "bad.parquet").write_text("not parquet")
    with pytest.raises(GoalwardError, match=r"bad\.parquet: cannot be read as parquet"):
        read_values(tmp_path / "bad.parquet")


def test_a_task_that_many_episodes_share_is_stored_once(table):
    """pyarrow fills the room of a second copy with whatever the memory held."""
    shared = replace(table, episode_tasks=("open", "open"))
    assert shared.to_arrow()["task"].chunk(0).dictionary.to_pylist() == ["open"]
    assert shared.to_arrow()["task"].to_pylist() == ["open"] * 30
    assert table.to_arrow()["task"].to_pylist()[:5] == ["open"] * 2 + ["close"] * 3

"""Tables of LeRobot data sets that disagree with each other, or with the videos."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from rollout_files.lerobot import (
    decoded,
    make_episode,
    write_lerobot,
)
from rollout_files.lerobot_edits import (
    CAMERA,
    data_of,
    edit_info,
    edit_list,
    edit_table,
    four,
    set_cell,
    video_of,
)

import goalward
from goalward import RolloutError


def test_nan_in_proprioception(tmp_path: Path):
    episodes = four()
    episodes[2].state[3, 1] = np.nan
    rollouts = goalward.read(write_lerobot(tmp_path, episodes))
    assert rollouts.ids == ("0", "1", "3")
    assert "proprioception holds NaN or infinity at frame 3" in rollouts.left_out[0].reason


@pytest.mark.parametrize("missing", [None, [float("nan")] * 2])
def test_an_episode_without_actions_costs_the_others_nothing(tmp_path: Path, missing):
    root = write_lerobot(tmp_path, four())

    def without(table: pa.Table) -> pa.Table:
        column = table.schema.get_field_index("action")
        of_one = [index == 1 for index in table["episode_index"].to_pylist()]
        rows = [
            missing if is_one else row
            for is_one, row in zip(of_one, table["action"].to_pylist(), strict=True)
        ]
        return table.set_column(column, "action", pa.array(rows, table["action"].type))

    edit_table(data_of(root, "v3.0"), without)
    assert goalward.read(root).ids == ("0", "1", "2", "3")
    seen = goalward.read(root, proprioception=["observation.state", "action"])
    assert seen.ids == ("0", "2", "3")
    assert "proprioception holds NaN or infinity at frame 0" in seen.left_out[0].reason


@pytest.mark.parametrize("version", ["v3.0", "v2.1"])
def test_actions_that_a_file_does_not_have_are_missed_where_they_are_wanted(
    tmp_path: Path, version
):
    root = write_lerobot(tmp_path, four(), version=version)

    def without(table: pa.Table) -> pa.Table:
        column = table.schema.get_field_index("action")
        nothing = pa.nulls(len(table), table["action"].type)
        return table.set_column(column, "action", nothing)

    edit_table(data_of(root, version), without)
    found = goalward.read(root)
    assert found.ids == ("0", "1", "2", "3")
    assert not any(signal.is_action for signal in found[0].signals)
    wanted = ["observation.state", "action"]
    if version == "v3.0":
        with pytest.raises(RolloutError, match="column action has empty rows alone"):
            goalward.read(root, proprioception=wanted)
    else:
        (left_out,) = goalward.read(root, proprioception=wanted).left_out
        assert "column action has empty rows alone" in left_out.reason


def test_one_frame_episodes(tmp_path: Path):
    rollouts = goalward.read(
        write_lerobot(tmp_path, [make_episode(1, True), make_episode(4, False)])
    )
    assert rollouts.goal_frames.tolist() == [0, -1]
    assert "1 episode of a single frame: 0" in rollouts.warnings
    assert len(list(rollouts[0].frames("front"))) == 1


def test_frames_out_of_order_in_the_table_are_put_in_order(tmp_path: Path):
    root = write_lerobot(tmp_path, four())
    whole = goalward.read(root).proprioception
    edit_table(data_of(root, "v3.0"), lambda t: t.take(pa.array(np.arange(len(t))[::-1])))
    assert np.array_equal(goalward.read(root).proprioception, whole)


def test_frames_are_matched_by_the_times_in_the_table(tmp_path: Path):
    """A table that keeps every second frame of the video, numbered anew."""
    root = write_lerobot(
        tmp_path, [make_episode(10, True), make_episode(10, False)], version="v2.1"
    )
    expected = decoded(video_of(root, "v2.1", 0))

    def thinned(table: pa.Table) -> pa.Table:
        table = table.take(pa.array([1, 3, 5, 7, 9]))
        position = table.column_names.index("frame_index")
        return table.set_column(position, "frame_index", pa.array(np.arange(5)))

    edit_table(data_of(root, "v2.1", 0), thinned)
    lines = (root / "meta/episodes.jsonl").read_text().splitlines()
    lines[0] = lines[0].replace('"length": 10', '"length": 5')
    (root / "meta/episodes.jsonl").write_text("\n".join(lines))
    got = list(goalward.read(root)[0].frames("front"))
    assert all(np.array_equal(g, expected[i]) for g, i in zip(got, [1, 3, 5, 7, 9], strict=True))


def test_a_rate_that_is_not_the_videos_leaves_the_episodes_out(tmp_path: Path):
    root = write_lerobot(tmp_path, [make_episode(10, i == 0, seed=i) for i in range(3)], fps=20)
    edit_info(root, fps=10)
    path = data_of(root, "v3.0")
    edit_table(path, lambda table: table.drop_columns(["timestamp"]))
    with pytest.raises(RolloutError, match="no usable episode"):
        goalward.read(root)


def test_windows_that_overlap(tmp_path: Path):
    root = write_lerobot(tmp_path, [make_episode(6, i == 0, seed=i) for i in range(3)])
    edit_list(root, set_cell(f"videos/{CAMERA}/from_timestamp", 1, 0.0))
    edit_list(root, set_cell(f"videos/{CAMERA}/to_timestamp", 1, 0.6))
    rollouts = goalward.read(root)
    assert rollouts.ids == ("2",)
    assert "another episode claims the same part" in rollouts.left_out[0].reason


def test_a_window_that_does_not_fit_the_table(tmp_path: Path):
    root = write_lerobot(tmp_path, four())
    edit_list(root, set_cell(f"videos/{CAMERA}/to_timestamp", 3, 2.4))
    rollouts = goalward.read(root)
    assert rollouts.ids == ("0", "1", "2")
    assert (
        "part of the video has 6 frames in 0.6 s, its table 8 at 10" in rollouts.left_out[0].reason
    )


def test_one_bad_row_in_the_list_costs_one_episode(tmp_path: Path):
    root = write_lerobot(tmp_path, four())
    edit_list(root, set_cell("data/file_index", 1, None))
    rollouts = goalward.read(root)
    assert rollouts.ids == ("0", "2", "3")
    assert rollouts.left_out[0].episode_id == "1"


def test_an_episode_listed_twice_and_differently(tmp_path: Path):
    root = write_lerobot(tmp_path, four(), version="v2.1")
    path = root / "meta" / "episodes.jsonl"
    path.write_text(path.read_text() + '{"episode_index": 1, "length": 3}\n')
    rollouts = goalward.read(root)
    assert rollouts.ids == ("0", "2", "3")
    assert "listed twice and differently" in rollouts.left_out[0].reason


def test_swapped_files_are_noticed(tmp_path: Path):
    root = write_lerobot(
        tmp_path, [make_episode(5, i == 0, seed=i) for i in range(3)], version="v2.1"
    )
    first, second = data_of(root, "v2.1", 0), data_of(root, "v2.1", 1)
    first.rename(root / "x")
    second.rename(first)
    (root / "x").rename(second)
    with pytest.raises(RolloutError, match="holds another episode, going by episode_index"):
        goalward.read(root, strict=True)


def test_a_missing_frame_in_the_table(tmp_path: Path):
    root = write_lerobot(tmp_path, four())
    edit_table(data_of(root, "v3.0"), lambda t: t.take(pa.array([0, 1, *range(3, len(t))])))
    rollouts = goalward.read(root)
    assert rollouts.ids == ("1", "2", "3")
    assert "frame_index of episode 0 is not 0, 1, 2, ..." in rollouts.left_out[0].reason


def test_a_list_that_disagrees_with_the_table(tmp_path: Path):
    root = write_lerobot(tmp_path, four())
    edit_table(data_of(root, "v3.0"), lambda t: t.slice(0, len(t) - 1))
    rollouts = goalward.read(root)
    assert rollouts.ids == ("0", "1", "2")
    assert "holds 7 rows, the list of episodes says 8" in rollouts.left_out[0].reason

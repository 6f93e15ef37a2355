"""LeRobot data sets as the library writes them, and as real ones look."""

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from rollout_files.lerobot import (
    V21_VIDEO,
    decoded,
    make_episode,
    write_lerobot,
    write_video,
)

import goalward
from goalward import Outcome, RolloutError
from goalward.rollouts.frames import decode_image

VERSIONS = ("v3.0", "v2.1")
CAMERA = "observation.images.front"


def four(**more):
    """Two successes and two time-outs of different lengths."""
    return [make_episode(5 + i, i % 2 == 0, seed=i, **more) for i in range(4)]


def edit_info(root: Path, **changes):
    path = root / "meta" / "info.json"
    content = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({k: v for k, v in content.items() if v is not None}))


def edit_table(path: Path, change):
    table = change(pq.read_table(path))
    pq.write_table(table, path)


def video_of(root: Path, version: str, episode_index: int = 0) -> Path:
    if version == "v3.0":
        return root / f"videos/{CAMERA}/chunk-000/file-000.mp4"
    return root / V21_VIDEO.format(video_key=CAMERA, episode_chunk=0, episode_index=episode_index)


def data_of(root: Path, version: str, episode_index: int = 0) -> Path:
    name = "file-000" if version == "v3.0" else f"episode_{episode_index:06d}"
    return root / f"data/chunk-000/{name}.parquet"


# ---- what is written is what is read


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    version=st.sampled_from(VERSIONS),
    pictures_as=st.sampled_from(["video", "image"]),
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    seed=st.integers(0, 1000),
    num_cameras=st.integers(1, 2),
    episodes_per_file=st.integers(1, 3),
    data=st.data(),
)
def test_write_and_read_back(
    tmp_path_factory, version, pictures_as, lengths, seed, num_cameras, episodes_per_file, data
):
    root = tmp_path_factory.mktemp("set")
    outcomes = [data.draw(st.booleans()) for _ in lengths]
    written = [
        make_episode(
            n, s, seed=seed + i, cameras=("front", "wrist")[:num_cameras], task=f"task {i % 2}"
        )
        for i, (n, s) in enumerate(zip(lengths, outcomes, strict=True))
    ]
    write_lerobot(
        root,
        written,
        version=version,
        pictures_as=pictures_as,
        episodes_per_file=episodes_per_file,
    )
    rollouts = goalward.read(root)
    assert rollouts.left_out == ()
    assert rollouts.lengths.tolist() == lengths
    assert rollouts.success.tolist() == outcomes
    assert [episode.task for episode in rollouts] == [w.task for w in written]
    assert rollouts.sources[0].label_source == "next.success"
    for episode, original in zip(rollouts, written, strict=True):
        assert np.array_equal(episode.proprioception, original.state)
        for camera, pictures in original.pictures.items():
            got = np.stack(list(episode.frames(camera)))
            if pictures_as == "image":
                assert np.array_equal(got, pictures)
            else:
                # Coding changes colours a little; another frame would be far off.
                assert np.abs(got.astype(int) - pictures).mean() < 12


@pytest.mark.parametrize("codec", ["h264", "av1"])
@pytest.mark.parametrize("version", VERSIONS)
def test_video_frames_equal_a_direct_decode(tmp_path: Path, version: str, codec: str):
    root = write_lerobot(tmp_path, four(), version=version, codec=codec)
    rollouts = goalward.read(root)
    got = [frame for episode in rollouts for frame in episode.frames("front")]
    files = [video_of(root, version, i) for i in range(1 if version == "v3.0" else 4)]
    expected = [frame for file in files for frame in decoded(file)]
    assert len(got) == len(expected) == 26
    assert all(np.array_equal(a, b) for a, b in zip(got, expected, strict=True))
    assert rollouts[0].cameras[CAMERA].codec == codec


def test_facts_of_an_episode(tmp_path: Path):
    episode = goalward.read(write_lerobot(tmp_path, four()))[2]
    assert (episode.id, episode.num_frames, episode.outcome) == ("2", 7, Outcome.SUCCESS)
    assert (episode.goal_frame, episode.fps, episode.action_size) == (6, 10.0, 2)
    assert episode.task == "stack the cubes"
    camera = episode.cameras[CAMERA]
    assert (camera.height, camera.width) == (32, 32)


def test_real_data_sets(real_files: Path):
    rollouts = goalward.read(real_files / "lerobot_v30_h264")
    assert rollouts.lengths.tolist() == [208, 300, 167, 300, 137, 300, 184, 300]
    assert rollouts.success.tolist() == [True, False] * 4
    assert rollouts.proprioception.shape == (1896, 8)
    for camera in ("front", "wrist"):
        folder = real_files / f"lerobot_v30_h264/videos/observation.images.{camera}/chunk-000"
        expected = decoded(folder / "file-000.mp4")
        frames = (frame for episode in rollouts for frame in episode.frames(camera))
        assert all(np.array_equal(a, b) for a, b in zip(frames, expected, strict=True))


# ---- where the outcome is


def test_a_goal_before_the_end_is_kept(tmp_path: Path):
    episodes = four()
    episodes[0].columns["next.success"] = [False, True, True, False, False]
    assert goalward.read(write_lerobot(tmp_path, episodes)).goal_frames.tolist() == [1, -1, 6, -1]


@pytest.mark.parametrize("name", ["is_success", "is_episode_successful", "success"])
def test_columns_that_repeat_the_outcome_on_every_frame(tmp_path: Path, name: str):
    episodes = [make_episode(4, None, columns={name: [i == 0] * 4}) for i in range(2)]
    rollouts = goalward.read(write_lerobot(tmp_path, episodes))
    assert rollouts.sources[0].label_source == name
    assert rollouts.goal_frames.tolist() == [3, -1]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_list_of_episodes_may_hold_the_outcome(tmp_path: Path, version: str):
    episodes = [
        make_episode(4, None, fields={"episode_success": word}) for word in ("success", "failure")
    ]
    rollouts = goalward.read(write_lerobot(tmp_path, episodes, version=version))
    assert rollouts.sources[0].label_source == "episode_success"
    assert list(rollouts.outcomes) == [Outcome.SUCCESS, Outcome.TIME_OUT]


def test_a_sparse_reward_is_the_last_resort(tmp_path: Path):
    episodes = [
        make_episode(3, None, columns={"next.reward": values})
        for values in ([0.0, 0.0, 1.0], [0.0, 0.0, 0.0])
    ]
    rollouts = goalward.read(write_lerobot(tmp_path, episodes))
    assert rollouts.sources[0].label_source == "next.reward"
    assert rollouts.goal_frames.tolist() == [2, -1]


def test_a_reward_of_zeros_is_no_label(tmp_path: Path):
    episodes = [make_episode(n, None, columns={"next.reward": [0.0] * n}) for n in (3, 4)]
    with pytest.raises(RolloutError, match="no outcome label.*next.reward says the same"):
        goalward.read(write_lerobot(tmp_path, episodes))
    named = goalward.read(tmp_path, success_key="next.reward")
    assert list(named.outcomes) == [Outcome.TIME_OUT] * 2


def test_a_dense_reward_is_no_label(tmp_path: Path):
    episodes = [
        make_episode(3, None, columns={"next.reward": values})
        for values in ([0.0, 0.3, 0.9], [0.0, 0.0, 0.0])
    ]
    with pytest.raises(RolloutError, match="no outcome label found.*holds.*next.reward"):
        goalward.read(write_lerobot(tmp_path, episodes))


def test_progress_in_a_column_called_reward_is_no_label(tmp_path: Path):
    episodes = [make_episode(2, None, columns={"reward": [0.0, 1.0]})]
    with pytest.raises(RolloutError, match="no outcome label found"):
        goalward.read(write_lerobot(tmp_path, episodes))
    assert goalward.read(tmp_path, success_key="reward").success.tolist() == [True]


def test_a_terminated_column_tells_failures(tmp_path: Path):
    episodes = [
        make_episode(3, i == 0, columns={"terminated": [False, False, i < 2]}) for i in range(3)
    ]
    assert list(goalward.read(write_lerobot(tmp_path, episodes)).outcomes) == [
        Outcome.SUCCESS,
        Outcome.FAILURE,
        Outcome.TIME_OUT,
    ]


def test_label_files_inside_the_data_set(tmp_path: Path):
    root = write_lerobot(tmp_path, [make_episode(3, None), make_episode(3, None)])
    (root / "meta/episode_labels.csv").write_text("episode_index,success\n0,false\n1,true\n")
    rollouts = goalward.read(root)
    assert rollouts.success.tolist() == [False, True]
    assert rollouts.sources[0].label_source == "meta/episode_labels.csv"


def test_a_label_file_that_contradicts_the_data(tmp_path: Path):
    root = write_lerobot(tmp_path, four())
    labels = root / "meta" / "episode_labels.csv"
    labels.write_text("episode_index,success\n0,true\n1,true\n2,true\n3,false\n")
    with pytest.raises(RolloutError, match="disagree on 1 episode: 1"):
        goalward.read(root)
    assert goalward.read(root, labels=labels).success.tolist() == [True, True, True, False]


def test_an_early_end_under_a_horizon(tmp_path: Path):
    rollouts = goalward.read(write_lerobot(tmp_path, four()), horizon=8, early_failures=True)
    assert list(rollouts.outcomes[[1, 3]]) == [Outcome.FAILURE, Outcome.TIME_OUT]


# ---- what real data sets do


@pytest.mark.parametrize("version", VERSIONS)
def test_templates_that_name_another_folder(tmp_path: Path, version: str):
    root = write_lerobot(tmp_path, four(), version=version)
    edit_info(
        root,
        data_path="tables/{episode_index}.parquet",
        video_path="mp4/{video_key}/{chunk_index:03d}.mp4",
    )
    rollouts = goalward.read(root)
    assert len(rollouts) == 4
    assert len(list(rollouts[3].frames("front"))) == 8
    assert any("data_path" in text and "does not match" in text for text in rollouts.warnings)
    assert any("video_path" in text and "does not match" in text for text in rollouts.warnings)


def test_chunk_index_in_a_v21_template(tmp_path: Path):
    root = write_lerobot(tmp_path, four(), version="v2.1")
    edit_info(
        root,
        data_path="data/chunk-{chunk_index:03d}/episode_{episode_index:06d}.parquet",
        video_path="videos/chunk-{chunk_index:03d}/{video_key}/episode_{episode_index:06d}.mp4",
    )
    rollouts = goalward.read(root)
    assert (len(rollouts), rollouts.warnings) == (4, ())


@pytest.mark.parametrize(
    "template", ["../{episode_index}.parquet", "/etc/{episode_index}", "a/../../{episode_index}"]
)
def test_templates_cannot_lead_out_of_the_data_set(tmp_path: Path, template: str):
    root = write_lerobot(tmp_path / "set", four(), version="v2.1")
    for index in range(4):
        shutil.move(data_of(root, "v2.1", index), tmp_path / f"{index}.parquet")
    edit_info(root, data_path=template)
    with pytest.raises(RolloutError, match="no usable episode.*the data file is missing"):
        goalward.read(root)


@pytest.mark.parametrize(
    "template", ["{episode_index.__class__}", "{0}", "{episode_index:09999999d}", "{x}", "{", 3]
)
def test_templates_that_are_broken_or_hostile(tmp_path: Path, template):
    root = write_lerobot(tmp_path, four())
    edit_info(root, data_path=template)
    with pytest.raises(RolloutError, match=r"info.json: path template"):
        goalward.read(root)


@pytest.mark.parametrize("version", VERSIONS)
def test_more_episodes_promised_than_there_are(tmp_path: Path, version: str):
    root = write_lerobot(tmp_path, four(), version=version)
    edit_info(root, total_episodes=105)
    rollouts = goalward.read(root)
    assert len(rollouts) == 4
    assert "promises 105 episodes, 4 are listed" in rollouts.warnings[0]
    with pytest.raises(RolloutError, match="promises 105 episodes"):
        goalward.read(root, strict=True)


def test_episodes_listed_but_without_files(tmp_path: Path):
    root = write_lerobot(tmp_path, four(), version="v2.1")
    data_of(root, "v2.1", 1).unlink()
    rollouts = goalward.read(root)
    assert rollouts.ids == ("0", "2", "3")
    assert rollouts.left_out[0].episode_id == "1"
    assert "episode_000001.parquet: the data file is missing" in rollouts.left_out[0].reason


def test_a_missing_video(tmp_path: Path):
    root = write_lerobot(tmp_path, four(), version="v2.1")
    video_of(root, "v2.1", 2).unlink()
    rollouts = goalward.read(root)
    assert rollouts.ids == ("0", "1", "3")
    assert "episode_000002.mp4: the video file is missing" in rollouts.left_out[0].reason
    with pytest.raises(RolloutError, match="episode 2: .*the video file is missing"):
        goalward.read(root, strict=True)
    assert len(goalward.read(root, cameras=[])) == 4


def test_all_videos_missing(tmp_path: Path):
    root = write_lerobot(tmp_path, four(cameras=("front", "wrist")))
    shutil.rmtree(root / "videos" / CAMERA)
    with pytest.raises(RolloutError, match=r"no usable episode. Episode 0: .*file is missing"):
        goalward.read(root)
    assert len(goalward.read(root, cameras=["wrist"])) == 4


@pytest.mark.parametrize("version", VERSIONS)
def test_a_video_that_is_cut(tmp_path: Path, version: str):
    root = write_lerobot(tmp_path, four(), version=version)
    path = video_of(root, version, 3)
    path.write_bytes(path.read_bytes()[:-300])
    if version == "v3.0":
        with pytest.raises(RolloutError, match="the video is cut off"):
            goalward.read(root)
    else:
        rollouts = goalward.read(root)
        assert rollouts.ids == ("0", "1", "2")
        assert "the video is cut off" in rollouts.left_out[0].reason


def test_a_packed_video_cut_after_its_index_keeps_the_first_episodes(tmp_path: Path):
    root = write_lerobot(tmp_path, four())
    path = video_of(root, "v3.0")
    write_video(
        path,
        decoded(path),
        options={"crf": "18", "bf": "0"},
        container_options={"movflags": "faststart"},
    )
    path.write_bytes(path.read_bytes()[:-900])
    rollouts = goalward.read(root)
    assert 0 < len(rollouts) < 4
    assert rollouts.ids == ("0", "1", "2", "3")[: len(rollouts)]
    assert all(len(list(episode.frames("front"))) == episode.num_frames for episode in rollouts)
    assert "is not in the video" in rollouts.left_out[0].reason


@pytest.mark.parametrize("change", [-1, 1])
def test_a_video_one_frame_longer_or_shorter(tmp_path: Path, change: int):
    root = write_lerobot(tmp_path, four(), version="v2.1")
    path = video_of(root, "v2.1", 1)
    frames = decoded(path)
    write_video(path, frames[:-1] if change < 0 else [*frames, frames[0]])
    rollouts = goalward.read(root)
    if change < 0:
        assert rollouts.ids == ("0", "2", "3")
        assert "frame 5 of 6 is not in the video, which holds 5 intact frames" in (
            rollouts.left_out[0].reason
        )
    else:
        assert len(rollouts) == 4
        assert "longer than the table in 1 episode (1)" in rollouts.warnings[0]
        assert len(list(rollouts[1].frames("front"))) == 6


def test_another_codec_and_size_than_declared(tmp_path: Path):
    root = write_lerobot(tmp_path, four())
    info = json.loads((root / "meta/info.json").read_text())
    info["features"][CAMERA]["info"]["video.codec"] = "av1"
    info["features"][CAMERA]["shape"] = [64, 64, 3]
    edit_info(root, features=info["features"])
    rollouts = goalward.read(root)
    assert f"{CAMERA}: info.json declares codec av1, the files hold h264" in rollouts.warnings
    assert any("declares shape [64, 64, 3], the files hold 32 x 32" in w for w in rollouts.warnings)


def test_nan_in_proprioception(tmp_path: Path):
    episodes = four()
    episodes[2].state[3, 1] = np.nan
    rollouts = goalward.read(write_lerobot(tmp_path, episodes))
    assert rollouts.ids == ("0", "1", "3")
    assert "proprioception holds NaN or infinity at frame 3" in rollouts.left_out[0].reason


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


def edit_list(root: Path, change):
    edit_table(root / "meta/episodes/chunk-000/file-000.parquet", change)


def set_cell(name: str, row: int, value):
    def change(table: pa.Table) -> pa.Table:
        values = table.column(name).to_pylist()
        values[row] = value
        return table.set_column(table.column_names.index(name), name, pa.array(values))

    return change


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


@pytest.mark.parametrize("values", [[None, False, False], ["x", "y", "z"], [0.5, 0.0, 0.0]])
def test_a_terminated_column_that_says_nothing(tmp_path: Path, values):
    episodes = [make_episode(3, i == 0) for i in range(2)]
    for episode in episodes:
        episode.columns["terminated"] = values
    with pytest.raises(RolloutError, match="terminated holds more than true and false"):
        goalward.read(write_lerobot(tmp_path, episodes))


def test_a_success_column_that_info_does_not_declare(tmp_path: Path):
    episodes = four()
    for number, episode in enumerate(episodes):
        episode.columns["next.reward"] = [float(number % 2)] * episode.num_frames
    root = write_lerobot(tmp_path, episodes)
    info = json.loads((root / "meta/info.json").read_text())
    del info["features"]["next.success"]
    edit_info(root, features=info["features"])
    rollouts = goalward.read(root)
    assert rollouts.sources[0].label_source == "next.success"
    assert rollouts.success.tolist() == [True, False, True, False]


def test_a_success_column_with_empty_cells(tmp_path: Path):
    episodes = [make_episode(2, None, columns={"next.success": [None, True]})]
    with pytest.raises(RolloutError, match=r"no outcome label.*next.success has empty cells"):
        goalward.read(write_lerobot(tmp_path, episodes))


def test_the_task_by_its_number(tmp_path: Path):
    root = write_lerobot(tmp_path, [make_episode(3, i == 0, task=f"task {i}") for i in range(2)])
    edit_list(root, lambda t: t.drop_columns(["tasks"]))
    assert [episode.task for episode in goalward.read(root)] == ["task 0", "task 1"]


def test_images_that_are_missing_are_noticed_when_read(tmp_path: Path):
    root = write_lerobot(tmp_path, [make_episode(3, i == 0) for i in range(2)], pictures_as="image")

    def emptied(table: pa.Table) -> pa.Table:
        cells = table.column(CAMERA).to_pylist()
        cells[1] = {"bytes": None, "path": "images/1.png"}
        return table.set_column(table.column_names.index(CAMERA), CAMERA, pa.array(cells))

    edit_table(data_of(root, "v3.0"), emptied)
    rollouts = goalward.read(root)
    assert rollouts.ids == ("1",)
    assert "1.png: the image is missing" in rollouts.left_out[0].reason


def test_a_picture_of_16_bits_is_refused():
    buffer = io.BytesIO()
    Image.fromarray(np.full((8, 8), 40_000, np.uint16)).save(buffer, "png")
    with pytest.raises(RolloutError, match="image of mode I;16, wanted 8 bits"):
        decode_image(buffer.getvalue(), "x")


def test_a_column_of_pictures_is_no_proprioception(tmp_path: Path):
    root = write_lerobot(tmp_path, four(), pictures_as="image")
    with pytest.raises(RolloutError, match=f"column {CAMERA} holds struct"):
        goalward.read(root, proprioception=[CAMERA])


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


def test_proprioception_by_name(tmp_path: Path):
    root = write_lerobot(tmp_path, four())
    assert (
        goalward.read(root, proprioception=["observation.state", "action"]).proprioception.shape[1]
        == 5
    )
    assert goalward.read(root, proprioception=[]).proprioception.shape == (26, 0)
    with pytest.raises(RolloutError, match="no feature joints; there are"):
        goalward.read(root, proprioception=["joints"])


def test_cameras_by_name(tmp_path: Path):
    root = write_lerobot(tmp_path, four(cameras=("front", "wrist")))
    assert goalward.read(root, cameras=["wrist"]).camera_names == ("observation.images.wrist",)
    with pytest.raises(RolloutError, match="no camera top; cameras: observation.images.front"):
        goalward.read(root, cameras=["top"])


def test_flipping(tmp_path: Path):
    root = write_lerobot(tmp_path, four(), pictures_as="image")
    upright = goalward.read(root)[0].frame("front", 2)
    assert np.array_equal(goalward.read(root, flip=True)[0].frame("front", 2), upright[::-1])


def test_images_that_are_paths(tmp_path: Path):
    root = write_lerobot(
        tmp_path, [make_episode(3, True), make_episode(3, False)], pictures_as="image"
    )
    expected = list(goalward.read(root)[1].frames("front"))

    def to_paths(table: pa.Table) -> pa.Table:
        (root / "images").mkdir()
        cells = []
        for row, cell in enumerate(table.column(CAMERA).to_pylist()):
            (root / "images" / f"{row}.png").write_bytes(cell["bytes"])
            cells.append({"bytes": None, "path": f"images/{row}.png"})
        struct = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
        position = table.column_names.index(CAMERA)
        return table.set_column(position, CAMERA, pa.array(cells, struct))

    edit_table(data_of(root, "v3.0"), to_paths)
    got = list(goalward.read(root)[1].frames("front"))
    assert all(np.array_equal(a, b) for a, b in zip(got, expected, strict=True))
    rollouts = goalward.read(root)
    (root / "images" / "4.png").unlink()
    with pytest.raises(RolloutError, match=r"4.png: the image is missing"):
        list(rollouts[1].frames("front"))


# ---- what cannot be read


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not readable as json"),
        ("[]", "wanted an object"),
        ("{}", "fps is None"),
        ('{"fps": 10}', "features is missing"),
        ('{"fps": "ten", "features": {}}', "fps is 'ten'"),
        ('{"fps": 10, "features": {}, "codebase_version": "v9"}', "'v9' is not 2.x or 3.x"),
        ('{"fps": 10, "features": {}}', "the list of episodes cannot be read"),
    ],
)
def test_bad_info(tmp_path: Path, content: str, message: str):
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "info.json").write_text(content)
    with pytest.raises(RolloutError, match=message) as caught:
        goalward.read(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_keys_that_can_be_done_without(tmp_path: Path):
    for version in VERSIONS:
        root = write_lerobot(tmp_path / version, four(), version=version)
        edit_info(
            root,
            codebase_version=None,
            total_episodes=None,
            chunks_size=None,
            data_path=None,
            video_path=None,
        )
        rollouts = goalward.read(root)
        assert len(rollouts) == 4
        assert len(list(rollouts[0].frames("front"))) == 5


def test_a_path_that_is_not_there(tmp_path: Path):
    with pytest.raises(RolloutError, match="nowhere: no such file or folder"):
        goalward.read(tmp_path / "nowhere")
    with pytest.raises(RolloutError, match="the folder is empty"):
        goalward.read(tmp_path)
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(RolloutError, match="not a known format of rollouts. Known are lerobot"):
        goalward.read(tmp_path)

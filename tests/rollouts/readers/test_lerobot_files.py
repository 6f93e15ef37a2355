"""Files of real LeRobot data sets: where templates lead, what is missing, cut, longer than told."""

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from rollout_files.lerobot import (
    decoded,
    make_episode,
    write_lerobot,
    write_video,
)
from rollout_files.lerobot_edits import (
    CAMERA,
    VERSIONS,
    data_of,
    edit_info,
    edit_table,
    four,
    video_of,
)

import goalward
from goalward import RolloutError
from goalward.rollouts.frames import decode_image


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

"""RLDS data sets that are damaged: what is whole is read, what is not is named."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rollout_files import rlds
from rollout_files.left_out import reasons
from rollout_files.rlds_files import IMAGE, one_file, three_records

from goalward.errors import RolloutError
from goalward.rollouts.episode import Outcome
from goalward.rollouts.readers import read, tfrecord


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"steps__reward": [0.0] * 4}, "steps/is_first has 5 steps, steps/reward has 4"),
        ({"steps__observation__state": [0.0] * 11}, "state has 11 numbers, which do not divide"),
        ({"steps__action": [0.0] * 11}, "steps/action has 11 numbers"),
        ({"steps__success": [0, 1]}, "steps/success has 2 values for 5 steps"),
        (
            {"steps__observation__state": [0.0] * 10},
            "2 proprioceptive numbers per frame where others have 3",
        ),
        ({"steps__observation__state": [float("nan")] * 15}, "NaN or infinity at frame 0"),
        ({"steps__observation__image_0": [b"\xff\xd8\xff"] * 4}, "not a readable picture"),
    ],
)
def test_parts_that_do_not_fit(tmp_path: Path, broken: dict[str, Any], reason: str) -> None:
    good, bad = rlds.make_episode(5), rlds.make_episode(5, **broken)
    path = one_file(tmp_path, good, bad, good)
    rollouts = read(path)
    assert rollouts.ids == ("toy-00000/0", "toy-00000/2")
    assert reason in reasons(rollouts)["toy-00000/1"]
    assert str(path) in reasons(rollouts)["toy-00000/1"]
    with pytest.raises(RolloutError, match="toy-00000/1"):
        read(path, strict=True)


def test_a_record_that_claims_more_than_there_is_memory(tmp_path: Path, monkeypatch) -> None:
    path, _ = three_records(tmp_path)
    monkeypatch.setattr(tfrecord, "_LARGE_BYTES", 0)
    monkeypatch.setattr(tfrecord, "free_bytes", lambda: 100)
    with pytest.raises(RolloutError, match=r"record 0: claims .* more than there is memory for"):
        read(path)


def test_pictures_missing_or_not_pictures(tmp_path: Path) -> None:
    good = rlds.make_episode(3)
    stored = list(good.features[IMAGE])
    short = rlds.make_episode(3, steps__observation__image_0=stored[:2])
    torn = rlds.make_episode(3, steps__observation__image_0=[*stored[:2], b"nothing"])
    empty = rlds.WrittenEpisode({}, good.state, {"episode_metadata/success": [1]})
    rollouts = read(one_file(tmp_path, good, short, torn, empty))
    assert rollouts.ids == ("toy-00000/0",)
    found = reasons(rollouts)
    assert "image_0 has 2" in found["toy-00000/1"]
    assert "image_0 holds no picture at frame 2" in found["toy-00000/2"]
    assert "has no steps" in found["toy-00000/3"]


def test_a_damaged_picture_is_named_when_it_is_decoded(tmp_path: Path) -> None:
    stored = list(rlds.make_episode(3).features[IMAGE])
    stored[1] = stored[1][:60]
    path = one_file(tmp_path, rlds.make_episode(3, steps__observation__image_0=stored))
    frames = read(path)[0].frames("image_0")
    next(frames)
    with pytest.raises(RolloutError, match=r"toy.tfrecord, record 0, .*image_0, frame 1"):
        next(frames)


def test_a_wrong_checksum_costs_one_record(tmp_path: Path) -> None:
    path, starts = three_records(tmp_path)
    content = bytearray(path.read_bytes())
    content[starts[1] + 40] ^= 1
    path.write_bytes(content)
    rollouts = read(path)
    assert rollouts.ids == ("toy-00000/0", "toy-00000/2")
    assert reasons(rollouts) == {
        "toy-00000/1": f"{path}, record 1: its checksum does not match its bytes"
    }
    # Numbers still count the damaged record.
    labels = tmp_path / "my_labels.csv"
    labels.write_text("episode,success\n0,true\n2,false\n")
    assert read(path, labels=labels).success.tolist() == [True, False]


def test_a_cut_file_keeps_what_is_whole(tmp_path: Path) -> None:
    path, starts = three_records(tmp_path)
    whole = path.read_bytes()
    for end in (starts[2] + 5, starts[2] + 100, len(whole) - 1):
        path.write_bytes(whole[:end])
        rollouts = read(path)
        assert rollouts.ids == ("toy-00000/0", "toy-00000/1")
        assert f"{path}, record 2: the file is cut off" in reasons(rollouts)["toy-00000/2"]


def test_numbers_stop_where_records_may_be_missing(tmp_path: Path) -> None:
    episodes = [rlds.make_episode(3, None, seed=number) for number in range(6)]
    rlds.write_data_set(tmp_path, episodes, num_shards=3)
    labels = tmp_path / "my_labels.csv"
    labels.write_text("episode,success\n" + "".join(f"{n},true\n" for n in range(6)))
    assert len(read(tmp_path, labels=labels)) == 6
    (tmp_path / "toy-train.tfrecord-00001-of-00003").unlink()
    rollouts = read(tmp_path, labels=labels)
    assert rollouts.ids == ("train-00000/0", "train-00000/1")
    assert any("1 of 3 files of toy-train are missing" in text for text in rollouts.warnings)


def test_a_damaged_length_ends_the_file(tmp_path: Path) -> None:
    path, starts = three_records(tmp_path)
    content = bytearray(path.read_bytes())
    content[starts[1]] ^= 4
    path.write_bytes(content)
    rollouts = read(path)
    assert rollouts.ids == ("toy-00000/0",)
    assert "no later record of the file can be found" in reasons(rollouts)["toy-00000/1"]


def test_a_length_beyond_the_file_is_damage(tmp_path: Path) -> None:
    length = struct.pack("<Q", 1 << 62)
    path = tmp_path / "toy.tfrecord"
    path.write_bytes(length + rlds.masked_crc32c(length) + bytes(100))
    with pytest.raises(RolloutError, match=r"toy.tfrecord, record 0: the file is cut off"):
        read(path)


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b" + bytes(40), bytes(64), b"\x0a\xff" * 30])
def test_files_that_hold_no_record(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "toy.tfrecord"
    path.write_bytes(content)
    with pytest.raises(RolloutError, match="toy.tfrecord"):
        read(path)


def test_bytes_that_are_no_example(tmp_path: Path) -> None:
    path = rlds.write_records(tmp_path / "toy.tfrecord", [b"\x0a\xff\xff\xff", b"\x0f" * 50])
    with pytest.raises(RolloutError, match=r"toy.tfrecord, record 0: not a tf.train.Example"):
        read(path)


def test_records_that_dataset_info_promises(tmp_path: Path) -> None:
    rlds.write_data_set(tmp_path, [rlds.make_episode(3, seed=n) for n in range(3)])
    path = tmp_path / "toy-train.tfrecord-00000-of-00001"
    rlds.write_records(path, [rlds.make_episode(3).encoded()])
    rollouts = read(tmp_path)
    assert f"{path}: 1 records were found, dataset_info.json has 3" in rollouts.warnings
    with pytest.raises(RolloutError, match="dataset_info.json has 3"):
        read(tmp_path, strict=True)


@pytest.mark.parametrize(
    "text",
    ["", "[" * 100_000, "[]", '{"splits": 3}', '{"splits": [3]}', '{"splits": [{"name": 1}]}',
     '{"splits": [{"name": "train", "shardLengths": [1e999]}]}',
     '{"splits": [{"name": "train", "shardLengths": [null]}]}', "\x00", '{"splits": {"a": 1}}'],
)  # fmt: skip
def test_a_strange_dataset_info_is_reported_and_not_needed(tmp_path: Path, text: str) -> None:
    rlds.write_data_set(tmp_path, [rlds.make_episode(3)])
    (tmp_path / "dataset_info.json").write_text(text)
    rollouts = read(tmp_path)
    assert len(rollouts) == 1
    assert all("dataset_info.json" in text or "success" in text for text in rollouts.warnings)


def test_a_file_that_changes_later(tmp_path: Path) -> None:
    path, _ = three_records(tmp_path)
    rollouts = read(path)
    content = bytearray(path.read_bytes())
    content[-40] ^= 1
    path.write_bytes(content)
    with pytest.raises(RolloutError, match=r"toy.tfrecord, record 2: has changed"):
        next(rollouts[2].frames("image_0"))
    path.unlink()
    with pytest.raises(RolloutError, match=r"toy.tfrecord, record 1: cannot be read"):
        next(rollouts[1].frames("image_0"))


@pytest.mark.parametrize("seed", range(80))
def test_damage_never_changes_what_is_read(tmp_path: Path, seed: int) -> None:
    """Flipped bits, cuts and added bytes: an episode is read as written or is not read at all."""
    written = [rlds.make_episode(3, n != 1, seed=n, size=4) for n in range(3)]
    path = one_file(tmp_path, *written)
    path.write_bytes(damaged(path.read_bytes(), np.random.default_rng(seed)))
    try:
        rollouts = read(path)
    except RolloutError as error:
        assert str(path) in str(error)
        return
    for episode in rollouts:
        number = int(episode.id.rsplit("/", 1)[1])
        np.testing.assert_array_equal(episode.proprioception, written[number].state)
        assert (episode.outcome is Outcome.SUCCESS) == (number != 1)
        np.testing.assert_array_equal(
            list(episode.frames("image_0")), written[number].pictures["image_0"]
        )
    assert all(str(path) in reason for reason in reasons(rollouts).values())
    assert len(rollouts) + len(rollouts.left_out) >= 1


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(content)
    kind = rng.integers(4)
    if kind == 0:
        return bytes(changed[: rng.integers(len(changed))])
    if kind == 1:
        start = int(rng.integers(len(changed)))
        return bytes(changed[:start]) + rng.bytes(7) + bytes(changed[start:])
    for position in rng.integers(len(changed), size=1 if kind == 2 else 8):
        changed[position] ^= 1 << int(rng.integers(8))
    return bytes(changed)


@pytest.mark.parametrize("seed", range(80))
def test_strange_messages_with_right_checksums(tmp_path: Path, seed: int) -> None:
    """A record that was damaged before it was written: an error that names it, nothing else."""
    rng = np.random.default_rng(seed)
    content = damaged(rlds.make_episode(3, size=4).encoded(), rng)
    path = rlds.write_records(tmp_path / "toy.tfrecord", [content])
    try:
        for episode in read(path):
            for camera in episode.cameras:
                list(episode.frames(camera))
    except RolloutError as error:
        assert str(path) in str(error)

"""RLDS: what is written is what is read, and damage is named."""

import io
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from rollout_files import rlds

from goalward.errors import RolloutError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Outcome
from goalward.rollouts.readers import read, rlds_episode
from goalward.rollouts.readers import rlds as reader
from goalward.rollouts.readers.tfrecord import load_record, read_records

IMAGE = "steps/observation/image_0"


def one_file(folder: Path, *episodes: rlds.WrittenEpisode) -> Path:
    return rlds.write_records(folder / "toy.tfrecord", [e.encoded() for e in episodes])


def reasons(rollouts: Rollouts) -> dict[str, str]:
    return {left_out.episode_id: left_out.reason for left_out in rollouts.left_out}


# ---- what is read --------------------------------------------------------------------------------


def test_an_episode_is_what_was_written(tmp_path: Path) -> None:
    first = rlds.make_episode(4, True, cameras=("image_0", "wrist"), seed=1)
    second = rlds.make_episode(6, False, cameras=("image_0", "wrist"), seed=2)
    rollouts = read(rlds.write_data_set(tmp_path / "toy" / "1.0.0", [first, second]))
    assert rollouts.ids == ("train-00000/0", "train-00000/1")
    assert rollouts.lengths.tolist() == [4, 6]
    assert rollouts.success.tolist() == [True, False]
    assert rollouts.tasks == ("stack the cubes",)
    assert rollouts.camera_names == (IMAGE, "steps/observation/wrist")
    assert rollouts.sources[0].label_source == "episode_metadata/success"
    assert rollouts.sources[0].format == "rlds"
    assert (rollouts.warnings, rollouts.left_out) == ((), ())
    np.testing.assert_array_equal(rollouts.proprioception, np.vstack([first.state, second.state]))
    assert rollouts[0].action_size == 7
    source = rollouts[0].camera("wrist")
    assert (source.height, source.width, source.codec) == (8, 8, "png")
    for episode, written in zip(rollouts, (first, second), strict=True):
        for camera in ("image_0", "wrist"):
            np.testing.assert_array_equal(list(episode.frames(camera)), written.pictures[camera])


def test_the_folder_of_the_version_is_found_from_its_parent(tmp_path: Path) -> None:
    rlds.write_data_set(tmp_path / "toy" / "1.0.0", [rlds.make_episode(3)])
    assert read(tmp_path / "toy").ids == ("train-00000/0",)
    rlds.write_data_set(tmp_path / "toy" / "1.1.0", [rlds.make_episode(3)])
    with pytest.raises(RolloutError, match="name one of the versions it holds: 1.0.0, 1.1.0"):
        read(tmp_path / "toy")


def test_a_single_file_is_enough(tmp_path: Path) -> None:
    path = one_file(tmp_path, rlds.make_episode(3))
    assert reader.recognises(path)
    assert reader.recognises(tmp_path)
    assert read(path).ids == ("toy-00000/0",)
    assert not reader.recognises(tmp_path / "absent")
    (tmp_path / "other").mkdir()
    assert not reader.recognises(tmp_path / "other")


def test_shards_of_two_splits_keep_their_names_apart(tmp_path: Path) -> None:
    episodes = [rlds.make_episode(3, number % 2 == 0, seed=number) for number in range(5)]
    rlds.write_data_set(tmp_path, episodes[:2], split="val", with_info=False)
    rlds.write_data_set(tmp_path, episodes[2:], num_shards=2, with_info=False)
    rollouts = read(tmp_path)
    assert rollouts.ids == (
        "train-00000/0",
        "train-00000/1",
        "train-00001/0",
        "val-00000/0",
        "val-00000/1",
    )
    labels = tmp_path / "my_labels.csv"
    labels.write_text("episode,success\ntrain/2,false\nval/0,true\n")
    assert dict(zip(*_ids_and_success(read(tmp_path, labels=labels)), strict=True)) == {
        "train-00001/0": False,
        "val-00000/0": True,
    }


def test_splits_that_are_read_as_one_are_named(tmp_path: Path) -> None:
    rlds.write_data_set(tmp_path, [rlds.make_episode(3, False)], split="val")
    # Writes dataset_info.json anew, which then lists one split only.
    rlds.write_data_set(tmp_path, [rlds.make_episode(3, True), rlds.make_episode(4, True)])
    rollouts = read(tmp_path)
    assert len(rollouts) == 3
    assert any("holds the splits train, val, which" in warning for warning in rollouts.warnings)
    alone = read(tmp_path / "toy-train.tfrecord-00000-of-00001")
    assert len(alone) == 2
    assert not any("splits" in warning for warning in alone.warnings)


def _ids_and_success(rollouts: Rollouts) -> tuple[tuple[str, ...], list[bool]]:
    return rollouts.ids, rollouts.success.tolist()


def test_jpeg_frames_are_what_pillow_decodes(tmp_path: Path) -> None:
    written = rlds.make_episode(2, encode=rlds.jpeg)
    rollouts = read(one_file(tmp_path, written))
    stored = [Image.open(io.BytesIO(picture)) for picture in written.features[IMAGE]]
    np.testing.assert_array_equal(
        list(rollouts[0].frames("image_0")), [np.asarray(picture) for picture in stored]
    )
    assert rollouts[0].camera("image_0").codec == "jpeg"


@pytest.mark.parametrize(
    "pictures",
    [
        [bytes(64 * 64 * 3)] * 2,
        [rlds.png(np.zeros((4, 4), np.uint16))] * 2,
        [7] * (2 * 64 * 64 * 3),
    ],
    ids=["raw bytes", "16 bits", "numbers"],
)
def test_pictures_of_another_kind_are_named(tmp_path: Path, pictures: Any) -> None:
    written = rlds.make_episode(
        2,
        steps__observation__wrist_image=pictures,
        steps__observation__image_embedding=[0.5] * 1536,
    )
    rollouts = read(one_file(tmp_path, written))
    assert rollouts.camera_names == (IMAGE,)
    (said,) = [warning for warning in rollouts.warnings if "camera" in warning]
    assert "steps/observation/wrist_image holds neither PNG nor JPEG of 8 bits" in said


def test_depth_is_not_a_camera(tmp_path: Path) -> None:
    deep = rlds.png(np.full((4, 4), 40_000, dtype=np.uint16))
    floats = rlds.png(np.zeros((4, 4, 4), dtype=np.uint8))
    written = rlds.make_episode(
        2, steps__observation__far=[deep] * 2, steps__observation__depth_1=[floats] * 2
    )
    assert read(one_file(tmp_path, written)).camera_names == (IMAGE,)


def test_cameras_and_proprioception_can_be_chosen(tmp_path: Path) -> None:
    joints = np.arange(8, dtype=np.float32)
    written = rlds.make_episode(4, cameras=("image_0", "wrist"), steps__observation__joints=joints)
    path = one_file(tmp_path, written)
    rollouts = read(path, cameras=["wrist"], proprioception=["joints", "steps/is_last"])
    assert rollouts.camera_names == ("steps/observation/wrist",)
    assert rollouts.proprioception.tolist() == [[0, 1, 0], [2, 3, 0], [4, 5, 0], [6, 7, 1]]
    assert read(path, proprioception=[], cameras=[]).proprioception.shape == (4, 0)
    with pytest.raises(RolloutError, match="no camera nose; cameras: steps/observation/image_0"):
        read(path, cameras=["nose"])
    with pytest.raises(RolloutError, match="no feature torque; numbers per step: steps/action"):
        read(path, proprioception=["torque"])
    with pytest.raises(RolloutError, match="no filter keys"):
        read(path, filter_key="train")


def test_the_other_names_of_state_and_task(tmp_path: Path) -> None:
    written = rlds.make_episode(
        2,
        steps__observation__state=(),
        steps__observation__proprio=[1.0, 2.0],
        steps__language_instruction=(),
        steps__observation__natural_language_instruction=[b"pick \xe2\x9c\x93"] * 2,
        steps__action=(),
        steps__action__world_vector=[0.5] * 6,
        steps__action__gripper=[0.5] * 2,
    )
    episode = read(one_file(tmp_path, written))[0]
    assert episode.proprioception.tolist() == [[1.0], [2.0]]
    assert episode.task == "pick ✓"
    assert episode.action_size == 4


# ---- labels --------------------------------------------------------------------------------------


def test_a_reward_counts_where_nothing_else_speaks(tmp_path: Path) -> None:
    goal = rlds.make_episode(5, None, steps__reward=[0.0, 0.0, 1.0, 0.0, 0.0])
    rollouts = read(one_file(tmp_path, goal, rlds.make_episode(5, None)))
    assert rollouts.sources[0].label_source == "steps/reward"
    assert rollouts.goal_frames.tolist() == [2, -1]
    said = rlds.make_episode(5, False, steps__reward=[1.0] * 5)
    assert read(one_file(tmp_path, said)).success.tolist() == [False]


def test_a_reward_of_zeros_is_no_label(tmp_path: Path) -> None:
    path = one_file(tmp_path, *(rlds.make_episode(n, None) for n in (5, 3, 4)))
    with pytest.raises(RolloutError, match=r"no outcome label found.*steps/reward says the same"):
        read(path)
    assert read(path, success_key="steps/reward").success.tolist() == [False] * 3
    said = one_file(tmp_path, *(rlds.make_episode(n, False) for n in (5, 3)))
    assert read(said).success.tolist() == [False] * 2


def test_no_label_is_an_error_that_lists_the_features(tmp_path: Path) -> None:
    path = one_file(tmp_path, rlds.make_episode(3, None, steps__reward=[0.1, 0.2, 0.7]))
    with pytest.raises(RolloutError, match=r"no outcome label found.*steps/observation/state"):
        read(path)
    assert read(path, labels="time_out").success.tolist() == [False]


@pytest.mark.parametrize("key", ["steps/observation/solved", "solved"])
def test_any_feature_can_be_the_success_key(tmp_path: Path, key: str) -> None:
    written = rlds.make_episode(3, None, steps__observation__solved=[0, 1, 1])
    rollouts = read(one_file(tmp_path, written), success_key=key)
    assert rollouts.goal_frames.tolist() == [1]
    assert rollouts.sources[0].label_source == key


def test_words_are_labels_too_and_sources_must_agree(tmp_path: Path) -> None:
    word = rlds.make_episode(3, None, episode_metadata__episode_success=[b"failure"])
    assert read(one_file(tmp_path, word)).success.tolist() == [False]
    torn = rlds.make_episode(3, True, steps__is_success=[0, 0, 0])
    with pytest.raises(RolloutError, match="disagree on 1 episode"):
        read(one_file(tmp_path, torn))


def test_is_terminal_counts_only_if_some_episode_ends_without_it(tmp_path: Path) -> None:
    always = [rlds.make_episode(3, False), rlds.make_episode(4, True)]
    assert read(one_file(tmp_path, *always))[0].outcome is Outcome.TIME_OUT
    mixed = [*always, rlds.make_episode(5, False, terminal=False)]
    outcomes = [episode.outcome for episode in read(one_file(tmp_path, *mixed))]
    assert outcomes == [Outcome.FAILURE, Outcome.SUCCESS, Outcome.TIME_OUT]
    # An episode without the feature says nothing about what the writer means by it.
    silent = [*always, rlds.make_episode(5, False, steps__is_terminal=())]
    assert read(one_file(tmp_path, *silent))[0].outcome is Outcome.TIME_OUT


def test_a_label_file_may_use_any_unique_name(tmp_path: Path) -> None:
    names = [b"/data/a.npy", b"/data/b.npy", b"/data/b.npy"]
    episodes = [
        rlds.make_episode(3, None, seed=number, episode_metadata__file_path=[name])
        for number, name in enumerate(names)
    ]
    path = one_file(tmp_path, *episodes)
    labels = tmp_path / "my_labels.csv"
    labels.write_text("episode,success\n/data/a.npy,true\n1,false\n/data/b.npy,true\n")
    rollouts = read(path, labels=labels)
    assert rollouts.success.tolist() == [True, False]
    assert list(reasons(rollouts)) == ["toy-00000/2"]


# ---- episodes that cannot be trusted -------------------------------------------------------------


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


# ---- damaged files -------------------------------------------------------------------------------


def three_records(folder: Path) -> tuple[Path, list[int]]:
    """A file, and where its records start."""
    path = one_file(folder, *(rlds.make_episode(3, n != 1, seed=n) for n in range(3)))
    starts = [record.place.offset - 12 for record in read_records(path)]
    return path, starts


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


# ---- memory --------------------------------------------------------------------------------------


def test_one_record_is_read_once_for_all_its_frames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = three_records(tmp_path)
    rollouts = read(path)
    loaded: list[int] = []

    def counted(place):
        loaded.append(place.number)
        return load_record(place)

    monkeypatch.setattr(rlds_episode, "load_record", counted)
    for _ in range(2):
        for episode in rollouts:
            for frame in range(3):
                episode.frame("image_0", frame)
    assert loaded == [0, 1, 2, 0, 1, 2]


def test_episodes_travel_to_other_processes(tmp_path: Path) -> None:
    path, _ = three_records(tmp_path)
    source = read(path)[0].camera("image_0")
    frames = list(source)
    again = pickle.loads(pickle.dumps(source))  # noqa: S301
    np.testing.assert_array_equal(list(again), frames)


# ---- properties ----------------------------------------------------------------------------------

quick = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@quick
@given(
    shapes=st.lists(st.tuples(st.integers(1, 6), st.booleans()), min_size=1, max_size=5),
    state_size=st.integers(1, 4),
    num_shards=st.integers(1, 3),
    cameras=st.lists(st.sampled_from(["a", "b", "c"]), unique=True, max_size=3),
)
def test_reads_back_what_was_written(
    tmp_path_factory: pytest.TempPathFactory,
    shapes: list[tuple[int, bool]],
    state_size: int,
    num_shards: int,
    cameras: list[str],
) -> None:
    written = [
        rlds.make_episode(n, s, cameras=cameras, seed=i, state_size=state_size, size=4)
        for i, (n, s) in enumerate(shapes)
    ]
    folder = rlds.write_data_set(
        tmp_path_factory.mktemp("toy"), written, num_shards=min(num_shards, len(written))
    )
    rollouts = read(folder, strict=True)
    assert list(zip(rollouts.lengths, rollouts.success, strict=True)) == shapes
    np.testing.assert_array_equal(rollouts.proprioception, np.vstack([e.state for e in written]))
    for episode, expected in zip(rollouts, written, strict=True):
        for camera in cameras:
            np.testing.assert_array_equal(list(episode.frames(camera)), expected.pictures[camera])


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

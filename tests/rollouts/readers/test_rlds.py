"""RLDS data sets: what is read, where labels stand, how much is in memory."""

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from rollout_files import rlds
from rollout_files.left_out import reasons
from rollout_files.rlds_files import IMAGE, one_file, three_records

from goalward.errors import RolloutError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Outcome
from goalward.rollouts.readers import read, rlds_episode
from goalward.rollouts.readers import rlds as reader
from goalward.rollouts.readers.tfrecord import load_record

quick = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


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

"""Data sets from what is in memory, and from what is generated."""

import gc
import io
import os
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from goalward import RolloutError, from_arrays
from goalward.rollouts.inspection import inspect

LENGTHS = (3, 5)


def film(num_frames: int, seed: int = 0, size: int = 4) -> np.ndarray:
    pixels = np.random.default_rng((num_frames, seed)).integers(0, 256, (num_frames, size, size, 3))
    return pixels.astype(np.uint8)


FILMS = [film(length) for length in LENGTHS]
NUMBERS = [np.full((length, 2), length, float) for length in LENGTHS]


def one_by_one(clip):
    yield from clip


# ---- what may be left out ------------------------------------------------------------------------


def test_images_alone():
    rollouts = from_arrays(images={"front": FILMS}, success=[True, False])
    assert rollouts.lengths.tolist() == list(LENGTHS)
    assert rollouts.features is None
    assert rollouts.proprioception.shape == (8, 0)
    assert rollouts.goal_frames.tolist() == [2, -1]


def test_proprioception_alone():
    rollouts = from_arrays(proprioception=iter(NUMBERS), success=[True, False])
    assert rollouts.features is None
    assert rollouts.proprioception.dtype == np.float32
    assert np.array_equal(rollouts.proprioception, np.concatenate(NUMBERS))
    assert np.array_equal(rollouts[1].proprioception, NUMBERS[1])
    assert inspect(rollouts).proprioception == 2


def test_everything_together():
    rollouts = from_arrays(
        [numbers[:, :1] for numbers in NUMBERS],
        [True, False],
        images={"front": FILMS, "wrist": [film(length, seed=1) for length in LENGTHS]},
        proprioception=NUMBERS,
    )
    assert rollouts.camera_names == ("front", "wrist")
    assert rollouts.features.shape == (8, 1)
    assert rollouts.proprioception.shape == (8, 2)


def test_flat_arrays_with_ends():
    flat = np.concatenate(FILMS)
    rollouts = from_arrays(
        images={"front": flat},
        proprioception=np.concatenate(NUMBERS),
        success=[True, False],
        episode_ends=[3, 8],
    )
    assert np.shares_memory(rollouts[1].cameras["front"].frames, flat)
    assert np.array_equal(list(rollouts[1].frames("front")), FILMS[1])
    assert np.array_equal(rollouts[1].proprioception, NUMBERS[1])


# ---- frames --------------------------------------------------------------------------------------

FORMS = {
    "arrays": FILMS,
    "lists of frames": [list(clip) for clip in FILMS],
    "one array for episodes of one length": None,
    "generators of frames": [one_by_one(clip) for clip in FILMS],
    "a generator of arrays": (clip for clip in FILMS),
    "a generator of lists": (list(clip) for clip in FILMS),
    "a generator of generators": (one_by_one(clip) for clip in FILMS),
    "a map": map(one_by_one, FILMS),
}


@pytest.mark.parametrize("form", FORMS)
def test_frames_can_be_looked_at_again_and_again(form):
    films = [film(3, seed) for seed in (0, 1)] if FORMS[form] is None else FILMS
    given = np.stack(films) if FORMS[form] is None else FORMS[form]
    rollouts = from_arrays(images={"front": given}, success=[True, False])
    assert rollouts.lengths.tolist() == [len(clip) for clip in films]
    for _ in range(2):
        for episode, clip in zip(rollouts, films, strict=True):
            assert np.array_equal(list(episode.frames("front")), clip)
            assert np.array_equal(episode.frame("front", 1), clip[1])
            known = from_arrays(images={"front": [clip]}, success=[False])[0]
            assert episode.cameras["front"].fingerprint() == known.cameras["front"].fingerprint()


def test_arrays_are_not_copied():
    rollouts = from_arrays(images={"front": FILMS}, success=[True, False])
    assert rollouts[0].cameras["front"].frames is FILMS[0]


def test_several_cameras_share_the_file_without_mixing():
    other = [film(length, seed=1, size=6) for length in LENGTHS]
    images = {"front": map(one_by_one, FILMS), "wrist": map(one_by_one, other), "top": FILMS}
    rollouts = from_arrays(images=images, success=[True, False])
    for name, films in (("front", FILMS), ("wrist", other), ("top", FILMS)):
        for episode, clip in zip(rollouts, films, strict=True):
            assert np.array_equal(list(episode.frames(name)), clip)


def test_generated_frames_are_in_memory_one_at_a_time():
    alive: list[int] = []

    class Watched(np.ndarray):
        def __del__(self):
            alive.append(-1)

    def frames():
        for shade in range(50):
            alive.append(1)
            yield np.full((4, 4, 3), shade, np.uint8).view(Watched)
            assert sum(alive) <= 2, "frames pile up"

    rollouts = from_arrays(images={"front": [frames()]}, success=[True])
    assert [frame[0, 0, 0] for frame in rollouts[0].frames("front")] == list(range(50))


def test_a_generator_may_use_the_same_array_for_every_frame():
    """As decoders do: whoever keeps the array keeps the last frame only."""

    def frames():
        buffer = np.zeros((4, 4, 3), np.uint8)
        for shade in range(5):
            buffer[:] = shade
            yield buffer

    rollouts = from_arrays(images={"front": [frames()]}, success=[True])
    assert [frame[0, 0, 0] for frame in rollouts[0].frames("front")] == list(range(5))


def test_the_file_has_no_name_and_goes_with_the_frames(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    handles = len(os.listdir("/proc/self/fd"))
    rollouts = from_arrays(images={"front": map(one_by_one, FILMS)}, success=[True, False])
    mapped = str(tmp_path) in Path("/proc/self/maps").read_text()
    assert mapped
    assert list(tmp_path.iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) <= handles + 1
    frame = rollouts[1].frame("front", 4)
    del rollouts
    assert np.array_equal(frame, FILMS[1][4]), "a frame outlives the data set"
    del frame
    gc.collect()
    assert str(tmp_path) not in Path("/proc/self/maps").read_text()


def test_no_file_is_made_where_nothing_is_generated(monkeypatch):
    monkeypatch.setattr(tempfile, "TemporaryFile", None)
    assert len(from_arrays(images={"front": FILMS}, success=[True, False])) == 2


def test_a_full_disk_is_said(monkeypatch):
    full = partial(Path("/dev/full").open, "w+b")
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(RolloutError, match="No space left on device.*TMPDIR"):
        from_arrays(images={"front": map(one_by_one, FILMS)}, success=[True, False])


def test_a_disk_that_takes_a_frame_in_parts(monkeypatch):
    class InParts(io.FileIO):
        def write(self, pixels):
            return super().write(pixels[:7])

    def opened(buffering):
        handle, name = tempfile.mkstemp()
        Path(name).unlink()
        return InParts(handle, "w+")

    monkeypatch.setattr(tempfile, "TemporaryFile", opened)
    rollouts = from_arrays(images={"front": map(one_by_one, FILMS)}, success=[True, False])
    assert np.array_equal(list(rollouts[1].frames("front")), FILMS[1])


def test_what_goes_wrong_in_a_generator_is_its_own_error():
    def broken():
        yield FILMS[0][0]
        raise OSError("the camera's file is gone")

    with pytest.raises(OSError, match="the camera's file is gone"):
        from_arrays(images={"front": [broken()]}, success=[True])


# ---- what does not fit ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"features": [np.zeros((2, 1))]}, "label of an episode is not guessed"),
        ({"features": [np.zeros((2, 1))], "success": [1, 0]}, "2 labels for 1 episodes"),
        ({"features": [], "success": []}, "features hold no episodes"),
        ({"features": np.zeros((2, 1)), "success": [1]}, "features needs episode_ends"),
        (
            {"features": np.zeros((2, 1)), "success": [1], "episode_ends": [3]},
            "must end at the last of the 2 rows of features",
        ),
        (
            {"features": np.zeros((4, 1)), "success": [1, 0, 1], "episode_ends": [3, 2, 4]},
            "episode_ends must increase",
        ),
        (
            {"features": [np.zeros((2, 1)), np.zeros((2, 2))], "success": [1, 0]},
            r"episode 1: features have shape \(2, 2\)",
        ),
        (
            {"features": [np.zeros((2, 1))], "outcomes": ["won"]},
            "no outcome 'won'; outcomes: success, time_out",
        ),
        (
            {"features": [np.zeros((2, 1)), np.array([[0], [np.inf]])], "success": [1, 0]},
            "episode 1: features hold NaN or infinity at frame 1",
        ),
        ({"features": [np.zeros((0, 1))], "success": [1]}, "episode 0: has no frames"),
        ({"features": [np.zeros((2, 1))] * 2, "success": [1, 0], "ids": ["x", "x"]}, "the id x"),
        ({"features": [np.zeros((2, 1))], "success": [1], "tasks": ["a", "b"]}, "tasks has 2"),
        ({"features": [np.zeros((2, 1))], "success": [1], "ids": ["a", "b"]}, "ids has 2"),
        ({"success": [1]}, "give features=, images= or proprioception=: without any of them"),
        ({"success": [1], "images": {}}, "give features=, images= or proprioception="),
        ({"success": [1], "images": FILMS}, "images= maps names of cameras to frames, got a list"),
        ({"success": [], "images": {"front": []}}, "camera front has no episodes"),
        ({"success": [1], "images": {"front": FILMS[0]}}, "images .camera front. needs episode_en"),
        (
            {"success": [1], "images": {"front": FILMS[0]}, "episode_ends": [2]},
            "must end at the last of the 3 rows of camera front",
        ),
        (
            {"success": [1, 0], "images": {"front": FILMS}, "features": NUMBERS[:1]},
            "1 episodes of features, 2 of camera front",
        ),
        (
            {"success": [1, 0], "images": {"front": FILMS[::-1]}, "features": NUMBERS},
            "episode 0: 3 frames of features, 5 of camera front",
        ),
        (
            {"success": [1, 0], "images": {"a": FILMS, "b": FILMS[:1] * 2}, "ids": ["x", "y"]},
            "episode y: 5 frames of camera a, 3 of camera b",
        ),
        (
            {"success": [1, 0], "images": {"front": FILMS}, "proprioception": NUMBERS[::-1]},
            "episode 0: 5 frames of proprioception, 3 of camera front",
        ),
        (
            {"success": [1, 0], "proprioception": [NUMBERS[0], np.zeros(5)]},
            r"episode 1: proprioception have shape \(5,\), wanted \(frames, 2\)",
        ),
        (
            {"success": [1], "proprioception": [np.full((2, 2), np.nan)]},
            "episode 0: proprioception holds NaN or infinity at frame 0",
        ),
        (
            {"success": [1], "proprioception": np.zeros((2, 2))},
            "a flat array of proprioception needs episode_ends",
        ),
        (
            {"success": [1], "images": {"front": [FILMS[0].astype(float)]}, "ids": ["x"]},
            "episode x, camera front: images must be .* uint8, got .* float64",
        ),
        (
            {"success": [1], "images": {"front": [[FILMS[0][0], FILMS[0][0, :2]]]}},
            "episode 0, camera front: its frames differ in size",
        ),
        (
            {"success": [1], "images": {"front": [iter([FILMS[0][0], FILMS[0][0, :2]])]}},
            r"episode 0, camera front: frame 1 is \(2, 4, 3\), the ones before \(4, 4, 3\)",
        ),
        (
            {"success": [1], "images": {"front": [iter([FILMS[0][0], FILMS[0][0] / 255])]}},
            "episode 0, camera front: frame 1 must be .* uint8, got .* float64",
        ),
        (
            {"success": [1], "images": {"front": [iter([])]}, "ids": ["x"]},
            "episode x, camera front: no frames were generated",
        ),
    ],
)
def test_arrays_that_do_not_fit(arguments, message):
    with pytest.raises(RolloutError, match=message):
        from_arrays(**arguments)


def test_labels_are_asked_for_before_anything_is_generated():
    def never():
        raise AssertionError("generated for nothing")
        yield

    with pytest.raises(RolloutError, match="label of an episode is not guessed"):
        from_arrays(images={"front": never()})


@pytest.mark.parametrize("wrong", ["False", float("nan"), 0.3, None])
def test_only_true_and_false_are_labels(wrong):
    with pytest.raises(RolloutError, match="success must be true or false"):
        from_arrays([np.zeros((2, 1))], [wrong])


def test_goal_frames_must_fit():
    rollouts = from_arrays([np.zeros((4, 1)), np.zeros((2, 1))], [1, 1], goal_frames=[1, None])
    assert rollouts.goal_frames.tolist() == [1, 1]
    with pytest.raises(RolloutError, match="a time_out episode has no goal frame"):
        from_arrays([np.zeros((2, 1))], [False], goal_frames=[1])
    with pytest.raises(RolloutError, match="whole numbers"):
        from_arrays([np.zeros((3, 1))], [True], goal_frames=[1.7])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"episode_ends": [3, 6.4]}, "episode_ends must hold whole numbers, got 6.4"),
        ({"episode_ends": [3, np.nan]}, "episode_ends must hold whole numbers, got nan"),
        ({"episode_ends": [[3, 6]]}, r"episode_ends must be a list .*, got shape \(1, 2\)"),
        ({"episode_ends": [[3], [1, 6]]}, "episode_ends must be a list of whole numbers"),
        ({"episode_ends": ["3", "6"]}, "episode_ends must hold whole numbers, got '3'"),
        ({"goal_frames": [1.7, None]}, "goal_frames must hold whole numbers, got 1.7"),
        ({"goal_frames": [np.nan, None]}, "goal_frames must hold whole numbers, got nan"),
        ({"goal_frames": ["first", None]}, "goal_frames must hold whole numbers, got 'first'"),
    ],
)
def test_positions_are_whole_numbers(given, message):
    arguments = {"episode_ends": [3, 6], "success": [True, False], **given}
    with pytest.raises(RolloutError, match=message):
        from_arrays(np.zeros((6, 2)), **arguments)

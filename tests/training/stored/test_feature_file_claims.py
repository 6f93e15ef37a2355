"""Feature files that hold something else than they should, or claim more than there is."""

import io
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import goalward
from goalward.training.stored import npz_arrays
from goalward.training.stored.feature_file import read_features

FEATURES = np.arange(12, dtype=np.float32).reshape(6, 2)
ARRAYS = {"features": FEATURES, "episode_ends": [1, 4, 6], "outcomes": ["success"] * 3}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "features.npz"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"episode_ends": [[1, 4, 6]]}, r"episode_ends must be a list .*, got shape \(1, 3\)$"),
        ({"episode_ends": 6}, r"episode_ends must be a list of whole numbers, got shape \(\)$"),
        ({"episode_ends": [1, np.nan, 6]}, "episode_ends must hold whole numbers, got nan$"),
        ({"episode_ends": [1, 4, np.inf]}, "episode_ends must hold whole numbers, got inf$"),
        ({"episode_ends": [1, 4, 6.4]}, "episode_ends must hold whole numbers, got 6.4$"),
        ({"episode_ends": ["1", "4", "6"]}, "episode_ends must hold whole numbers, got '1'$"),
        ({"episode_ends": [1, 1, 6]}, "episode 1: has no frames$"),
        ({"goal_frames": ["a", "b", "c"]}, "goal_frames must hold whole numbers, got 'a'$"),
        ({"goal_frames": [0, 1.7, 1]}, "goal_frames must hold whole numbers, got 1.7$"),
        ({"goal_frames": [0, np.nan, 1]}, "goal_frames must hold whole numbers, got nan$"),
        ({"goal_frames": [[0, 1, 1]]}, "goal_frames must be a list of whole numbers, got shape"),
        ({"goal_frames": [0, -2, 1]}, "goal_frames holds -2; -1 is none$"),
        ({"goal_frames": [0, 3, 1]}, "episode 1: .*goal frame between 0 and 2, got 3$"),
        ({"outcomes": "success"}, r"outcomes must be one text per episode, got shape \(\)$"),
        ({"outcomes": [["success"] * 3]}, r"outcomes must be one text .* shape \(1, 3\)$"),
        ({"layout": 0}, "layout holds int64, not text$"),
        ({"outcomes": [1, 0, 1]}, "outcomes holds int64, not text$"),
        ({"ids": 3}, r"ids must be one text per episode, got shape \(\)$"),
        ({"tasks": "lift"}, r"tasks must be one text per episode, got shape \(\)$"),
        ({"features": np.full((6, 2), "a")}, "features are <U1, not numbers$"),
        ({"features": FEATURES + 0j}, "features are complex64, not numbers$"),
        ({"features": FEATURES * np.float64(1e300)}, "episode 0: features hold NaN or infinity"),
    ],
)
def test_what_is_no_number_is_named(path: Path, change, message: str):
    np.savez(path, **ARRAYS | change)
    with pytest.raises(goalward.GoalwardError, match=rf"features\.npz: {message}"):
        read_features(path)


def test_texts_may_be_bytes(path: Path):
    texts = {"ids": [b"a", b"b", b"c"], "outcomes": [b"success"] * 3, "layout": b"state"}
    np.savez(path, **ARRAYS | texts)
    rollouts = read_features(path)
    assert rollouts.ids == ("a", "b", "c")
    assert rollouts.feature_layout == "state"


def test_whole_numbers_may_be_floats(path: Path):
    np.savez(path, **ARRAYS | {"episode_ends": [1.0, 4.0, 6.0], "goal_frames": [-1.0, 1.0, 0.0]})
    assert read_features(path).goal_frames.tolist() == [0, 1, 0]


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("name", ["features", "episode_ends", "outcomes", "ids"])
def test_what_an_array_declares_must_be_there(path: Path, name: str, compression: int):
    np.savez(path, **ARRAYS | {"ids": ["a", "b", "c"]})
    header = {"descr": "<f4", "fortran_order": False, "shape": (75 << 20, 256)}
    replace(path, name, header, b"only this", compression)
    tracemalloc.start()
    with pytest.raises(
        goalward.GoalwardError,
        match=rf"features.npz: {name} declares \(78643200, 256\) float32, which are 80,530,636,800 "
        "bytes, and holds 9$",
    ):
        read_features(path)
    assert tracemalloc.get_traced_memory()[1] < 5e6
    tracemalloc.stop()


def test_what_does_not_fit_into_memory_is_not_tried(path: Path, monkeypatch: pytest.MonkeyPatch):
    zeros = np.zeros((1 << 18, 16), np.float32)
    arrays = ARRAYS | {"features": zeros, "episode_ends": [1, 4, len(zeros)]}
    np.savez_compressed(path, **arrays)
    monkeypatch.setattr(npz_arrays, "_memory_bytes", lambda: 1 << 20)
    with pytest.raises(goalward.GoalwardError, match=r"features declares .* GiB, more than this"):
        read_features(path)
    np.savez(path, **arrays)
    assert read_features(path).num_frames == len(zeros)


def test_a_few_bytes_may_not_ask_for_much_memory(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(npz_arrays, "_LARGE_BYTES", 1 << 20)
    np.savez_compressed(path, **ARRAYS | {"ids": np.array(["a" * (1 << 20), "b", "c"])})
    tracemalloc.start()
    with pytest.raises(goalward.GoalwardError, match=r"ids declares .* no recording can be"):
        read_features(path)
    assert tracemalloc.get_traced_memory()[1] < 5e6
    tracemalloc.stop()


def test_arrays_of_other_names_are_not_read(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(npz_arrays, "_LARGE_BYTES", 1 << 20)
    np.savez_compressed(path, **ARRAYS | {"others": np.zeros(1 << 22)})
    assert read_features(path).num_frames == 6


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_array_that_is_there_twice_is_refused(path: Path):
    np.savez(path, **ARRAYS)
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.array(["failure"] * 3))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("outcomes.npy", buffer.getvalue())
    with pytest.raises(goalward.GoalwardError, match=r"features\.npz: holds outcomes twice"):
        read_features(path)


def test_an_array_may_not_reach_into_the_next(path: Path):
    """A map of the file would show the numbers of whatever follows."""
    np.savez(path, **ARRAYS | {"ids": ["a", "b", "c"]})
    header = {"descr": "<f4", "fortran_order": False, "shape": (6, 3)}
    replace(path, "features", header, FEATURES.tobytes(), zipfile.ZIP_STORED)
    with pytest.raises(goalward.GoalwardError, match=r"features declares \(6, 3\) .* holds 48$"):
        read_features(path)


def replace(path: Path, name: str, header: dict, content: bytes, compression: int) -> None:
    """Another array of this name in the archive, with any header."""
    with zipfile.ZipFile(path) as archive:
        members = {entry: archive.read(entry) for entry in archive.namelist()}
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, header)
    members[f"{name}.npy"] = buffer.getvalue() + content
    with zipfile.ZipFile(path, "w", compression) as archive:
        for entry, stored in members.items():
            archive.writestr(entry, stored)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000), compressed=st.booleans())
def test_damage_is_named_or_harmless(path: Path, seed: int, compressed: bool):
    (np.savez_compressed if compressed else np.savez)(path, **ARRAYS)
    rng = np.random.default_rng(seed)
    content = bytearray(path.read_bytes())
    for position in rng.integers(len(content), size=rng.integers(1, 6)):
        content[position] = rng.integers(256)
    path.write_bytes(content[: None if rng.random() < 0.8 else rng.integers(len(content))])
    try:
        assert len(read_features(path)) > 0
    except goalward.GoalwardError as error:
        assert "features.npz" in str(error)

"""The cache: found again by what the frames are, and only then; every kind of damage is noticed."""

import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from rollout_files.lerobot import make_episode, write_lerobot
from rollout_files.small_encoder import WIDTH, noise, picture_rollouts, small_encoder
from rollout_files.vision_models import put_into_hub_cache
from safetensors.numpy import load_file

import goalward
from goalward import Episode, GoalwardError, Outcome, Rollouts
from goalward.embeddings.cache.encoder_cache import DamagedEntry, EncoderCache, cache_folder
from goalward.embeddings.encoders import ENCODERS, HubEncoder
from goalward.leftovers import writer_mark
from goalward.rollouts.frames import ArrayFrames

ROLLOUTS = picture_rollouts([5, 17, 3])
FINGERPRINTS = [episode.cameras["front"].fingerprint() for episode in ROLLOUTS]


@pytest.fixture
def filled(embed_with_report) -> tuple[EncoderCache, bytes]:
    """A cache with three clips, and the features that come from it."""
    embedded, _ = embed_with_report(ROLLOUTS, small_encoder())
    return EncoderCache.of(small_encoder()), embedded.features.tobytes()


def test_a_second_run_reads(embed_with_report, filled):
    embedded, report = embed_with_report(ROLLOUTS, small_encoder())
    assert (report.num_frames, report.num_from_cache, report.num_encoded) == (25, 25, 0)
    assert embedded.features.tobytes() == filled[1]


def test_what_a_killed_process_left_goes_though_nothing_is_missing(embed_with_report, filled):
    """A claim that nobody holds, a file half written; a claim that somebody holds stays."""
    store, _ = filled
    left = store.folder / "claims" / ("0" * 32)
    left.parent.mkdir(exist_ok=True)
    left.touch()
    dead = subprocess.Popen(["true"])
    dead.wait()
    mark = writer_mark().replace(f"-{os.getpid()}", f"-{dead.pid}")
    half = store.folder / f".encoder.json.{mark}-abcd.json"
    half.touch()
    held = store.claim("1" * 32)
    embed_with_report(ROLLOUTS, small_encoder())
    assert [path.name for path in left.parent.iterdir()] == ["1" * 32]
    assert not half.exists()
    assert held is not None
    held.drop()


def test_files_are_named_by_their_frames_and_say_what_they_are(filled, cache: Path):
    store, features = filled
    assert store.folder == cache / "embeddings" / f"small-global-{small_encoder().key}"
    files = {str(path.relative_to(store.folder)) for path in store.folder.rglob("*.*")}
    names = [f"{f[:2]}/{f}.safetensors" for f in FINGERPRINTS]
    assert files == {"encoder.json", *names}
    assert json.loads((store.folder / "encoder.json").read_text()) == {
        "encoder": "tests/small",
        "revision": "1" * 40,
        "pool": "global",
        "precision": "float",
        "key": small_encoder().key,
    }
    vectors = [load_file(store.folder / name)["embeddings"] for name in names]
    assert np.concatenate(vectors).tobytes() == features
    assert vectors[0].shape == (5, WIDTH)


@pytest.mark.parametrize("other", [small_encoder(revision="2" * 40)])
def test_another_encoder_finds_nothing(embed_with_report, filled, other):
    _, report = embed_with_report(ROLLOUTS, other)
    assert report.num_encoded == 25


def test_frames_that_are_in_the_data_set_twice_are_encoded_once(embed_with_report):
    episodes = [
        Episode(str(i), 5, Outcome.TIME_OUT, cameras={"a": ArrayFrames(noise(5, seed=i // 2))})
        for i in range(4)
    ]
    embedded, report = embed_with_report(Rollouts(episodes), small_encoder())
    assert report.num_encoded == 10
    assert np.array_equal(embedded.features[:5], embedded.features[5:10])


# ---- data sets that move and change --------------------------------------------------------------


@pytest.fixture(scope="module")
def data_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    episodes = [make_episode(6 + i, seed=i, cameras=("front", "wrist")) for i in range(3)]
    return write_lerobot(tmp_path_factory.mktemp("here") / "rollouts", episodes)


def test_a_data_set_that_moved_finds_its_embeddings(embed_with_report, data_set: Path, tmp_path):
    first, _ = embed_with_report(goalward.read(data_set), small_encoder())
    moved = shutil.copytree(data_set, tmp_path / "elsewhere" / "another name")
    second, report = embed_with_report(goalward.read(moved), small_encoder())
    assert (report.num_encoded, report.num_from_cache) == (0, 2 * 21)
    assert second.features.tobytes() == first.features.tobytes()


def test_a_part_of_a_data_set_finds_its_embeddings(embed_with_report, data_set: Path):
    first, _ = embed_with_report(goalward.read(data_set, cameras=["front"]), small_encoder())
    both, report = embed_with_report(goalward.read(data_set)[1:], small_encoder())
    assert (report.num_encoded, report.num_from_cache) == (15, 15)
    assert np.array_equal(both.features[:, :WIDTH], first.features[6:, :WIDTH])


def test_a_changed_video_does_not(embed_with_report, data_set: Path, tmp_path: Path):
    embed_with_report(goalward.read(data_set), small_encoder())
    episodes = [make_episode(6 + i, seed=i, cameras=("front", "wrist")) for i in range(3)]
    episodes[1].pictures["wrist"][4] = 255 - episodes[1].pictures["wrist"][4]
    written = write_lerobot(tmp_path / "written", episodes)
    changed = tmp_path / "rollouts"
    shutil.copytree(data_set, changed)
    # The video of that camera alone: a coder does not always give the same bytes twice.
    (video,) = (path for path in written.rglob("*.mp4") if "wrist" in str(path))
    shutil.copyfile(video, changed / video.relative_to(written))
    _, report = embed_with_report(goalward.read(changed), small_encoder())
    # Nothing but the seven frames of that episode and camera, and what is coded with them.
    assert 7 <= report.num_encoded + report.num_unchanged <= 21
    assert report.num_from_cache >= 21


# ---- damage --------------------------------------------------------------------------------------


def with_header(change: Callable[[dict], object]) -> Callable[[bytes], bytes]:
    def changed(content: bytes) -> bytes:
        (size,) = struct.unpack("<Q", content[:8])
        header = json.loads(content[8 : 8 + size])
        new = json.dumps(change(header) or header).encode()
        return struct.pack("<Q", len(new)) + new + content[8 + size :]

    return changed


def set_entry(**changes: object) -> Callable[[bytes], bytes]:
    return with_header(lambda header: header["embeddings"].update(changes))


def with_flipped_byte(position: int) -> Callable[[bytes], bytes]:
    def flipped(content: bytes) -> bytes:
        changed = bytearray(content)
        changed[position] ^= 0x10
        return bytes(changed)

    return flipped


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "cut by a byte": lambda content: content[:-1],
    "cut in half": lambda content: content[: len(content) // 2],
    "cut in the header": lambda content: content[:20],
    "cut in the length": lambda content: content[:3],
    "empty": lambda content: b"",
    "longer": lambda content: content + b"\0",
    "text": lambda content: b"no embeddings at all, only text",
    "flipped last byte": with_flipped_byte(-1),
    "flipped length": with_flipped_byte(0),
    "zeros": lambda content: bytes(len(content)),
    "other rows": set_entry(shape=[2 * 17, WIDTH // 2]),
    "rows below zero": set_entry(shape=[-17, -WIDTH]),
    "rows without end": set_entry(shape=[float("inf"), WIDTH]),
    "no rows": set_entry(shape=[0, WIDTH], data_offsets=[0, 0]),
    "one axis": set_entry(shape=[17 * WIDTH]),
    "float32": set_entry(dtype="F32"),
    "bfloat16": set_entry(dtype="BF16"),
    "offsets elsewhere": set_entry(data_offsets=[1, 17 * WIDTH * 2 + 1]),
    "offsets below zero": set_entry(data_offsets=[-17 * WIDTH * 2, 0]),
    "offsets of text": set_entry(data_offsets=["a", "b"]),
    "no tensor": with_header(lambda header: header.pop("embeddings") and header),
    "no facts": with_header(lambda header: header.pop("__metadata__") and header),
    "facts of nothing": with_header(lambda h: h["__metadata__"].update(goalward="[]")),
    "a list": with_header(lambda header: [header]),
    "a deep list": lambda content: struct.pack("<Q", 50_000) + b"[" * 50_000,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_noticed_and_made_again(damage, embed_with_report, filled):
    store, features = filled
    path = store.path(FINGERPRINTS[1])
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    embedded, report = embed_with_report(ROLLOUTS, small_encoder())
    assert (report.num_rebuilt_clips, report.num_encoded, report.num_from_cache) == (1, 17, 8)
    assert embedded.features.tobytes() == features
    assert path.read_bytes() == whole


@pytest.mark.timeout(120)
def test_a_pipe_in_place_of_a_file_is_not_waited_for(embed_with_report, filled):
    store, features = filled
    path = store.path(FINGERPRINTS[1])
    whole = path.read_bytes()
    path.unlink()
    os.mkfifo(path)
    embedded, report = embed_with_report(ROLLOUTS, small_encoder())
    assert report.num_rebuilt_clips == 1
    assert embedded.features.tobytes() == features
    assert path.read_bytes() == whole


def test_a_file_of_other_frames_under_this_name_is_noticed(embed_with_report):
    two = picture_rollouts([5, 5])
    wanted, _ = embed_with_report(two, small_encoder())
    store = EncoderCache.of(small_encoder())
    first, second = (store.path(e.cameras["front"].fingerprint()) for e in two)
    shutil.copy(first, second)
    embedded, report = embed_with_report(two, small_encoder())
    assert report.num_rebuilt_clips == 1
    assert embedded.features.tobytes() == wanted.features.tobytes()


def test_no_flipped_byte_changes_an_embedding(filled):
    store, _ = filled
    path = store.path(FINGERPRINTS[2])
    whole = path.read_bytes()
    wanted = store.read(FINGERPRINTS[2], 3).tobytes()
    num_noticed = 0
    for position in range(len(whole)):
        path.write_bytes(with_flipped_byte(position)(whole))
        try:
            assert store.read(FINGERPRINTS[2], 3).tobytes() == wanted
        except DamagedEntry as error:
            assert str(path) in str(error)
            num_noticed += 1
    # Not noticed, and no harm: the words of the facts that nobody reads.
    assert num_noticed > 0.75 * len(whole)


# ---- places --------------------------------------------------------------------------------------


def test_where_the_cache_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder("~/mine") == tmp_path / "mine"
    monkeypatch.setenv("GOALWARD_CACHE", "~/theirs")
    assert cache_folder() == tmp_path / "theirs"
    monkeypatch.delenv("GOALWARD_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "platform"))
    if sys.platform == "linux":
        assert cache_folder() == tmp_path / "platform" / "goalward"


def test_a_place_that_is_no_folder_is_named(tmp_path: Path, embed_with_report):
    (tmp_path / "file").write_text("")
    with pytest.raises(GoalwardError, match=f"{tmp_path}/file/.*: cannot be read .Not a"):
        embed_with_report(ROLLOUTS, small_encoder(), cache=tmp_path / "file")


def test_use_is_noted(embed_with_report, filled):
    path = filled[0].path(FINGERPRINTS[0])
    os.utime(path, (1, 1))
    embed_with_report(ROLLOUTS[:1], small_encoder())
    assert path.stat().st_mtime > 1e9


FROM_THE_CACHE_ALONE = """
import sys, goalward
from goalward.embeddings.embed import embed
reports = []
embedded = embed(goalward.read(sys.argv[1]), "clip", on_finish=reports.append)
assert reports[0].num_encoded == 0, reports
heavy = {"torch", "transformers", "huggingface_hub", "onnxruntime"} & set(sys.modules)
assert not heavy, heavy
sys.stdout.buffer.write(embedded.features.tobytes())
"""


def test_what_is_cached_needs_neither_the_model_nor_its_libraries(
    embed_with_report, data_set: Path, model_folder, empty_hub: Path
):
    known = ENCODERS["clip"]
    assert isinstance(known, HubEncoder)
    put_into_hub_cache(empty_hub, known.hub_id, model_folder("clip"), known.revision)
    first, _ = embed_with_report(goalward.read(data_set), "clip")
    shutil.rmtree(empty_hub)
    second = subprocess.run(
        [sys.executable, "-c", FROM_THE_CACHE_ALONE, str(data_set)], capture_output=True, check=True
    )
    assert second.stdout == first.features.tobytes()

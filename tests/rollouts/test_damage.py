"""Damaged copies of data sets: what is intact is read correctly, the rest is an error with a name.

Nothing else may happen: no other exception, no hang, no wrong outcome, no wrong number. Video
payload carries no checksum, so a flipped bit there can change pixels that no reader can tell
from the original; all other frames must still be right.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from rollout_files.lerobot import make_episode, write_lerobot

import goalward
from goalward import RolloutError

NUM_EPISODES = 4
COPIES_PER_SET = 80
SETS = [
    (version, pictures_as, codec)
    for version in ("v3.0", "v2.1")
    for pictures_as, codec in (("video", "h264"), ("video", "av1"), ("image", "h264"))
]


def flip_bits(path: Path, rng: np.random.Generator) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(rng.integers(1, 4)):
        content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
    path.write_bytes(content)


def cut(path: Path, rng: np.random.Generator) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: rng.integers(len(content))])


def blank(path: Path, rng: np.random.Generator) -> None:
    content = bytearray(path.read_bytes())
    start = int(rng.integers(len(content)))
    content[start : start + 32] = bytes(len(content[start : start + 32]))
    path.write_bytes(content)


def remove(path: Path, rng: np.random.Generator) -> None:
    path.unlink()


def drop_part(path: Path, rng: np.random.Generator) -> None:
    """A column of a table, a key of a json object, a line of a list."""
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        name = table.column_names[rng.integers(table.num_columns)]
        pq.write_table(table.drop_columns([name]), path)
    elif path.suffix == ".json":
        content = json.loads(path.read_text())
        part = content["features"] if rng.random() < 0.5 else content
        del part[list(part)[rng.integers(len(part))]]
        path.write_text(json.dumps(content))
    elif path.suffix == ".jsonl":
        lines = path.read_text().splitlines()
        row = json.loads(lines[0])
        del row[list(row)[rng.integers(len(row))]]
        path.write_text("\n".join([json.dumps(row), *lines[1:]]))
    else:
        cut(path, rng)


DAMAGES = (flip_bits, flip_bits, cut, blank, remove, drop_part)


@pytest.mark.parametrize(("version", "pictures_as", "codec"), SETS)
def test_damaged_copies(tmp_path: Path, version: str, pictures_as: str, codec: str):
    original = write_lerobot(
        tmp_path / "original",
        [make_episode(4 + i, i % 2 == 0, seed=i) for i in range(NUM_EPISODES)],
        version=version,
        pictures_as=pictures_as,
        codec=codec,
    )
    truth = {
        episode.id: (episode, list(episode.frames("front"))) for episode in goalward.read(original)
    }
    files = sorted(path.relative_to(original) for path in original.rglob("*") if path.is_file())
    rng = np.random.default_rng(SETS.index((version, pictures_as, codec)))
    read_some = refused = 0
    for number in range(COPIES_PER_SET):
        copy = tmp_path / f"copy{number}"
        shutil.copytree(original, copy)
        damaged = files[rng.integers(len(files))]
        DAMAGES[rng.integers(len(DAMAGES))](copy / damaged, rng)
        try:
            rollouts = goalward.read(copy)
        except RolloutError as error:
            assert str(copy) in str(error)
            refused += 1
        else:
            read_some += 1
            check_what_was_read(rollouts, truth, copy, damaged)
        shutil.rmtree(copy)
    assert read_some > 5
    assert refused > 5


def check_what_was_read(rollouts, truth, copy: Path, damaged: Path) -> None:
    assert len(rollouts) + len(rollouts.left_out) <= NUM_EPISODES
    said = " ".join([*rollouts.warnings, *(left_out.reason for left_out in rollouts.left_out)])
    if len(rollouts) < NUM_EPISODES:
        assert said, "episodes vanished without a word"
    for episode in rollouts:
        original, pictures = truth[episode.id]
        assert episode.num_frames == original.num_frames
        assert episode.outcome is original.outcome
        assert episode.goal_frame == original.goal_frame
        if episode.proprioception.shape[1] == 0:
            assert "observation.state" in said
        else:
            assert np.array_equal(episode.proprioception, original.proprioception)
        if not episode.cameras:
            assert "observation.images.front" in said
            continue
        try:
            frames = list(episode.frames(next(iter(episode.cameras))))
        except RolloutError as error:
            assert str(copy) in str(error)
            continue
        assert len(frames) == len(pictures)
        if damaged.suffix != ".mp4":
            assert all(np.array_equal(a, b) for a, b in zip(frames, pictures, strict=True))


def test_damage_in_a_video_stays_where_it_is(tmp_path: Path):
    """Key frames every two frames: a flipped bit touches two frames and no other."""
    original = write_lerobot(tmp_path / "a", [make_episode(20, True), make_episode(20, False)])
    pictures = [f for episode in goalward.read(original) for f in episode.frames("front")]
    path = original / "videos/observation.images.front/chunk-000/file-000.mp4"
    content = path.read_bytes()
    payload = content.find(b"mdat") + 4
    rng = np.random.default_rng(1)
    changed = 0
    for _ in range(60):
        damaged = bytearray(content)
        damaged[rng.integers(payload, len(content) // 2)] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        for episode in goalward.read(original):
            offset = 0 if episode.id == "0" else 20
            wrong = []
            for index in range(20):
                try:
                    frame = episode.frame("front", index)
                except RolloutError as error:
                    assert "file-000.mp4" in str(error)
                    wrong.append(index)
                else:
                    if not np.array_equal(frame, pictures[offset + index]):
                        wrong.append(index)
            changed += len(wrong)
            assert len(wrong) <= 4
    assert changed

"""HDF5 files with bytes changed, cut off or zeroed: read right or refused, and nothing else."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rollout_files import hdf5

from goalward.errors import RolloutError
from goalward.rollouts.readers import read

GOOD = {"demo_0": hdf5.robomimic_demo(), "demo_2": hdf5.robomimic_demo(6, None, 2)}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("library_version", [None, "latest"])
def test_a_text_heap_full_of_zeros_is_refused(tmp_path: Path, library_version: str | None):
    path = hdf5.write(tmp_path / "a.hdf5", GOOD, library_version=library_version)
    content = path.read_bytes()
    start = content.index(b"GCOL")
    path.write_bytes(content[: start + 16] + bytes(4080) + content[start + 4096 :])
    with pytest.raises(RolloutError, match=r"a\.hdf5: .*text heap at byte \d+ is damaged"):
        read(path)


@pytest.mark.parametrize("size", [0, 15, 1 << 40])
def test_a_text_heap_of_impossible_size_is_refused(tmp_path: Path, size: int):
    path = hdf5.write(tmp_path / "a.hdf5", GOOD)
    content = path.read_bytes()
    start = content.index(b"GCOL") + 8
    path.write_bytes(content[:start] + size.to_bytes(8, "little") + content[start + 8 :])
    with pytest.raises(RolloutError, match=rf"a\.hdf5: .*text heap at byte \d+ claims {size}"):
        read(path)


def _damaged(content: bytes, generator: np.random.Generator) -> bytes:
    """A few bytes changed, or the end cut off, or a hole of zeros."""
    changed = bytearray(content)
    kind = generator.integers(0, 8)
    if kind == 0:
        return content[: generator.integers(0, len(content))]
    start = int(generator.integers(0, len(content)))
    if kind == 1:
        stop = min(len(content), start + int(generator.integers(1, 600)))
        changed[start:stop] = bytes(stop - start)
        return bytes(changed)
    for _ in range(generator.integers(1, 5)):
        changed[generator.integers(0, len(content))] ^= int(generator.integers(1, 256))
    return bytes(changed)


def _read_everything(path: Path) -> dict[str, tuple[Any, ...]] | None:
    """All that can be had from the file, None if it was refused as it should be."""
    everything: dict[str, tuple[Any, ...]] = {}
    try:
        rollouts = read(path)
    except RolloutError as error:
        assert path.name in str(error)
        return None
    for episode in rollouts:
        try:
            frames = np.array(list(episode.frames("agentview_image")))
        except RolloutError as error:
            assert path.name in str(error) or "no camera" in str(error)
            continue
        everything[episode.id] = (frames, episode.proprioception, episode.goal_frame)
    return everything


@pytest.mark.parametrize("seed", range(80))
def test_a_damaged_file_with_checksums_is_read_right_or_refused(tmp_path: Path, seed: int):
    path = tmp_path / "a.hdf5"
    hdf5.write(path, GOOD, library_version="latest", fletcher32=True, compression="gzip")
    intact = _read_everything(path)
    assert intact is not None
    path.write_bytes(_damaged(path.read_bytes(), np.random.default_rng(seed)))
    for name, content in (_read_everything(path) or {}).items():
        for found, expected in zip(content, intact[name], strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(80))
def test_a_damaged_file_without_checksums_is_never_a_crash(tmp_path: Path, seed: int):
    path = hdf5.write_robomimic(tmp_path / "a.hdf5", GOOD)
    path.write_bytes(_damaged(path.read_bytes(), np.random.default_rng(seed)))
    for frames, proprioception, _ in (_read_everything(path) or {}).values():
        assert len(frames) == len(proprioception)

"""Fingerprints of frames that are not video: equal for equal bytes, and for nothing else."""

import re
from pathlib import Path

import h5py
import numpy as np
import pytest
from rollout_files.hdf5 import pictures
from rollout_files.lerobot import as_png, make_episode, write_lerobot

import goalward
from goalward import RolloutError
from goalward.rollouts.frames import ArrayFrames, EncodedFrames, FlippedFrames
from goalward.rollouts.readers.hdf5.frames import Hdf5Frames

PICTURES = pictures(7, seed=0)


def array_fingerprint(frames: np.ndarray) -> str:
    return ArrayFrames(frames).fingerprint()


def encoded(images: list[bytes], num_frames: int | None = None) -> EncodedFrames:
    return EncodedFrames(lambda: images, num_frames or len(images), "images")


def test_a_fingerprint_is_32_hexadecimal_digits_and_always_the_same():
    fingerprint = array_fingerprint(np.zeros((1, 2, 2, 3), np.uint8))
    assert re.fullmatch("[0-9a-f]{32}", fingerprint)
    # A cache on disk outlives the version that wrote it.
    assert fingerprint == "291b54bfe9f74c2c0c7ead49c21f027e"


def test_arrays_count_by_their_pixels_not_by_how_they_lie_in_memory(tmp_path: Path):
    expected = array_fingerprint(PICTURES)
    on_disk = np.memmap(tmp_path / "x", np.uint8, "w+", shape=PICTURES.shape)
    on_disk[:] = PICTURES
    by_columns = np.asfortranarray(PICTURES)
    every_other = np.repeat(PICTURES, 2, axis=0)[::2]
    for same in (PICTURES.copy(), on_disk, by_columns, every_other):
        assert array_fingerprint(same) == expected
    assert ArrayFrames(PICTURES, where="elsewhere").fingerprint() == expected


def test_every_change_of_an_array_is_another_fingerprint():
    changed = PICTURES.copy()
    changed[6, 7, 8, 2] ^= 1
    turned = PICTURES.reshape(7, 9, 8, 3)
    fewer, backwards = PICTURES[:-1], PICTURES[::-1]
    arrays = [PICTURES, changed, turned, fewer, backwards, PICTURES[:, ::-1], PICTURES[:, :, ::-1]]
    assert len({array_fingerprint(frames) for frames in arrays}) == len(arrays)


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch):
    expected = array_fingerprint(PICTURES)
    for block_bytes in (1, 2 * PICTURES[0].size, 5 * PICTURES[0].size - 1):
        monkeypatch.setattr("goalward.rollouts.frames._BLOCK_BYTES", block_bytes)
        assert array_fingerprint(PICTURES) == expected


@pytest.mark.parametrize("storage", [{}, {"chunks": (2, 8, 9, 3), "compression": "gzip"}])
def test_hdf5_and_arrays_agree(tmp_path: Path, storage: dict, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("goalward.rollouts.readers.hdf5.frames.FRAMES_PER_READ", 3)
    path = tmp_path / "demos.hdf5"
    with h5py.File(path, "w") as file:
        file.create_dataset("data/front", data=PICTURES, **storage)
    frames = Hdf5Frames(path, "data/front", 7, 8, 9)
    assert frames.fingerprint() == array_fingerprint(PICTURES)
    path.rename(tmp_path / "moved.hdf5")
    with pytest.raises(RolloutError, match="demos.hdf5"):
        frames.fingerprint()


def test_images_count_by_their_stored_bytes():
    images = [as_png(picture) for picture in PICTURES]
    expected = encoded(images).fingerprint()
    assert encoded(list(images)).fingerprint() == expected
    # The same bytes, divided in another way.
    shifted = [images[0] + images[1][:9], images[1][9:], *images[2:]]
    longer = [images[0] + b"\0", *images[1:]]
    variants = [shifted, longer, images[:-1], images[::-1]]
    found = {encoded(variant).fingerprint() for variant in variants}
    assert len(found | {expected, array_fingerprint(PICTURES)}) == len(variants) + 2


def test_a_lost_image_is_an_error():
    with pytest.raises(RolloutError, match="images: 1 images for 2 frames"):
        encoded([b"x"], 2).fingerprint()


def test_flipped_frames_are_other_frames():
    stored = ArrayFrames(PICTURES)
    once, twice = FlippedFrames(stored), FlippedFrames(FlippedFrames(stored))
    assert once.fingerprint() == FlippedFrames(ArrayFrames(PICTURES.copy())).fingerprint()
    assert len({source.fingerprint() for source in (stored, once, twice)}) == 3


@pytest.mark.parametrize(
    ("version", "pictures_as"), [("v3.0", "video"), ("v2.1", "video"), ("v2.1", "image")]
)
def test_every_episode_and_camera_has_its_own(tmp_path: Path, version: str, pictures_as: str):
    episodes = [make_episode(6, True, cameras=("front", "wrist"), seed=s) for s in range(3)]
    fingerprints = []
    for name in ("a", "b"):
        root = write_lerobot(tmp_path / name, episodes, version=version, pictures_as=pictures_as)
        fingerprints.append(
            [
                source.fingerprint()
                for episode in goalward.read(root)
                for source in episode.cameras.values()
            ]
        )
    assert fingerprints[0] == fingerprints[1]
    assert len(set(fingerprints[0])) == 6

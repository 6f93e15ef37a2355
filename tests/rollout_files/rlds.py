"""Writes RLDS data sets as TFRecord files, from the specification and with none of our code."""

import io
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

Feature = Sequence[Any] | npt.NDArray[Any]


def _crc_table() -> list[int]:
    table: list[int] = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


_CRC_TABLE = _crc_table()


def masked_crc32c(content: bytes) -> bytes:
    crc = 0xFFFFFFFF
    for byte in content:
        crc = crc >> 8 ^ _CRC_TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def framed(content: bytes) -> bytes:
    """One record as it lies in the file."""
    length = struct.pack("<Q", len(content))
    return length + masked_crc32c(length) + content + masked_crc32c(content)


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def _message(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def example(features: Mapping[str, Feature]) -> bytes:
    """A tf.train.Example; lists of bytes, of float and of int keep their kind."""
    entries = b""
    for key, values in features.items():
        entry = _message(1, key.encode()) + _message(2, _feature(list(values)))
        entries += _message(1, entry)
    return _message(1, entries)


def _feature(values: list[Any]) -> bytes:
    if values and isinstance(values[0], bytes):
        return _message(1, b"".join(_message(1, value) for value in values))
    if values and isinstance(values[0], float | np.floating):
        return _message(2, _message(1, struct.pack(f"<{len(values)}f", *values)))
    return _message(3, _message(1, b"".join(_varint(int(value)) for value in values)))


def png(picture: npt.NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def jpeg(picture: npt.NDArray[np.uint8]) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "JPEG")
    return buffer.getvalue()


@dataclass
class WrittenEpisode:
    """One episode: what is in it, and the features that say so."""

    pictures: dict[str, npt.NDArray[np.uint8]]
    state: npt.NDArray[np.float32]
    features: dict[str, Feature] = field(default_factory=dict)

    def encoded(self) -> bytes:
        return example(self.features)


def make_episode(
    num_frames: int,
    success: bool | None = True,
    *,
    cameras: Sequence[str] = ("image_0",),
    seed: int = 0,
    size: int = 8,
    state_size: int = 3,
    terminal: bool = True,
    encode: Any = png,
    **more: Feature,
) -> WrittenEpisode:
    """An episode of the usual shape; `more` sets features, with __ for / and () to drop one."""
    rng = np.random.default_rng(seed)
    pictures = {
        camera: rng.integers(0, 256, (num_frames, size, size, 3), dtype=np.uint8)
        for camera in cameras
    }
    state = rng.normal(size=(num_frames, state_size)).astype(np.float32)
    last = [0] * (num_frames - 1) + [1]
    features: dict[str, Feature] = {
        "steps/is_first": last[::-1],
        "steps/is_last": last,
        "steps/is_terminal": [flag * terminal for flag in last],
        "steps/discount": [1.0] * num_frames,
        "steps/reward": [0.0] * num_frames,
        "steps/action": rng.normal(size=num_frames * 7).astype(np.float32),
        "steps/language_instruction": [b"stack the cubes"] * num_frames,
        "steps/observation/state": state.ravel(),
    }
    for camera, shown in pictures.items():
        features[f"steps/observation/{camera}"] = [encode(picture) for picture in shown]
    if success is not None:
        features["episode_metadata/success"] = [int(success)]
    for name, values in more.items():
        features[name.replace("__", "/")] = values
    kept = {key: values for key, values in features.items() if len(values)}
    return WrittenEpisode(pictures, state, kept)


def write_records(path: Path, contents: Sequence[bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(framed(content) for content in contents))
    return path


def write_data_set(
    folder: Path,
    episodes: Sequence[WrittenEpisode],
    *,
    num_shards: int = 1,
    split: str = "train",
    with_info: bool = True,
) -> Path:
    """name/1.0.0 as TFDS writes it; episodes are spread over the files in order."""
    shards = [list(part) for part in np.array_split(np.arange(len(episodes)), num_shards)]
    for number, part in enumerate(shards):
        name = f"toy-{split}.tfrecord-{number:05d}-of-{num_shards:05d}"
        write_records(folder / name, [episodes[index].encoded() for index in part])
    if with_info:
        lengths = [str(len(part)) for part in shards]
        info = {"name": "toy", "splits": [{"name": split, "shardLengths": lengths}]}
        (folder / "dataset_info.json").write_text(json.dumps(info))
        (folder / "features.json").write_text("{}")
    return folder

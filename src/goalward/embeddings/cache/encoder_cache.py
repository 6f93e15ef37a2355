"""Embeddings on disk: one file per clip and encoder, named by what the frames are.

    <cache>/embeddings/<encoder>-<pool>-<key>/encoder.json
    <cache>/embeddings/<encoder>-<pool>-<key>/3f/3f6a...c1.safetensors
    <cache>/embeddings/<encoder>-<pool>-<key>/te/text-90b2...7d.safetensors      (a task's text)
    <cache>/embeddings/<encoder>-<pool>-<key>/network.onnx                       (in 8 bits alone)

The name of a file is the fingerprint of its frames: a data set that is moved, renamed or read in
another format finds its embeddings again, a changed video does not. A file takes its name when it
is whole, so that a kill loses only what was under way, and two processes never see each other's
halves. Each file carries a checksum.

A cache in a store (`GOALWARD_CACHE=s3://bucket/cache`) has the same names there. Stores have no
locks: two machines may embed the same clip, and the second to finish writes the same bytes again.
"""

import contextlib
import errno
import json
import mmap
import os
import re
import struct
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file

from goalward.embeddings.cache.claims import WorkClaim, claim
from goalward.embeddings.encoders import Encoder
from goalward.errors import GoalwardError
from goalward.files import written_whole
from goalward.leftovers import sweep
from goalward.rollouts.frames import FrameSource
from goalward.stores.keeping import bring, bring_all, check_can_keep, discard, is_kept, keep
from goalward.stores.place import StoredPath
from goalward.urls import as_url, without_file_protocol

HalfVectors = npt.NDArray[np.float16]

ROOM = "embeddings"
ABOUT = "encoder.json"
CLAIMS = "claims"
# An encoder in 8 bits (`eight_bit_files.py`).
NETWORK = "network.onnx"
SUFFIX = ".safetensors"
# Begins the name of a text's vector, which lies among the clips.
TEXT_PREFIX = "text-"
_TENSOR = "embeddings"
_FACTS = "goalward"
_MAX_HEADER_BYTES = 1 << 16


class DamagedEntry(Exception):
    """A file of the cache that is not what it should be."""


def cache_folder(folder: str | Path | None = None) -> Path:
    """Where the cache lies: as given, else `GOALWARD_CACHE`, else the platform's place for it.

    One in a store has a folder of this machine in front of it.
    """
    named = os.environ.get("GOALWARD_CACHE") if folder is None else folder
    if named:
        url = as_url(named)
        if url is None:
            return without_file_protocol(named).expanduser()
        check_can_keep(url)
        return StoredPath.of(url)
    import platformdirs

    return Path(platformdirs.user_cache_dir("goalward", appauthor=False))


@dataclass(frozen=True)
class Wanted:
    """A clip of the data set, known by what its frames are."""

    episode_id: str
    camera: str
    frames: FrameSource
    fingerprint: str


@dataclass(frozen=True)
class EncoderCache:
    """The embeddings of one encoder."""

    folder: Path
    encoder: Encoder

    @classmethod
    def of(cls, encoder: Encoder, cache: str | Path | None = None) -> "EncoderCache":
        readable = re.sub(r"[^A-Za-z0-9.]+", "-", encoder.id.rsplit("/", 1)[-1]).strip("-.")
        name = f"{readable[:60]}-{encoder.pool}-{encoder.key}"
        return cls(cache_folder(cache) / ROOM / name, encoder)

    def path(self, fingerprint: str) -> Path:
        return self.folder / fingerprint[:2] / f"{fingerprint}{SUFFIX}"

    def has(self, fingerprint: str) -> bool:
        path = self.path(fingerprint)
        return path.exists() or (isinstance(path, StoredPath) and is_kept(path))

    def bring(self, fingerprints: Iterable[str]) -> None:
        """Fetch what a store has of these entries, many at a time, before they are read."""
        if isinstance(self.folder, StoredPath):
            bring_all(self.folder, [self.path(fingerprint) for fingerprint in fingerprints])

    def read(self, fingerprint: str, num_frames: int, *, check: bool = True) -> HalfVectors | None:
        """The embeddings of a clip, mapped into memory; None if there are none.

        DamagedEntry if there are some, but not those of these frames, or they were changed.
        """
        path = self.path(fingerprint)
        if isinstance(path, StoredPath):
            bring(path)
        if path.exists() and not path.is_file():  # opening a pipe would wait for ever
            raise DamagedEntry(f"{path}: is no regular file")
        try:
            vectors, about = _mapped(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise GoalwardError(f"{path}: cannot be read ({error.strerror or error})") from error
        except Exception as error:  # a header that lies fails in any way
            raise DamagedEntry(f"{path}: {error}") from error
        if about.get("frames") != fingerprint or len(vectors) != num_frames:
            raise DamagedEntry(f"{path}: holds embeddings of other frames")
        if check and about.get("crc32c") != _checksum(vectors):
            raise DamagedEntry(f"{path}: its checksum does not fit")
        return vectors

    def touch(self, fingerprint: str) -> None:
        """Note that the entry was used now; `goalward cache prune` goes by it."""
        with contextlib.suppress(OSError):
            os.utime(self.path(fingerprint))

    def claim(self, fingerprint: str) -> WorkClaim | None:
        """The right to embed this clip, or None while another process is at it."""
        return claim(self.folder / CLAIMS / fingerprint)

    def remove(self, fingerprint: str) -> None:
        path = self.path(fingerprint)
        path.unlink(missing_ok=True)
        if isinstance(path, StoredPath):
            discard(path)

    def write(self, fingerprint: str, vectors: HalfVectors, precision: str) -> None:
        """Keep the embeddings of a clip."""
        about = {
            "encoder": self.encoder.label,
            "frames": fingerprint,
            "precision": precision,
            "crc32c": _checksum(vectors),
        }
        with self._explained(), written_whole(self.path(fingerprint)) as temporary:
            # One text for all facts: safetensors writes several in an order of its own.
            metadata = {_FACTS: json.dumps(about, sort_keys=True)}
            save_file({_TENSOR: np.ascontiguousarray(vectors)}, temporary, metadata=metadata)
        self._keep(self.path(fingerprint))

    def _keep(self, path: Path) -> None:
        if isinstance(path, StoredPath):
            keep(path)

    def sweep(self) -> None:
        """Remove what killed processes left: files half written, claims that nobody holds."""
        sweep(self.folder, below=True)
        for path in list((self.folder / CLAIMS).glob("*")):
            held = claim(path)
            if held is not None:
                held.drop()

    def describe(self) -> None:
        """Say beside the embeddings what made them, for people and `goalward cache list`."""
        about = self.folder / ABOUT
        if about.exists():
            return
        facts = {
            "encoder": self.encoder.id,
            "revision": self.encoder.revision,
            "pool": self.encoder.pool,
            "precision": self.encoder.precision,
            "key": self.encoder.key,
        }
        with self._explained(), written_whole(about) as temporary:
            temporary.write_text(json.dumps(facts, indent=1))
        self._keep(about)

    @contextlib.contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except Exception as error:
            cause = error.__cause__ if isinstance(error, GoalwardError) else error
            full = isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT)
            # safetensors writes in Rust and gives its own errors, with the number in the text.
            if full or "No space left" in str(error) or "os error 28" in str(error):
                raise GoalwardError(
                    f"no space left for embeddings in {self.folder}; what is there stays usable. "
                    "Set GOALWARD_CACHE to a folder with more room, or make some with "
                    "`goalward cache prune`; then the same command goes on"
                ) from error
            if isinstance(error, GoalwardError):
                raise
            raise GoalwardError(f"{self.folder}: embeddings cannot be written ({error})") from error


def _checksum(vectors: HalfVectors) -> str:
    return f"{google_crc32c.value(vectors.tobytes()):08x}"


def _mapped(path: Path) -> tuple[HalfVectors, Mapping[str, Any]]:
    """The tensor of a safetensors file as a memory map, and the text beside it."""
    with path.open("rb") as file:
        (header_bytes,) = struct.unpack("<Q", file.read(8))
        if header_bytes > _MAX_HEADER_BYTES:
            raise ValueError("its header is too long")
        header = json.loads(file.read(header_bytes))
        entry = header[_TENSOR]
        num_rows, width = (int(size) for size in entry["shape"])
        start, end = (int(edge) for edge in entry["data_offsets"])
        offset = 8 + header_bytes + start
        if entry["dtype"] != "F16" or end - start != num_rows * width * 2 or num_rows * width == 0:
            raise ValueError("its header contradicts itself")
        if offset + end - start != file.seek(0, os.SEEK_END):
            raise ValueError("it is cut off")
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    about = json.loads(header["__metadata__"][_FACTS])
    if not isinstance(about, dict):
        raise ValueError("its facts are none")
    # As np.memmap does it, which looks at every folder of the path each time.
    vectors = np.frombuffer(content, np.float16, num_rows * width, offset)
    return vectors.reshape(num_rows, width), about

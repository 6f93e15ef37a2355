"""HDF5 files that may be damaged or hostile: opened, looked into and read with everything checked.

Whatever the library raises becomes a `DamagedFile` that names the file. Links are not followed,
nothing is read before its claimed size has been compared with the file, and a data set that was
declared but never written is damage: the library would hand out zeros for it.
"""

# pyright: standard
# (h5py ships no type stubs)

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt
from h5py import h5a, h5d, h5f, h5i, h5l, h5o, h5s, h5z  # pyright: ignore[reportAttributeAccessIssue]

# The library's low level: an episode's headers are read twice as fast as through its objects.
from h5py.h5d import DatasetID as Stored
from h5py.h5g import GroupID as Group

from goalward.errors import RolloutError
from goalward.git_lfs import NOT_FETCHED, is_pointer_file
from goalward.rollouts.readers.hdf5.heaps import WatchedFile

SUFFIXES = (".hdf5", ".h5")

# What h5py was seen to raise on damaged files, and what it documents.
LIBRARY_ERRORS = (
    OSError,
    LookupError,
    RuntimeError,
    ValueError,
    TypeError,
    AttributeError,
    ArithmeticError,
    MemoryError,
    SystemError,
)

# Deflate, the tightest of the common filters, packs at most 1032 bytes into one.
MAX_COMPRESSION = 1100
# The library holds a whole chunk in memory, however little of it is asked for.
MAX_CHUNK_BYTES = 1 << 30
# Large enough to keep one chunk of many frames unpacked while its frames are read in turn.
CHUNK_CACHE_BYTES = 64 << 20

CODECS = {h5z.FILTER_DEFLATE: "gzip", h5z.FILTER_LZF: "lzf", h5z.FILTER_SZIP: "szip"}

MAX_ATTRIBUTE_SIZE = 1 << 24


class DamagedFile(RolloutError):
    """A file, or a part of it, that cannot be read or trusted."""


@contextmanager
def damage_named(where: object) -> Iterator[None]:
    """Whatever the library raises inside becomes a `DamagedFile` that says where."""
    try:
        yield
    except RolloutError:
        raise
    except LIBRARY_ERRORS as error:
        reason = printable(str(error)) or type(error).__name__
        raise DamagedFile(f"{where}: cannot be read ({reason})") from error


@contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """The file, open for reading; every failure inside the block names it."""
    with damage_named(path):
        if not path.is_file():  # opening a pipe would wait for ever
            raise DamagedFile(f"{path}: is not a file")
        try:
            file = h5py.File(path, "r", locking="best-effort", rdcc_nbytes=CHUNK_CACHE_BYTES)
        except OSError as error:
            if is_pointer_file(path):
                raise DamagedFile(f"{path}: {NOT_FETCHED}") from error
            raise
        with file:
            yield file


@contextmanager
def _watched(item: Group | Stored) -> Iterator[Any]:
    """The same group or data set by way of a handle that can be asked for text."""
    path = Path(os.fsdecode(h5f.get_name(item)))
    with WatchedFile(path) as watched, h5py.File(watched, "r") as file:
        yield file[h5i.get_name(item)]


def hdf5_files(path: Path) -> list[Path]:
    """The file itself, or those of the folder that have the name of an HDF5 file."""
    if path.is_dir():
        inside = (entry for entry in path.iterdir() if entry.suffix.lower() in SUFFIXES)
        return sorted(entry for entry in inside if not entry.is_dir())
    if path.suffix.lower() in SUFFIXES:
        return [path]
    return [path] if path.is_file() and h5py.is_hdf5(path) else []


def printable(text: str) -> str:
    r"""Text from a file, safe to print: control characters and broken encodings written out.

    >>> printable("demo_1\x1b[2J")
    'demo_1\\x1b[2J'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


# ---- groups, data sets, attributes -------------------------------------------------------------


def names_in(group: Group) -> list[bytes]:
    return list(group)


def child(parent: Group, path: str | bytes, where: object) -> Any:
    """The group or data set below `parent`; None if there is none, an error if it is a link.

    A soft or external link can lead to any file on this machine.
    """
    found: Any = parent
    for name in (path.encode() if isinstance(path, str) else path).split(b"/"):
        if not isinstance(found, Group) or not found.links.exists(name):
            return None
        if found.links.get_info(name).type != h5l.TYPE_HARD:
            label = printable(name.decode(errors="replace"))
            raise DamagedFile(f"{where}: {label} is a link to somewhere else and not followed")
        found = h5o.open(found, name)
    return found


def checked_before(group: Group, path: str) -> Stored:
    """A data set whose path has been walked with `child` while the file was open."""
    return h5d.open(group, path.encode())


def has_attribute(item: Any, name: str) -> bool:
    return h5a.exists(item, name.encode())


def attribute(item: Any, name: str) -> Any:
    """One number, boolean or text, None if absent or anything else."""
    if not has_attribute(item, name):
        return None
    stored = h5a.open(item, name.encode())
    if math.prod(stored.shape) != 1 or stored.get_storage_size() > MAX_ATTRIBUTE_SIZE:
        return None
    if stored.dtype.kind == "O":
        with _watched(item) as watched:
            value: Any = watched.attrs[name]
    else:
        value = np.empty(stored.shape, stored.dtype)
        stored.read(value)
    if isinstance(value, np.ndarray):
        value = value.reshape(-1)[0]
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, str | bool | int | float) else None


def json_attribute(item: Any, name: str) -> dict[str, Any]:
    """An attribute that holds a JSON object; empty if it is absent or holds anything else."""
    text = attribute(item, name)
    try:
        content = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def whole_number(value: object) -> int | None:
    """The value as an int, None if it is not a whole number.

    >>> whole_number(59.0), whole_number(0.5), whole_number("59")
    (59, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if math.isfinite(value) and value == int(value) else None


# ---- data sets ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Declared:
    """Shape and type of a data set as its header has them."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def is_image_like(self) -> bool:
        return len(self.shape) == 4 and (self.dtype == np.uint8 or self.shape[3] == 3)

    @property
    def is_camera(self) -> bool:
        return len(self.shape) == 4 and self.dtype == np.uint8 and self.shape[3] == 3

    @property
    def is_low_dimensional(self) -> bool:
        """A number or a row of numbers per frame."""
        return self.dtype.kind in "biuf" and len(self.shape) in (1, 2)

    @property
    def num_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def declared(dataset: Stored) -> Declared:
    """What the header says; the type is void where numpy has none for it."""
    try:
        dtype = dataset.dtype
    except (TypeError, ValueError, KeyError):
        dtype = np.dtype("V1")
    return Declared(dataset.shape, dtype)


def checked_codec(dataset: Stored, header: Declared, file_size: int, where: str) -> str:
    """How the numbers are packed, after a check that they all lie in this file.

    They may not claim more than the file can hold, and the filter that packed them must be there.
    """
    if header.num_bytes > file_size * MAX_COMPRESSION:
        raise DamagedFile(
            f"{where}: claims {header.num_bytes} bytes in a file of {file_size} bytes"
        )
    properties = dataset.get_create_plist()
    layout = properties.get_layout()
    if layout == h5d.VIRTUAL or properties.get_external_count() > 0:
        raise DamagedFile(f"{where}: keeps its numbers in another file, which is not followed")
    filters = [properties.get_filter(i) for i in range(properties.get_nfilters())]
    for code, _, _, name in filters:
        if not h5z.filter_avail(code):
            raise DamagedFile(
                f"{where}: is compressed with {printable(name.decode(errors='replace'))} "
                f"(HDF5 filter {code}), which is not installed"
            )
    if layout == h5d.CHUNKED:
        complete = _has_all_chunks(dataset, header, properties.get_chunk(), where)
    elif layout == h5d.CONTIGUOUS and header.num_bytes:
        offset = dataset.get_offset()
        complete = offset is not None and offset + header.num_bytes <= file_size
    else:
        complete = True
    if not complete:
        raise DamagedFile(f"{where}: declares {header.shape} but was not written to the end")
    return "+".join(CODECS[f[0]] for f in filters if f[0] in CODECS) or "raw"


def _has_all_chunks(dataset: Stored, header: Declared, chunk: tuple[int, ...], where: str) -> bool:
    if math.prod(chunk) * header.dtype.itemsize > MAX_CHUNK_BYTES:
        raise DamagedFile(f"{where}: claims chunks of shape {chunk}")
    pieces = zip(header.shape, chunk, strict=True)
    return dataset.get_num_chunks() == math.prod(-(-size // step) for size, step in pieces)


def checked_values(
    dataset: Stored, header: Declared, file_size: int, where: str
) -> npt.NDArray[Any]:
    """All the numbers, known to lie in this file."""
    checked_codec(dataset, header, file_size, where)
    if header.dtype.kind == "O":
        with _watched(dataset) as watched:
            return watched[()]
    values = np.empty(header.shape, header.dtype)
    dataset.read(h5s.ALL, h5s.ALL, values)
    return values

"""The arrays of an `.npz` file: what each declares is checked before memory is asked for it."""

import math
import os
import struct
import zipfile
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from goalward.errors import GoalwardError

_LOCAL_HEADER_BYTES = 30
_BYTES_AT_A_TIME = 1 << 22
# How tightly an array may be packed that takes more memory than this.
_LARGE_BYTES = 1 << 28
_MOST_PACKED = 100


@dataclass(frozen=True)
class _Header:
    """What an array says of itself; `num_bytes` of header stand before its numbers."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype[Any]
    num_bytes: int

    @property
    def num_bytes_declared(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def read_npz(path: Path, names: Collection[str], mapped: str) -> dict[str, npt.NDArray[Any]]:
    """Those of these arrays that are there; the one called `mapped` is not read but mapped where
    it can be."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    with zipfile.ZipFile(path) as archive, np.load(path, allow_pickle=False) as file:
        for entry in archive.infolist():
            name = entry.filename.removesuffix(".npy")
            if name == entry.filename or name not in names:
                continue
            if name in arrays:
                raise GoalwardError(f"{path}: holds {name} twice")
            with archive.open(entry) as content:
                header = _header(content)
            _check_declared(f"{path}: {name}", header, entry)
            if name == mapped and _can_be_mapped(header, entry):
                with archive.open(entry) as content:
                    _read_through(content)
                arrays[name] = _map(path, header, entry)
            else:
                _check_packed(f"{path}: {name}", header, entry)
                _check_memory(f"{path}: {name}", header)
                arrays[name] = file[name]
    return arrays


def _read_through(content: IO[bytes]) -> None:
    """An error if the bytes are not those that the archive's checksum was made of."""
    while content.read(_BYTES_AT_A_TIME):
        pass


def _header(file: IO[bytes]) -> _Header:
    major, _ = np.lib.format.read_magic(file)
    read: Callable[..., Any] = (
        np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
    )
    shape, is_fortran, dtype = read(file)
    return _Header(shape, is_fortran, dtype, file.tell())


def _check_declared(where: str, header: _Header, entry: zipfile.ZipInfo) -> None:
    """An array may not claim more than lies in the archive under its name."""
    if header.dtype.hasobject:
        return  # numpy refuses these by themselves
    there = entry.file_size - header.num_bytes
    if min(header.shape, default=0) < 0 or header.num_bytes_declared != there:
        raise GoalwardError(
            f"{where} declares {_words(header)}, which are {header.num_bytes_declared:,} bytes, "
            f"and holds {there:,}"
        )


def _check_packed(where: str, header: _Header, entry: zipfile.ZipInfo) -> None:
    """A few bytes may not ask for gigabytes of memory."""
    num_bytes = header.num_bytes_declared
    if num_bytes > _LARGE_BYTES and num_bytes > _MOST_PACKED * entry.compress_size:
        raise GoalwardError(
            f"{where} declares {_words(header)}: {num_bytes:,} bytes, which are packed into "
            f"{entry.compress_size:,}, as no recording can be; if it is one, write it with "
            "np.savez, not compressed"
        )


def _check_memory(where: str, header: _Header) -> None:
    memory = _memory_bytes()
    if memory is not None and header.num_bytes_declared > memory:
        raise GoalwardError(
            f"{where} declares {_words(header)}: {header.num_bytes_declared / 2**30:.0f} GiB, more "
            f"than this machine has ({memory / 2**30:.0f} GiB); features that np.savez wrote, not "
            "compressed, need not fit"
        )


def _memory_bytes() -> int | None:
    """What this machine has, None where it does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _words(header: _Header) -> str:
    return f"{header.shape} {header.dtype}"


def _can_be_mapped(header: _Header, entry: zipfile.ZipInfo) -> bool:
    is_stored = entry.compress_type == zipfile.ZIP_STORED
    return is_stored and not header.dtype.hasobject and 0 not in header.shape


def _map(path: Path, header: _Header, entry: zipfile.ZipInfo) -> npt.NDArray[Any]:
    with path.open("rb") as file:
        file.seek(entry.header_offset)
        # The last two fields of a zip's local header: lengths of the name and the extra field.
        local = file.read(_LOCAL_HEADER_BYTES)
        name_bytes, extra_bytes = struct.unpack("<HH", local[26:30])
    start = entry.header_offset + _LOCAL_HEADER_BYTES + name_bytes + extra_bytes
    return np.memmap(
        path,
        dtype=header.dtype,
        mode="r",
        offset=start + header.num_bytes,
        shape=header.shape,
        order="F" if header.is_fortran else "C",
    )

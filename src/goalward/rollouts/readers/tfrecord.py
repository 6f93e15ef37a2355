"""TFRecord files: checked records, and the tf.train.Example messages inside, without TensorFlow."""

# pyright: standard
# (protobuf's message classes are made at run time and have no type stubs)

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import google_crc32c
import numpy as np
import numpy.typing as npt
from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory

from goalward.errors import RolloutError
from goalward.git_lfs import NOT_FETCHED, is_pointer_file
from goalward.memory import free_bytes, size_words

# Length (uint64), its checksum (uint32), the bytes, their checksum (uint32); little endian.
_HEADER_BYTES = 12
_FOOTER_BYTES = 4
_GZIP_MAGIC = b"\x1f\x8b"
# A record below this fits anyway; one above is compared with the memory that is free.
_LARGE_BYTES = 1 << 28


@dataclass(frozen=True)
class RecordPlace:
    """Where the bytes of one record lie."""

    path: Path
    number: int
    offset: int
    length: int

    def __str__(self) -> str:
        return f"{self.path}, record {self.number}"


@dataclass(frozen=True)
class Record:
    """One record of a file. `problem` says why it cannot be trusted, and is empty if it can.

    After a record with `is_end` nothing more can be found in the file: its length is unknown.
    """

    place: RecordPlace
    content: bytes
    problem: str = ""
    is_end: bool = False


def read_records(path: Path) -> Iterator[Record]:
    """Every record of a file in order, one in memory at a time."""
    if not path.is_file():  # opening a pipe would wait for ever
        yield Record(RecordPlace(path, 0, 0, 0), b"", "the file is no regular file", is_end=True)
        return
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            offset = number = 0
            while offset < size:
                record = _record_at(
                    file, RecordPlace(path, number, offset + _HEADER_BYTES, 0), size
                )
                yield record
                if record.is_end:
                    return
                offset = record.place.offset + record.place.length + _FOOTER_BYTES
                number += 1
    except OSError as error:
        raise RolloutError(f"{path}: cannot be read ({error})") from error


def _record_at(file: BinaryIO, start: RecordPlace, size: int) -> Record:
    file.seek(start.offset - _HEADER_BYTES)
    header = file.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES:
        return Record(start, b"", "the file is cut off", is_end=True)
    if header[:2] == _GZIP_MAGIC and start.number == 0:
        return Record(start, b"", "the file is compressed: unpack it with gunzip", is_end=True)
    if header[8:] != _masked_checksum(header[:8]):
        if start.number == 0 and is_pointer_file(start.path):
            return Record(start, b"", f"the file {NOT_FETCHED}", is_end=True)
        problem = "its length is damaged, so that no later record of the file can be found"
        return Record(start, b"", problem, is_end=True)
    (length,) = struct.unpack("<Q", header[:8])
    missing = start.offset + length + _FOOTER_BYTES - size
    if missing > 0:
        return Record(start, b"", f"the file is cut off ({missing} bytes missing)", is_end=True)
    place = replace(start, length=length)
    if length > _LARGE_BYTES and length > free_bytes():
        problem = f"claims {size_words(length)}, more than there is memory for"
        return Record(place, b"", problem)
    content, footer = file.read(length), file.read(_FOOTER_BYTES)
    if footer != _masked_checksum(content):
        return Record(place, b"", "its checksum does not match its bytes")
    return Record(place, content)


def load_record(place: RecordPlace) -> bytes:
    """The bytes of one record again, checked again: the file may have changed."""
    try:
        with place.path.open("rb") as file:
            file.seek(place.offset)
            content = file.read(place.length)
            footer = file.read(_FOOTER_BYTES)
    except OSError as error:
        raise RolloutError(f"{place}: cannot be read ({error})") from error
    if len(content) != place.length or footer != _masked_checksum(content):
        raise RolloutError(f"{place}: has changed since the data set was opened")
    return content


def _masked_checksum(content: bytes) -> bytes:
    """CRC-32C, rotated and shifted as TFRecord stores it.

    >>> _masked_checksum(bytes(8)).hex()
    '29039807'
    """
    checksum = google_crc32c.value(content)
    return struct.pack("<I", ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF)


# ---- tf.train.Example ----------------------------------------------------------------------------


def _field(name: str, number: int, kind: str, *, repeated: bool = False) -> Any:
    """A field of a message; `kind` is a scalar type of protobuf or the name of a message."""
    proto = descriptor_pb2.FieldDescriptorProto
    field = proto(name=name, number=number)
    field.label = proto.LABEL_REPEATED if repeated else proto.LABEL_OPTIONAL
    if kind.startswith("."):
        field.type, field.type_name = proto.TYPE_MESSAGE, kind
    else:
        field.type = getattr(proto, f"TYPE_{kind.upper()}")
    return field


def _example_class() -> Any:
    """The message class of tensorflow/core/example/example.proto and feature.proto."""
    file = descriptor_pb2.FileDescriptorProto(name="example.proto", package="tf", syntax="proto3")
    for kind in ("bytes", "float", "int64"):
        values = file.message_type.add(name=f"{kind.title()}List")
        values.field.append(_field("value", 1, kind, repeated=True))
    feature = file.message_type.add(name="Feature")
    feature.oneof_decl.add(name="kind")
    for number, kind in enumerate(("bytes", "float", "int64"), start=1):
        choice = _field(f"{kind}_list", number, f".tf.{kind.title()}List")
        choice.oneof_index = 0
        feature.field.append(choice)
    features = file.message_type.add(name="Features")
    features.field.append(_field("feature", 1, ".tf.Features.FeatureEntry", repeated=True))
    entry = features.nested_type.add(name="FeatureEntry")
    entry.options.map_entry = True
    entry.field.extend([_field("key", 1, "string"), _field("value", 2, ".tf.Feature")])
    example = file.message_type.add(name="Example")
    example.field.append(_field("features", 1, ".tf.Features"))
    # A pool of its own: TensorFlow, where installed, registers the same names in the common one.
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("tf.Example"))


_Example = _example_class()


class Example:
    """Named lists of numbers or byte strings; a list is converted when asked for."""

    def __init__(self, content: bytes, where: str) -> None:
        try:
            self._features = _Example.FromString(content).features.feature
        except (message.DecodeError, ValueError) as error:
            raise RolloutError(f"{where}: not a tf.train.Example ({error})") from error
        self.where = where

    def __iter__(self) -> Iterator[str]:
        """The names, sorted: the order in a record is arbitrary."""
        return iter(sorted(self._features))

    def __contains__(self, key: str) -> bool:
        return key in self._features

    def is_bytes(self, key: str) -> bool:
        return key in self._features and self._features[key].WhichOneof("kind") == "bytes_list"

    def is_numbers(self, key: str) -> bool:
        kinds = ("float_list", "int64_list")
        return key in self._features and self._features[key].WhichOneof("kind") in kinds

    def size(self, key: str) -> int:
        """How many values the list has; 0 if there is none."""
        return len(self._values(key))

    def byte_strings(self, key: str) -> list[bytes]:
        return list(self._values(key)) if self.is_bytes(key) else []

    def numbers(self, key: str) -> npt.NDArray[Any]:
        """float32 or int64, as stored."""
        values = self._values(key) if self.is_numbers(key) else ()
        is_float = key in self._features and self._features[key].HasField("float_list")
        return np.fromiter(values, np.float32 if is_float else np.int64, count=len(values))

    def _values(self, key: str) -> Sequence[Any]:
        if key not in self._features:
            return ()
        kind = self._features[key].WhichOneof("kind")
        return () if kind is None else getattr(self._features[key], kind).value

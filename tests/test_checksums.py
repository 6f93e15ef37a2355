"""Files that carry a checksum: any byte that changes is noticed, before anything is parsed."""

import os
import random
from pathlib import Path

import pyarrow as pa
import pytest

from goalward.checksums import (
    CHECKSUM_PLACE,
    DamagedFile,
    carried_checksum,
    check,
    read_json_with_checksum,
    write_json_with_checksum,
    written_with_checksum,
)
from goalward.errors import GoalwardError
from goalward.parquet_files import read_parquet, write_parquet


def write_text(path: Path) -> None:
    with written_with_checksum(path) as temporary:
        temporary.write_text(f"seeds = 5\n# {CHECKSUM_PLACE}\nwidth = 7\n")


def write_json(path: Path) -> None:
    write_json_with_checksum(path, {"seeds": 5, "widths": [1, 2, 3]})


def write_table(path: Path) -> None:
    table = pa.table({"steps": [1.0, 2.0], "id": ["a", "b"]})
    write_parquet(path, table.replace_schema_metadata({"furthest": "12"}))


@pytest.mark.parametrize("write", [write_text, write_json, write_table])
def test_every_flipped_bit_is_noticed(tmp_path: Path, write):
    path = tmp_path / "file"
    write(path)
    whole = path.read_bytes()
    assert check(path)
    mark = whole.index(b"goalward-sha256:")
    places = set(range(len(whole))) - set(range(mark, mark + 16))
    for place in random.Random(0).sample(sorted(places), min(len(places), 300)):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        with pytest.raises(DamagedFile, match="file: was changed or damaged since it was written"):
            check(path)


@pytest.mark.parametrize("write", [write_text, write_json])
def test_a_byte_more_or_less_is_noticed(tmp_path: Path, write):
    path = tmp_path / "file"
    write(path)
    whole = path.read_bytes()
    for other in (whole + b"\n", whole[:-1], whole[1:], b""):
        path.write_bytes(other)
        with pytest.raises(DamagedFile):
            check(path)


def test_the_checksum_is_sha256_of_the_file_with_zeros_in_its_place(tmp_path: Path):
    write_text(tmp_path / "file")
    # printf 'seeds = 5\n# goalward-sha256:%064d\nwidth = 7\n' 0 | sha256sum
    known = "657ba8cbbb6e279024f6b5e80119e0dd1357195c402a02916cc05da59cbddf7a"
    assert carried_checksum(tmp_path / "file") == known


@pytest.mark.parametrize("place", range(16))
def test_a_damaged_mark_does_not_hide_other_damage(tmp_path: Path, place: int):
    """With its mark gone a file would pass for one of a version that wrote no checksums."""
    path = tmp_path / "notes.json"
    write_json_with_checksum(path, {"seeds": 5})
    content = bytearray(path.read_bytes().replace(b'"seeds": 5', b'"seeds": 6'))
    content[content.index(b"goalward-sha256:") + place] ^= 1
    path.write_bytes(content)
    with pytest.raises(DamagedFile):
        read_json_with_checksum(path)


def test_what_carries_none_is_not_known_to_be_damaged(tmp_path: Path):
    (tmp_path / "old.json").write_text('{"seeds": 5}')
    assert not check(tmp_path / "old.json")
    assert read_json_with_checksum(tmp_path / "old.json") == {"seeds": 5}


@pytest.mark.parametrize("text", ["[]", "null", "{", '"x"', "7"])
def test_json_that_is_no_table_is_damaged(tmp_path: Path, text):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(DamagedFile, match="run.json"):
        read_json_with_checksum(tmp_path / "run.json")


def test_a_table_comes_back_and_keeps_what_was_told_with_it(tmp_path: Path):
    write_table(tmp_path / "table.parquet")
    table = read_parquet(tmp_path / "table.parquet")
    assert table["steps"].to_pylist() == [1.0, 2.0]
    assert table.schema.metadata[b"furthest"] == b"12"


@pytest.mark.timeout(10)
def test_a_pipe_is_refused_and_nobody_waits(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(GoalwardError, match="pipe: .*it is no regular file"):
        check(tmp_path / "pipe")
    with pytest.raises(GoalwardError, match="nothing: no such file"):
        check(tmp_path / "nothing")

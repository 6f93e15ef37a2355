"""The lines of a csv file with their numbers, one after the other."""

import csv
import hashlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from goalward.errors import GoalwardError
from goalward.files import check_regular
from goalward.git_lfs import NOT_FETCHED, is_pointer_file
from goalward.metrics.comparing.tables.outcome_columns import normalised
from goalward.rollouts.findings import counted, some_of
from goalward.run_folder import RunFolder

Lines = Generator[tuple[int, list[str]]]


@dataclass(frozen=True)
class CsvLines:
    """A header as it stands there and in plain names, and the lines below it."""

    file: Path
    written: Sequence[str]
    header: Sequence[str]
    lines: Lines


def file_of(path: Path) -> Path:
    """The csv file that a path means: itself, or the outcomes of a run's folder."""
    if not path.is_dir():
        return path
    outcomes = RunFolder(path).outcomes
    if not outcomes.is_file():
        others = sorted(file.name for file in path.glob("*.csv"))
        instead = f"name its csv files: {some_of(others, most=3)}" if others else "name a csv file"
        raise GoalwardError(f"{path}: no {outcomes.name} in this folder; {instead}")
    return outcomes


@contextmanager
def csv_lines(file: Path) -> Generator[CsvLines]:
    """Open a csv file whose first line with any cell is its header.

    Every line below has as many cells, without spaces around them; empty lines are left out.
    """
    lines = _lines(file)
    try:
        first = next(lines, None)
        if first is None:
            raise GoalwardError(f"{file}: the file is empty; wanted a header and a row per episode")
        line, cells = first
        header = _header(file, line, cells)
        yield CsvLines(file, cells, header, _as_wide_as(header, file, lines))
    finally:
        lines.close()


def digest(file: Path) -> str:
    """What a file holds, as a short text: two equal ones are copies of each other."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _lines(file: Path) -> Lines:
    """The cells of every line that has any, with its number."""
    number = 0
    if file.exists():
        check_regular(file)  # a pipe would be waited for without end
    if is_pointer_file(file):
        raise GoalwardError(f"{file}: {NOT_FETCHED}")
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            reader = csv.reader(opened, strict=True)
            for cells in reader:
                number = reader.line_num
                cells = [cell.strip() for cell in cells]
                if any(cells):
                    yield number, cells
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise GoalwardError(f"{file}: cannot be read ({reason})") from error
    except csv.Error as error:
        # The reader has run on to where it gave up; the fault began after the last good line.
        raise GoalwardError(
            f"{file}, line {number + 1}: not a csv file from here on ({error}); look for a quote "
            "that is not closed"
        ) from error


def _as_wide_as(header: Sequence[str], file: Path, lines: Lines) -> Lines:
    empty = True
    for line, cells in lines:
        if len(cells) != len(header):
            raise GoalwardError(
                f"{file}, line {line}: {counted(cells, 'cell')}, but the header has {len(header)}"
            )
        empty = False
        yield line, cells
    if empty:
        raise GoalwardError(f"{file}: only a header; wanted a row per episode")


def _header(file: Path, line: int, cells: Sequence[str]) -> list[str]:
    for separator, name in ((";", "semicolons"), ("\t", "tabs")):
        if len(cells) == 1 and separator in cells[0].strip():
            raise GoalwardError(f"{file}: columns are separated by {name}; wanted commas")
    header = [normalised(name) for name in cells]
    for name in header:
        if name and header.count(name) > 1:
            raise GoalwardError(f"{file}, line {line}: the column {name} stands there twice")
    return header

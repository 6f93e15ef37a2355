"""Rooms and their mutants: what came of each, where its change is, and the table of shares."""

import ast
import contextlib
import difflib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mutmut.mutation.data import MutantLineSpans
from mutmut.stats import status_by_exit_code
from mutmut.utils.format_utils import orig_function_and_class_names_from_key

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = Path("src/goalward")


@dataclass(frozen=True)
class Room:
    """A folder of the package, the tests that must notice its faults, the folder of its mutants."""

    name: str

    @property
    def files(self) -> list[Path]:
        """Source files of this room alone; a room within it is a room of its own."""
        return _files(PACKAGE / self.name, "*.py")

    @property
    def tests(self) -> list[Path]:
        return _files(Path("tests") / self.name, "test_*.py")

    @property
    def folder(self) -> Path:
        return REPOSITORY / "build" / "mutants" / self.name

    def mutants(self) -> list["Mutant"]:
        """All mutants of the files that are there now, with what came of them."""
        return [
            Mutant(self, name, file, status_by_exit_code[exit_code])
            for file in self.files
            for name, exit_code in _read_results(self.folder / f"mutants/{file}.meta").items()
        ]


@dataclass(frozen=True)
class Mutant:
    """One change, and what came of it."""

    room: Room
    name: str
    file: Path
    status: str

    @property
    def survived(self) -> bool:
        return self.status in ("survived", "no tests", "suspicious")

    def change(self) -> str:
        """Where the change is, and the lines before (-) and after it (+)."""
        copy = self.name.rpartition(".")[2]
        untouched = copy.partition("__mutmut_")[0] + "__mutmut_orig"
        with contextlib.chdir(self.room.folder):
            spans = MutantLineSpans.load(self.file)
            if spans is None:
                raise FileNotFoundError(
                    f"{self.room.folder}: no index of the mutants of {self.file}"
                )
            sources = spans.read_function_sources([untouched, copy])
        before = sources[0].replace(untouched, copy).splitlines()
        after = sources[1].splitlines()
        edits = [
            edit
            for edit in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
            if edit[0] != "equal"
        ]
        definition = next(i for i, line in enumerate(before) if copy in line)
        function, class_name = orig_function_and_class_names_from_key(self.name)
        start = _definition_line(REPOSITORY / self.file, function, class_name)
        lines = [f"{self.file}:{start + edits[0][1] - definition} {self.name} ({self.status})"]
        for _, old_start, old_end, new_start, new_end in edits:
            lines += [f"  - {line.strip()}" for line in before[old_start:old_end]]
            lines += [f"  + {line.strip()}" for line in after[new_start:new_end]]
        return "\n".join(lines)


def _files(folder: Path, pattern: str) -> list[Path]:
    return sorted(path.relative_to(REPOSITORY) for path in (REPOSITORY / folder).glob(pattern))


def _read_results(path: Path) -> dict[str, int | None]:
    return json.loads(path.read_text())["exit_code_by_key"] if path.exists() else {}


def _definition_line(path: Path, function: str, class_name: str | None) -> int:
    """Line of `def` in the source."""
    for node in ast.walk(ast.parse(path.read_text())):
        in_class = isinstance(node, ast.ClassDef) and node.name == class_name
        in_module = isinstance(node, ast.Module) and class_name is None
        if isinstance(node, ast.ClassDef | ast.Module) and (in_class or in_module):
            for child in node.body:
                if isinstance(child, ast.FunctionDef) and child.name == function:
                    return child.lineno
    raise LookupError(f"{path} has no function {function} any more: run the mutants again")


def rooms_named(names: Sequence[str]) -> Iterator[Room]:
    """The rooms, each followed by the rooms within it; a folder without files is none."""
    for name in names:
        top = REPOSITORY / PACKAGE / name
        for folder in [top, *sorted(path for path in top.rglob("*") if path.is_dir())]:
            room = Room(folder.relative_to(REPOSITORY / PACKAGE).as_posix())
            if {file.name for file in room.files} - {"__init__.py"}:
                yield room


def write_survivors(room: Room) -> None:
    if not room.folder.exists():
        return
    changes = [mutant.change() for mutant in room.mutants() if mutant.survived]
    (room.folder / "survivors.txt").write_text("".join(f"{change}\n" for change in changes))


def table(rooms: Sequence[Room]) -> str:
    """One row per room and one for all of them."""
    rows = [("room", "mutants", "killed", "survived", "timed out", "not tried", "share")]
    total: Counter[str] = Counter()
    for name, mutants in [*((room.name, room.mutants()) for room in rooms), ("all", None)]:
        if mutants is not None:
            counts = Counter("survived" if m.survived else m.status for m in mutants)
            total += counts
        else:
            counts = total
        noticed = counts["killed"] + counts["segfault"] + counts["timeout"]
        tried = noticed + counts["survived"]
        rows.append(
            (
                name,
                str(sum(counts.values())),
                str(counts["killed"] + counts["segfault"]),
                str(counts["survived"]),
                str(counts["timeout"]),
                str(sum(counts.values()) - tried),
                f"{100 * noticed / tried:.1f} %" if tried else "-",
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )

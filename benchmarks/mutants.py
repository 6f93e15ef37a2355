"""Do the tests notice a fault? Small faults are planted one by one, and the tests run on each.

    python benchmarks/mutants.py [ROOM ...] [--minutes 55] [--workers 2]   (make mutants ROOM=...)

A mutant is the code with one change: a + for a -, a < for a <=, another number, an argument left
out. A test that fails on it has killed it. A mutant that passes every test is a hole in the tests,
or changes nothing that matters. ROOM is a folder of src/goalward, such as `targets` or
`metrics/truth` (`metrics` means all rooms in it too); without one, all of ROOMS. Each room is held
against its own tests in `tests/ROOM` and its own examples.

Results stay in build/mutants and are taken up again: a run that is out of minutes goes on where it
stopped, a function that changed is tried anew, and when the tests of a room changed, so are the
mutants that had survived. Delete the folder to start over. Survivors are listed in
build/mutants/ROOM/survivors.txt, with file, line and change. A mutant that runs far longer than its
tests should has been noticed too: it counts as killed.

Not mutated: code outside functions, decorated functions (`@property`, `@contextmanager`) and
f-strings. mutmut makes and tries the mutants; it forks from a process that has imported torch and
the tests already, so that a mutant costs half a second and the tests that reach it.
"""

import argparse
import ast
import contextlib
import difflib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mutmut.mutation.data import MutantLineSpans
from mutmut.stats import status_by_exit_code
from mutmut.utils.format_utils import orig_function_and_class_names_from_key

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = Path("src/goalward")
ROOMS = ("targets", "training", "values", "metrics", "runs")
# These need the code as it stands: mutmut puts copies of each function beside it, and a switch
# between them inside, which torch cannot compile.
NEED_CODE_AS_IT_STANDS = (
    "tests/targets/test_kinds.py::test_every_public_function_is_here",
    "tests/targets/test_kinds.py::test_training_steps_compile_whole",
)
# Besides the room's own tests: what they import, and what makes their fixtures.
SHARED_BY_TESTS = ("conftest.py", "tests/conftest.py", "tests/rollout_files")
SETTINGS = """[mutmut]
source_paths = src
only_mutate =
    {files}
also_copy =
    conftest.py
    docs
    README.md
pytest_add_cli_args_test_selection =
    {tests}
pytest_add_cli_args =
    -pmutants_plugin
    -pno:cacheprovider
    -pno:xdist
    {deselected}
process_isolation = forkserver
# Without it a failure of the tests themselves is not shown.
debug = true
use_git_change_detection = false
on_dependency_change = ignore
timeout_constant = 5
timeout_multiplier = 6
"""


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
    for name in names or ROOMS:
        top = REPOSITORY / PACKAGE / name
        for folder in [top, *sorted(path for path in top.rglob("*") if path.is_dir())]:
            room = Room(folder.relative_to(REPOSITORY / PACKAGE).as_posix())
            if {file.name for file in room.files} - {"__init__.py"}:
                yield room


def prepare(room: Room) -> None:
    """Lay out the folder mutmut works in: links to the code and the tests, and its settings."""
    room.folder.mkdir(parents=True, exist_ok=True)
    for name in ("src", "tests", "docs", "README.md", "conftest.py", "pyproject.toml"):
        link = room.folder / name
        if not link.is_symlink():
            link.symlink_to(REPOSITORY / name)
    (room.folder / "setup.cfg").write_text(
        SETTINGS.format(
            files="\n    ".join(map(str, room.files)),
            tests="\n    ".join(map(str, [*room.files, *room.tests])),
            deselected="\n    ".join(f"--deselect={test}" for test in NEED_CODE_AS_IT_STANDS),
        )
    )
    mutants = room.folder / "mutants"
    # mutmut copies what is there and never removes what went.
    shutil.rmtree(mutants / "tests", ignore_errors=True)
    for copy in mutants.glob("src/**/*.py"):
        if not (REPOSITORY / copy.relative_to(mutants)).exists():
            copy.unlink()
    _forget_survivors_of_old_tests(room)


def _forget_survivors_of_old_tests(room: Room) -> None:
    """Tests that changed may kill what survived, and may reach other functions."""
    digest = hashlib.sha256()
    shared = [REPOSITORY / name for name in SHARED_BY_TESTS]
    fixtures = REPOSITORY / "tests" / room.name / "conftest.py"
    for path in [*(REPOSITORY / test for test in room.tests), fixtures, *shared]:
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes() if file.exists() else b"")
    written = room.folder / "tests.sha256"
    if written.exists() and written.read_text() == digest.hexdigest():
        return
    (room.folder / "mutants/mutmut-stats.json").unlink(missing_ok=True)
    survivors = {mutant.name for mutant in room.mutants() if mutant.survived}
    for file in room.files:
        path = room.folder / f"mutants/{file}.meta"
        if path.exists():
            meta = json.loads(path.read_text())
            for name in survivors & set(meta["exit_code_by_key"]):
                meta["exit_code_by_key"][name] = None
            path.write_text(json.dumps(meta))
    written.write_text(digest.hexdigest())


def try_mutants(room: Room, workers: int, until: float) -> bool:
    """Run mutmut until it is through or the time is up; False if it could not run."""
    prepare(room)
    source = room.folder / "mutants" / "src"
    environment = os.environ | {
        # In front of the installed package, so that commands which tests start see mutants too.
        "PYTHONPATH": os.pathsep.join([str(source), str(REPOSITORY / "benchmarks")]),
        # Threads of a library do not survive a fork.
        "OMP_NUM_THREADS": "1",
    }
    command = [Path(sys.executable).with_name("mutmut"), "run", "--max-children", str(workers)]
    log = room.folder / "log.txt"
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=room.folder, env=environment, stdout=output, stderr=output
        )
        try:
            while process.poll() is None and time.monotonic() < until:
                _wait_and_tell(process, room, min(60, max(0.1, until - time.monotonic())))
        finally:
            stopped = process.poll() is None
            if stopped:
                process.send_signal(signal.SIGINT)
                process.wait()
    if stopped:
        return True
    if process.returncode:
        print(f"{room.name}: mutmut could not run; the end of {log}:")
        print("\n".join(log.read_text().replace("\r", "\n").splitlines()[-30:]))
    return process.returncode == 0


def _wait_and_tell(process: subprocess.Popen[bytes], room: Room, seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        # mutmut may be writing what is read here.
        with contextlib.suppress(json.JSONDecodeError):
            tried = [mutant.status != "not checked" for mutant in room.mutants()]
            print(f"{room.name}: {sum(tried)} of {len(tried)} mutants tried", flush=True)


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


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rooms", nargs="*", help="folders of src/goalward; all if none is named")
    parser.add_argument("--minutes", type=float, default=55, help="for all rooms together")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    # Some shells start what runs in the background with Ctrl-C ignored, and mutmut, which is
    # stopped by it, would ignore it too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rooms = list(rooms_named(arguments.rooms))
    if not rooms:
        parser.error(f"no room of that name in {PACKAGE}: {' '.join(arguments.rooms)}")
    until = time.monotonic() + 60 * arguments.minutes
    could_run: list[bool] = []
    with contextlib.suppress(KeyboardInterrupt):
        for room in rooms:
            if time.monotonic() < until:
                could_run.append(try_mutants(room, arguments.workers, until))
    for room in rooms:
        write_survivors(room)
    print(table(rooms))
    print(f"survivors: {REPOSITORY}/build/mutants/ROOM/survivors.txt")
    return 0 if all(could_run) else 1


if __name__ == "__main__":
    sys.exit(main())

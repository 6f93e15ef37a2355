"""Do the tests notice a fault? Small faults are planted one by one, and the tests run on each.

    python benchmarks/mutants.py [ROOM ...] [--minutes 55] [--workers 2] [--without TEST ...]
    make mutants ROOM=targets MINUTES=55

A mutant is the code with one change: a + for a -, a < for a <=, another number, an argument left
out. A test that fails on it has killed it. A mutant that passes every test is a hole in the tests,
or changes nothing that matters. ROOM is a folder of src/goalward, such as `targets` or
`metrics/truth` (`metrics` means all rooms in it too); without one, all of ROOMS. Each room is held
against its own tests in `tests/ROOM` and its own examples.

Results stay in build/mutants and are taken up again: a run that is out of minutes goes on where it
stopped, a function that changed is tried anew, and when the tests of a room changed, so are the
mutants that had survived. Delete the folder to start over. Survivors are listed in
build/mutants/ROOM/survivors.txt, with file, line and change. A mutant on which the tests run far
longer than they should has been noticed too: it counts as killed.

All tests must pass on the code as it stands. `--without` leaves out a file of tests, or a test by
its id, that cannot pass on this machine.

Not mutated: code outside functions, decorated functions (`@property`, `@contextmanager`) and
f-strings. mutmut makes and tries the mutants; it forks from a process that has imported torch and
the tests already, so that a mutant costs half a second and the tests that reach it.
"""

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

from mutant_results import PACKAGE, REPOSITORY, Room, rooms_named, table, write_survivors

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


def prepare(room: Room, without: Sequence[str]) -> None:
    """Lay out the folder mutmut works in: links to the code and the tests, and its settings."""
    room.folder.mkdir(parents=True, exist_ok=True)
    for name in ("src", "tests", "docs", "README.md", "conftest.py", "pyproject.toml"):
        link = room.folder / name
        if not link.is_symlink():
            link.symlink_to(REPOSITORY / name)
    tests = [str(test) for test in [*room.files, *room.tests] if str(test) not in without]
    deselected = [f"--deselect={test}" for test in [*NEED_CODE_AS_IT_STANDS, *without]]
    (room.folder / "setup.cfg").write_text(
        SETTINGS.format(
            files="\n    ".join(map(str, room.files)),
            tests="\n    ".join(tests),
            deselected="\n    ".join(deselected),
        )
    )
    mutants = room.folder / "mutants"
    # Python remembers of its path which folders are not there when it starts.
    (mutants / "src").mkdir(parents=True, exist_ok=True)
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


def try_mutants(room: Room, workers: int, until: float, without: Sequence[str]) -> bool:
    """Run mutmut until it is through or the time is up; False if it could not run."""
    prepare(room, without)
    # In front of the installed package, so that commands which tests start see mutants too.
    path = [str(room.folder / "mutants" / "src"), str(REPOSITORY / "benchmarks")]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([*path, *filter(None, [os.environ.get("PYTHONPATH")])]),
        # Threads of a library do not survive a fork.
        "OMP_NUM_THREADS": "1",
    }
    start = "from mutmut.__main__ import cli; cli()"
    command = [sys.executable, "-c", start, "run", "--max-children", str(workers)]
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


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rooms", nargs="*", help="folders of src/goalward; all if none is named")
    parser.add_argument("--minutes", type=float, default=55, help="for all rooms together")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--without", nargs="+", default=[], metavar="TEST")
    arguments = parser.parse_args()
    # Some shells start what runs in the background with Ctrl-C ignored, and mutmut, which is
    # stopped by it, would ignore it too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rooms = list(rooms_named(arguments.rooms or ROOMS))
    if not rooms:
        parser.error(f"no room of that name in {PACKAGE}: {' '.join(arguments.rooms)}")
    until = time.monotonic() + 60 * arguments.minutes
    could_run: list[bool] = []
    with contextlib.suppress(KeyboardInterrupt):
        for room in rooms:
            if time.monotonic() < until:
                tried = try_mutants(room, arguments.workers, until, arguments.without)
                could_run.append(tried)
    for room in rooms:
        write_survivors(room)
    print(table(rooms))
    print(f"survivors: {REPOSITORY}/build/mutants/ROOM/survivors.txt")
    return 0 if all(could_run) else 1


if __name__ == "__main__":
    sys.exit(main())

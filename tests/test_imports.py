"""The rooms of the package import one way only: a room may use lower numbers and root files.

Any lower number, not the one before alone: how an episode ended, a score or an event are words that
all later rooms speak, and handing them on from room to room would restate them in each.
"""

import ast
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "goalward"
ROOM_NUMBER = {
    "executors": 0,
    "stores": 0,
    "rollouts": 1,
    "embeddings": 2,
    "targets": 3,
    "training": 4,
    "monitor": 4,
    "values": 5,
    "metrics": 6,
    "runs": 7,
    "report": 8,
    "exports": 8,
    "experiments": 9,
    "simulate": 9,
    "trackers": 10,
    "lerobot_reward": 10,
    "cli": 11,
}
# Root files serve every room, so they know none; __init__ is the front door and knows them all.
FRONT_DOOR = "__init__"
# Who may go out by the front door and come in again to a later room: a run, which is handed on to
# report and exports, and the command line.
THROUGH_THE_FRONT_DOOR = ("runs", "cli")


def imported_modules(path: Path) -> list[str]:
    modules: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            modules.append(node.module or "")
    return modules


def room_of(module: str) -> str | None:
    parts = module.split(".")
    if parts[0] != "goalward" or len(parts) == 1:
        return None
    return parts[1] if (SOURCE / parts[1]).is_dir() else None


def wrong_imports(path: Path) -> list[str]:
    relative = path.relative_to(SOURCE)
    here = relative.parts[0] if len(relative.parts) > 1 else None
    wrong: list[str] = []
    for module in imported_modules(path):
        room = room_of(module)
        if room is None or room == here:
            continue
        allowed = here is not None and ROOM_NUMBER[room] < ROOM_NUMBER[here]
        if not allowed and relative.stem != FRONT_DOOR:
            wrong.append(f"{relative} imports {module}")
    return wrong


def test_every_room_has_a_number():
    rooms = {p.name for p in SOURCE.iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert rooms <= set(ROOM_NUMBER)


def test_imports_go_one_way():
    files = list(SOURCE.rglob("*.py"))
    assert len(files) > 20
    assert [line for path in files for line in wrong_imports(path)] == []


def test_only_runs_and_commands_use_the_front_door():
    """Elsewhere it would be a way around the rule."""
    users = {
        path.relative_to(SOURCE).parts[0]
        for path in SOURCE.rglob("*.py")
        if "goalward" in imported_modules(path) and not is_for_its_version(path)
    }
    assert users <= set(THROUGH_THE_FRONT_DOOR)


def is_for_its_version(path: Path) -> bool:
    """Whether the package is imported for nothing but `goalward.__version__`."""
    tree = ast.parse(path.read_text())
    used = [
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "goalward"
    ]
    return set(used) <= {"__version__"}


def test_a_wrong_import_is_noticed(tmp_path, monkeypatch):
    (tmp_path / "rollouts").mkdir()
    (tmp_path / "cli").mkdir()
    bad = tmp_path / "rollouts" / "bad.py"
    bad.write_text("from goalward.cli import inspect\n")
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    assert wrong_imports(bad) == ["rollouts/bad.py imports goalward.cli"]


def test_nothing_heavy_is_imported_with_the_command_line():
    """`goalward --help` takes 0.3 s of processor time; numpy and the readers would double it."""
    heavy = (
        "torch",
        "numpy",
        "scipy",
        "pyarrow",
        "av",
        "h5py",
        "matplotlib",
        "pandas",
        "cattrs",
        "ray",
        "fsspec",
        "s3fs",
    )
    code = f"import sys, goalward.cli.app; print([n for n in {heavy} if n in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout == "[]\n"


def test_what_reads_a_run_does_without_torch():
    """Reports, exports and comparisons should not wait seconds for it."""
    modules = (
        "runs.folder.stored",
        "runs.evaluate",
        "report.files",
        "report.pages.files",
        "exports.export",
    )
    imports = ", ".join(f"goalward.{module}" for module in modules)
    code = f"import sys, {imports}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_no_room_or_file_with_a_name_that_says_nothing():
    names = {path.stem for path in SOURCE.rglob("*")}
    assert not names & {"utils", "util", "common", "helpers", "misc"}


def test_the_front_door_opens_before_anything_heavy_is_carried_in():
    """An interrupt while goalward is imported, before main() runs, would be a traceback."""
    code = (
        "import sys, goalward, goalward.cli; "
        "sys.exit(any(name in sys.modules for name in ('numpy', 'av', 'pyarrow', 'rich')))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_every_name_of_the_front_door_is_there():
    code = (
        "import goalward; assert set(goalward.__all__) <= set(dir(goalward)); "
        "[getattr(goalward, name) for name in goalward.__all__]"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0

"""The rooms of the package import one way only: a room may use lower numbers and root files."""

import ast
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "goalward"
ROOM_NUMBER = {
    "rollouts": 1,
    "embeddings": 2,
    "targets": 3,
    "training": 4,
    "values": 5,
    "metrics": 6,
    "report": 7,
    "exports": 7,
    "experiments": 8,
    "simulate": 8,
    "cli": 9,
}
# Root files serve every room, so they know none; __init__ is the front door and knows them all.
FRONT_DOOR = "__init__"


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


def test_a_wrong_import_is_noticed(tmp_path, monkeypatch):
    (tmp_path / "rollouts").mkdir()
    (tmp_path / "cli").mkdir()
    bad = tmp_path / "rollouts" / "bad.py"
    bad.write_text("from goalward.cli import inspect\n")
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    assert wrong_imports(bad) == ["rollouts/bad.py imports goalward.cli"]


def test_nothing_heavy_is_imported_with_the_package():
    code = "import sys, goalward, goalward.cli.app; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


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

"""Files of a data set change together or not at all; the next export finishes one that stopped."""

import json
import os
import subprocess
import threading
from pathlib import Path

import pytest

from goalward.errors import GoalwardError
from goalward.exports.replacement import replace_together
from goalward.leftovers import writer_mark
from goalward.locks import alone_in

NAMES = ("data/a.parquet", "data/b.parquet", "meta/info.json")


class Stopped(BaseException):
    """As a signal would."""


@pytest.fixture
def root(tmp_path) -> Path:
    for name in NAMES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"old {name}")
    return tmp_path


def replace(root, word="new"):
    replace_together(
        root,
        {root / name: lambda path, name=name: path.write_text(f"{word} {name}") for name in NAMES},
    )


def finish(root):
    """Another export, of other files, into the same data set."""
    replace_together(root, {root / "other": lambda path: path.write_text("other")})
    assert (root / "other").read_text() == "other"
    (root / "other").unlink()


def words(root):
    return [(root / name).read_text().split()[0] for name in NAMES]


def others(root):
    return sorted(
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file() and path.relative_to(root).as_posix() not in NAMES
    )


def test_all_are_new_and_the_old_ones_are_beside_them(root):
    replace(root)
    assert words(root) == ["new"] * 3
    backups = [f"{name}.goalward.bak" for name in NAMES]
    assert others(root) == sorted([*backups, "meta/goalward_exports.json"])
    assert [(root / name).read_text() for name in backups] == [f"old {name}" for name in NAMES]


@pytest.mark.parametrize("renames", range(9))
def test_stopped_at_any_rename_it_is_undone_or_finished_by_the_next(root, monkeypatch, renames):
    """Three backups, the record, three files, the record: eight renames."""
    real, left = Path.replace, [renames]

    def stop(self, target):
        if left[0] == 0:
            raise Stopped
        left[0] -= 1
        return real(self, target)

    monkeypatch.setattr(Path, "replace", stop)
    if renames == 8:
        replace(root)
    else:
        with pytest.raises(Stopped):
            replace(root)
    monkeypatch.undo()
    num_new = words(root).count("new")
    assert num_new == min(max(renames - 4, 0), 3)
    if renames < 4:
        assert not any(name.endswith("-new") for name in others(root))
    finish(root)
    assert words(root) == (["old"] * 3 if renames < 4 else ["new"] * 3)
    replace(root, "newer")
    assert words(root) == ["newer"] * 3
    for name in NAMES:
        assert (root / f"{name}.goalward.bak").read_text() == f"old {name}"
    assert len(others(root)) == 4


def test_a_writer_that_fails_leaves_everything_as_it_was(root):
    def fail(path):
        path.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(GoalwardError, match="nothing was changed .No space left on device."):
        replace_together(
            root, {root / NAMES[0]: lambda path: path.write_text("new"), root / NAMES[1]: fail}
        )
    assert words(root) == ["old"] * 3
    assert others(root) == []


def test_what_somebody_changed_since_is_backed_up_too(root):
    replace(root)
    (root / NAMES[0]).write_text("mine data/a.parquet")
    replace(root, "newer")
    assert (root / f"{NAMES[0]}.goalward.bak").read_text() == "old data/a.parquet"
    assert (root / f"{NAMES[0]}.goalward.bak.2").read_text() == "mine data/a.parquet"
    assert not (root / f"{NAMES[1]}.goalward.bak.2").exists()


def test_a_rename_that_is_refused_says_how_to_go_on(root, monkeypatch):
    real = Path.replace

    def refuse(self, target):
        if Path(target).name == "b.parquet":
            raise OSError(13, "Permission denied")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(GoalwardError, match="b.parquet: .*export again to finish"):
        replace(root)
    monkeypatch.undo()
    assert words(root) == ["new", "old", "old"]
    replace(root)
    assert words(root) == ["new"] * 3


def test_what_somebody_changed_after_an_interruption_stays(root, monkeypatch):
    """A data set that was fetched anew must not get files of the old one weeks later."""
    real = Path.replace

    def stop(self, target):
        if Path(target).name == "b.parquet":
            raise Stopped
        return real(self, target)

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(Stopped):
        replace(root)
    monkeypatch.undo()
    (root / NAMES[2]).write_text("mine meta/info.json")
    finish(root)
    assert words(root) == ["new", "new", "mine"]
    assert not any(name.endswith("-new") for name in others(root))


def test_one_export_at_a_time(root):
    problems: list[str] = []

    def begin() -> None:
        try:
            replace(root)
        except GoalwardError as error:
            problems.append(str(error))

    with alone_in(root):
        thread = threading.Thread(target=begin)
        thread.start()
        thread.join()
    assert "another process is at work there" in problems[0]
    assert words(root) == ["old"] * 3
    assert others(root) == []
    replace(root)
    assert words(root) == ["new"] * 3


def test_what_a_killed_export_of_other_files_left_goes(root):
    (root / "data" / ".c.parquet.goalward-new").write_text("half")
    (root / ".sarm_progress.parquet.goalward-new").write_text("half")
    dead = subprocess.Popen(["true"])
    dead.wait()
    mark = writer_mark().replace(f"-{os.getpid()}", f"-{dead.pid}")
    record = root / "meta" / f".goalward_exports.json.{mark}-abcd.json"
    record.write_text("half")
    replace(root)
    assert not any(name.endswith("-new") for name in others(root))
    assert not record.exists()


def test_a_disk_that_cannot_be_written_is_told_as_such(root, monkeypatch):
    def refuse(self, missing_ok=False):
        raise OSError(30, "Read-only file system")

    def fail(path):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(GoalwardError, match="nothing was changed .Read-only file system."):
        replace_together(root, {root / NAMES[0]: fail})


@pytest.mark.parametrize("name", ["../victim", "/etc/passwd"])
def test_a_record_that_leads_outside_is_not_followed(root, name):
    record = {"unfinished": {name: None}, "written": {name: "0"}}
    (root / "meta" / "goalward_exports.json").write_text(json.dumps(record))
    (root.parent / ".victim.goalward-new").write_text("bad")
    with pytest.raises(GoalwardError, match="is no record of exports"):
        replace(root)
    assert not (root.parent / "victim").exists()
    assert words(root) == ["old"] * 3

"""One process at a time in a folder: who comes second waits and is told, the dead hold nothing."""

import errno
import json
import os
import platform
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from goalward import locks
from goalward.locks import LOCK_FILE, HeldByOther, alone_in

HOLD = """
import sys
from pathlib import Path
from goalward.locks import alone_in
with alone_in(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path):
    """Another process that is at work in the folder."""
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_who_holds_it_is_told(tmp_path: Path, holder):
    words = rf"at work there \(process {holder.pid} on {platform.node()}, since 20.*: `-c "
    with pytest.raises(HeldByOther, match=words), alone_in(tmp_path, wait=False):
        pass


def test_the_second_waits_for_the_first_and_says_so_once(tmp_path: Path, holder, caplog):
    threading.Timer(1.0, holder.stdin.close).start()
    started = time.monotonic()
    with alone_in(tmp_path):
        assert time.monotonic() - started > 0.8
        assert holder.wait() == 0
    assert len(caplog.messages) == 1
    assert f"process {holder.pid}" in caplog.messages[0]
    assert caplog.messages[0].endswith("waiting for it to end")
    assert os.listdir(tmp_path) == []


def test_the_dead_hold_nothing(tmp_path: Path, holder):
    holder.kill()
    holder.wait()
    assert os.listdir(tmp_path) == [LOCK_FILE]
    with alone_in(tmp_path, wait=False):
        noted = json.loads((tmp_path / LOCK_FILE).read_text())
        assert noted["pid"] == os.getpid()
    assert os.listdir(tmp_path) == []


def test_one_thread_may_enter_twice_and_another_may_not(tmp_path: Path):
    refused: list[bool] = []

    def enter() -> None:
        try:
            with alone_in(tmp_path, wait=False):
                refused.append(False)
        except HeldByOther:
            refused.append(True)

    with alone_in(tmp_path), alone_in(tmp_path, wait=False):
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
    enter()
    assert refused == [True, False]


def test_many_at_once_are_never_two(tmp_path: Path):
    """The file of the lock comes and goes, and who opened one that is gone has locked nothing."""
    code = """
import sys, time
from pathlib import Path
from goalward import locks
locks._LOOK_AGAIN_S = 0.001
folder = Path(sys.argv[1])
for _ in range(60):
    with locks.alone_in(folder):
        (folder / "inside").touch(exist_ok=False)
        (folder / "inside").unlink()
"""
    many = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(4)]
    assert [process.wait() for process in many] == [0, 0, 0, 0]


def test_a_forked_child_keeps_no_lock(tmp_path: Path):
    code = """
import os, sys, time
from pathlib import Path
from goalward.locks import alone_in
with alone_in(Path(sys.argv[1])):
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    print(child, flush=True)
    os._exit(1)
"""
    found = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    child = int(found.stdout)
    try:
        with alone_in(tmp_path, wait=False):
            pass
    finally:
        os.kill(child, 9)


def test_a_folder_that_was_made_for_the_lock_alone_goes_with_it(tmp_path: Path):
    with alone_in(tmp_path / "run"):
        assert (tmp_path / "run" / LOCK_FILE).exists()
    assert os.listdir(tmp_path) == []
    with alone_in(tmp_path / "run"):
        (tmp_path / "run" / "config.toml").touch()
    assert os.listdir(tmp_path / "run") == ["config.toml"]


def no_locks(*_: object) -> None:
    raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))


def note(folder: Path, **changes: object) -> None:
    known = {"pid": os.getpid(), "machine": platform.node(), "since": "then", "command": "x"}
    (folder / LOCK_FILE).write_text(json.dumps(known | {"started": 0.0} | changes))


def test_where_there_are_no_locks_the_note_tells(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(locks.fcntl, "flock", no_locks)
    # A number of ours, of a process that started at another time: its number was given again.
    note(tmp_path)
    with alone_in(tmp_path, wait=False):
        with pytest.raises(HeldByOther, match=f"process {os.getpid()}"):
            locks._taken(tmp_path.resolve() / LOCK_FILE, wait=False)
    note(tmp_path, machine="elsewhere")
    with pytest.raises(HeldByOther, match=r"on elsewhere.*if it has ended, remove .*\.lock"):
        with alone_in(tmp_path):
            pass

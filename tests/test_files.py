import errno
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from goalward.errors import GoalwardError
from goalward.files import resolved, written_whole


def test_an_error_leaves_the_old_file(tmp_path: Path):
    target = tmp_path / "scores.json"
    target.write_text("old")
    with pytest.raises(RuntimeError), written_whole(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["scores.json"]


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path):
    with pytest.raises(KeyboardInterrupt), written_whole(tmp_path / "new.txt") as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_explained(tmp_path: Path):
    with pytest.raises(GoalwardError, match=r"sheet.png: cannot be written \(No space left"):
        with written_whole(tmp_path / "sheet.png"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert os.listdir(tmp_path) == []


def test_folders_are_made_and_the_file_is_readable(tmp_path: Path):
    target = tmp_path / "a" / "b.txt"
    with written_whole(target) as temporary:
        temporary.write_text("x")
    umask = os.umask(0)
    os.umask(umask)
    assert target.stat().st_mode & 0o777 == 0o666 & ~umask


def test_threads_leave_the_umask_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """To see the umask is to change it, for all threads: two at once would keep the wrong one."""
    umask = os.umask

    def slow_umask(mask: int) -> int:
        before = umask(mask)
        time.sleep(0.003)
        return before

    def write(number: int) -> None:
        with written_whole(tmp_path / f"{number}.txt") as temporary:
            temporary.write_text("x")

    before = umask(0o022)
    monkeypatch.setattr(os, "umask", slow_umask)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, range(40)))
        assert umask(0o022) == 0o022
        assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o644}
    finally:
        umask(before)


def test_a_folder_that_cannot_be_made(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(GoalwardError, match="cannot be written"):
        with written_whole(tmp_path / "file" / "x.txt"):
            pass


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="later versions of Python do not mind")
def test_a_link_that_leads_back_to_itself_is_explained(tmp_path: Path):
    (tmp_path / "run").symlink_to("run")
    with pytest.raises(GoalwardError, match="run: is a link that leads back to itself"):
        resolved(tmp_path / "run")

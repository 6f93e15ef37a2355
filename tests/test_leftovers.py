"""What killed processes left is swept; nothing else is, ever."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from goalward import leftovers
from goalward.files import written_whole
from goalward.leftovers import sweep

BEGIN = """
import sys
from pathlib import Path
from goalward.files import written_whole
with written_whole(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    print(temporary.name, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def begun(tmp_path: Path):
    """A file that another process is writing, and that process."""
    command = [sys.executable, "-c", BEGIN, str(tmp_path / "values.parquet")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield tmp_path / process.stdout.readline().strip(), process
        process.kill()


def test_only_what_is_of_the_dead_is_swept(tmp_path: Path, begun):
    path, process = begun
    mine = tmp_path / ".values.parquet.x8s2k1qa.parquet"
    mine.write_text("of somebody else")
    with written_whole(tmp_path / "scores.json") as ours:
        ours.write_text("half")
        assert sweep(tmp_path) == 0
        assert path.exists()
        process.kill()
        process.wait()
        assert sweep(tmp_path, name="scores.json") == 0
        assert sweep(tmp_path, name="values.parquet") == 1
        assert not path.exists()
        assert ours.exists()
    assert sorted(os.listdir(tmp_path)) == [mine.name, "scores.json"]


def test_below_a_folder(tmp_path: Path, begun):
    path, process = begun
    process.kill()
    process.wait()
    (tmp_path / "networks").mkdir()
    path.rename(tmp_path / "networks" / path.name)
    folder = tmp_path / f".evo-rl.{leftovers.writer_mark()}-abc"
    folder.mkdir()
    assert sweep(tmp_path) == 0
    assert sweep(tmp_path, below=True) == 1
    assert folder.exists()


def test_another_machine_has_a_day(tmp_path: Path, monkeypatch):
    """Numbers of processes mean nothing there: this one is alive here, and that says nothing."""
    monkeypatch.setattr(leftovers, "_machine", lambda: "0123abcd")
    path = tmp_path / f".values.parquet.{leftovers.writer_mark()}-abc.parquet"
    path.write_text("half")
    monkeypatch.undo()
    assert sweep(tmp_path) == 0
    day_ago = time.time() - 25 * 3600
    os.utime(path, (day_ago, day_ago))
    assert sweep(tmp_path) == 1

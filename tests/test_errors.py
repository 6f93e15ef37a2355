"""Errors name what the reader can change as the reader writes it."""

import ast
import re
import threading
from pathlib import Path

import pytest

from goalward.errors import GoalwardError, RolloutError, argument, speaking_of_flags
from goalward.executors.local import LocalExecutor
from goalward.rollouts.labels.outcome import LabelOptions

SOURCE = Path(__file__).parent.parent / "src" / "goalward"
ROOMS = (
    *("rollouts", "embeddings", "targets", "training", "values", "metrics", "report", "exports"),
    *("runs", "experiments", "simulate"),
)
# Options of pip, of the hub's client and of LeRobot's commands, and parts of OpenVLA's file names.
OTHERS = (
    *("--no-deps", "--no-binary", "--repo-type", "--local-dir", "--dataset", "--acp", "--sample"),
    *("--repo", "--root", "--new", "--operation", "--success=", "--task="),
)


@pytest.mark.parametrize(
    ("name", "value", "in_python", "in_a_shell"),
    [
        ("horizon", 80, "horizon=80", "--horizon 80"),
        ("encoder", "./my eyes", "encoder='./my eyes'", "--encoder './my eyes'"),
        ("cameras", (), "cameras=()", "--cameras ''"),
        ("cameras", ["front", "wrist"], "cameras=['front', 'wrist']", "--cameras front,wrist"),
        ("balanced", True, "balanced=True", "--balanced"),
        ("flip", False, "flip=False", "--no-flip"),
        ("label_noise", 0, "label_noise=0", "--label-noise 0"),
    ],
)
def test_an_argument_in_both_voices(name, value, in_python, in_a_shell):
    assert argument(name, value) == in_python
    with speaking_of_flags():
        assert argument(name, value) == in_a_shell
        with speaking_of_flags(False):
            assert argument(name, value) == in_python
    assert argument(name, value) == in_python


def test_another_word_on_the_command_line():
    assert argument("num_workers", flag="workers") == "num_workers="
    with speaking_of_flags():
        assert argument("num_workers", flag="workers") == "--workers"


def test_an_error_on_the_way_does_not_leave_flags_behind():
    with pytest.raises(RolloutError, match="--horizon 0: must be"), speaking_of_flags():
        LabelOptions(horizon=0)
    with pytest.raises(RolloutError, match="horizon=0: must be"):
        LabelOptions(horizon=0)


def test_threads_speak_as_the_process_does():
    said: list[str] = []
    with speaking_of_flags():
        thread = threading.Thread(target=lambda: said.append(argument("labels")))
        thread.start()
        thread.join()
    assert said == ["--labels"]


class Complain:
    """A job that fails in its worker."""

    def do(self, station: int, /) -> None:
        raise GoalwardError(f"give {argument('labels')}")


@pytest.mark.parametrize(("flags", "wanted"), [(True, "give --labels"), (False, "give labels=")])
def test_workers_speak_as_the_process_that_started_them(flags, wanted):
    with speaking_of_flags(flags), LocalExecutor(int, 1) as workers:
        with pytest.raises(GoalwardError, match=wanted):
            next(workers.results(iter([Complain()])))


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_below_the_command_line_writes_a_flag(room):
    paths = sorted((SOURCE / room).rglob("*.py"))
    assert paths
    assert [line for path in paths for line in written_flags(path)] == []


def test_a_written_flag_is_noticed(tmp_path):
    path = tmp_path / "bad.py"
    path.write_text('"""Not --this."""\n\ndef f(x):\n    raise ValueError(f"give --labels {x}")\n')
    assert written_flags(path) == ["bad.py, line 4: --labels"]


def written_flags(path: Path) -> list[str]:
    """Flags in texts of the code, not in docstrings."""
    tree = ast.parse(path.read_text())
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        f"{path.name}, line {node.lineno}: {flag}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
        for flag in re.findall(r"--[a-z][a-z-]*=?", node.value)
        if flag not in OTHERS
    ]

"""Who works, by a word of the user."""

import os
import subprocess
import sys

import pytest

from executors.pieces import Add, thousand
from goalward.errors import GoalwardError, speaking_of_flags
from goalward.executors.choice import executor_on, is_local
from goalward.executors.local import LocalExecutor

# As where Ray is not installed.
NO_RAY = "import sys; sys.modules['ray'] = None\n"


@pytest.mark.parametrize("word", ["Ray", "rays", "dask", "", "http://host:8265"])
def test_a_word_nobody_knows(word):
    with speaking_of_flags(True), pytest.raises(GoalwardError, match="^--on .*: say local, ray"):
        is_local(word)


def test_more_workers_than_pieces_are_not_started():
    executor = executor_on("local", thousand, 8, most_workers=2)
    assert isinstance(executor, LocalExecutor)
    with executor:
        assert len(list(executor.results(iter([Add(1), Add(2)])))) == 2
        assert len(executor._workers) == 2


def without_ray(code):
    return subprocess.run(
        [sys.executable, "-c", NO_RAY + code],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def test_without_ray_a_sentence_says_how_to_get_it():
    found = without_ray(
        "from executors.pieces import thousand\n"
        "from goalward.executors.choice import executor_on\n"
        "from goalward.errors import GoalwardError\n"
        "try:\n"
        "    executor_on('ray', thousand, 2).__enter__()\n"
        "except GoalwardError as error:\n"
        "    print(error)\n"
    )
    assert found.stdout == "on='ray' needs Ray: pip install 'goalward[ray]'\n"


def test_without_ray_a_command_fails_in_one_line(tmp_path):
    found = without_ray(
        "import simulate.walk_world\n"
        "from goalward.cli import main\n"
        f"sys.argv = ['goalward', 'simulate', 'walk', '--out', {str(tmp_path / 'new')!r}]\n"
        "sys.argv += ['--on', 'ray']\n"
        "sys.exit(main())\n"
    )
    assert found.returncode != 0
    assert found.stderr.strip().endswith("--on ray needs Ray: pip install 'goalward[ray]'")
    assert "Traceback" not in found.stderr
    assert not (tmp_path / "new").exists()

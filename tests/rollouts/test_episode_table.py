"""Episodes as a table of pandas."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from goalward import Episode, GoalwardError, Rollouts
from goalward.rollouts import episode_table
from goalward.rollouts.frames import ArrayFrames

ROLLOUTS = Rollouts(
    [
        Episode(
            "a",
            num_frames=5,
            outcome="success",
            goal_frame=3,
            task="fold",
            fps=12.5,
            cameras={"front": ArrayFrames(np.zeros((5, 2, 2, 3), np.uint8))},
            proprioception=np.zeros((5, 2), np.float32),
            action_size=7,
        ),
        Episode("b", num_frames=2, outcome="failure", proprioception=np.ones((2, 2), np.float32)),
    ]
)
needs_pandas = pytest.mark.skipif(find_spec("pandas") is None, reason="pandas is not there")


@needs_pandas
def test_a_row_per_episode():
    import pandas

    table = ROLLOUTS.to_pandas()
    assert table.iloc[0].to_dict() == {
        "id": "a",
        "task": "fold",
        "outcome": "success",
        "success": True,
        "num_frames": 5,
        "goal_frame": 3,
        "fps": 12.5,
        "cameras": "front",
        "num_proprioceptive": 2,
        "action_size": 7,
    }
    assert table.iloc[1].drop(["goal_frame", "fps"]).to_dict() == {
        "id": "b",
        "task": "",
        "outcome": "failure",
        "success": False,
        "num_frames": 2,
        "cameras": "",
        "num_proprioceptive": 2,
        "action_size": 0,
    }
    assert table.iloc[1].goal_frame is pandas.NA
    assert table.iloc[1].fps is pandas.NA


@needs_pandas
def test_rows_follow_the_view_and_types_do_not_depend_on_it():
    table = ROLLOUTS.to_pandas()
    assert ROLLOUTS[[1, 0]].to_pandas().id.tolist() == ["b", "a"]
    assert str(table.goal_frame.dtype) == "Int64", "a goal is a whole number or missing"
    for part in (ROLLOUTS[:1], ROLLOUTS[1:], ROLLOUTS[:0]):
        assert part.to_pandas().dtypes.equals(table.dtypes)


def test_without_pandas_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(episode_table, "find_spec", lambda name: None)
    with pytest.raises(GoalwardError, match="needs the package pandas: pip install pandas"):
        ROLLOUTS.to_pandas()


def test_pandas_is_imported_by_nobody_else():
    code = "import sys, goalward.rollouts.readers; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0

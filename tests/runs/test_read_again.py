"""The rollouts behind a run, read again by the options that it noted."""

import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run
from rollout_files.lerobot import make_episode, write_lerobot

import goalward
from goalward.errors import GoalwardError, RolloutError
from goalward.rollouts.episode import Outcome
from goalward.runs.settings import RunData

OUTCOMES = (Outcome.SUCCESS, Outcome.FAILURE)


def run_of(folder, data, reading):
    episodes = [drawn_episode(str(i), 6, outcome=o) for i, o in enumerate(OUTCOMES)]
    steps = {"mc": [countdown(6)] * 2}
    return drawn_run(episodes, steps, folder, data=RunData(path=str(data)), reading=reading)[0]


@pytest.fixture
def data(tmp_path):
    return write_lerobot(tmp_path / "data", [make_episode(6, good) for good in (True, False)])


def test_a_horizon_that_was_used_once_is_not_asked_about_again(tmp_path, data):
    """Earlier versions never asked, and noted no answer."""
    with pytest.raises(RolloutError, match="would make failures of 1 time-out"):
        goalward.read(data, horizon=9)
    rollouts = run_of(tmp_path / "run", data, {"horizon": 9}).read_rollouts()
    assert tuple(rollouts.outcomes) == OUTCOMES


def test_an_option_that_nobody_knows_is_named(tmp_path, data):
    with pytest.raises(GoalwardError, match="config.toml: no option colour to read rollouts by"):
        run_of(tmp_path / "run", data, {"colour": "red"}).read_rollouts()

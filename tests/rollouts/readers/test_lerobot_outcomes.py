"""Where the outcome of an episode stands in a LeRobot data set."""

import json
from pathlib import Path

import pytest
from rollout_files.lerobot import (
    make_episode,
    write_lerobot,
)
from rollout_files.lerobot_edits import VERSIONS, edit_info, four

import goalward
from goalward import Outcome, RolloutError


def test_a_goal_before_the_end_is_kept(tmp_path: Path):
    episodes = four()
    episodes[0].columns["next.success"] = [False, True, True, False, False]
    assert goalward.read(write_lerobot(tmp_path, episodes)).goal_frames.tolist() == [1, -1, 6, -1]


@pytest.mark.parametrize("name", ["is_success", "is_episode_successful", "success"])
def test_columns_that_repeat_the_outcome_on_every_frame(tmp_path: Path, name: str):
    episodes = [make_episode(4, None, columns={name: [i == 0] * 4}) for i in range(2)]
    rollouts = goalward.read(write_lerobot(tmp_path, episodes))
    assert rollouts.sources[0].label_source == name
    assert rollouts.goal_frames.tolist() == [3, -1]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_list_of_episodes_may_hold_the_outcome(tmp_path: Path, version: str):
    episodes = [
        make_episode(4, None, fields={"episode_success": word}) for word in ("success", "failure")
    ]
    rollouts = goalward.read(write_lerobot(tmp_path, episodes, version=version))
    assert rollouts.sources[0].label_source == "episode_success"
    assert list(rollouts.outcomes) == [Outcome.SUCCESS, Outcome.TIME_OUT]


def test_a_sparse_reward_is_the_last_resort(tmp_path: Path):
    episodes = [
        make_episode(3, None, columns={"next.reward": values})
        for values in ([0.0, 0.0, 1.0], [0.0, 0.0, 0.0])
    ]
    rollouts = goalward.read(write_lerobot(tmp_path, episodes))
    assert rollouts.sources[0].label_source == "next.reward"
    assert rollouts.goal_frames.tolist() == [2, -1]


def test_a_reward_of_zeros_is_no_label(tmp_path: Path):
    episodes = [make_episode(n, None, columns={"next.reward": [0.0] * n}) for n in (3, 4)]
    with pytest.raises(RolloutError, match="no outcome label.*next.reward says the same"):
        goalward.read(write_lerobot(tmp_path, episodes))
    named = goalward.read(tmp_path, success_key="next.reward")
    assert list(named.outcomes) == [Outcome.TIME_OUT] * 2


def test_a_dense_reward_is_no_label(tmp_path: Path):
    episodes = [
        make_episode(3, None, columns={"next.reward": values})
        for values in ([0.0, 0.3, 0.9], [0.0, 0.0, 0.0])
    ]
    with pytest.raises(RolloutError, match="no outcome label found.*holds.*next.reward"):
        goalward.read(write_lerobot(tmp_path, episodes))


def test_progress_in_a_column_called_reward_is_no_label(tmp_path: Path):
    episodes = [make_episode(2, None, columns={"reward": [0.0, 1.0]})]
    with pytest.raises(RolloutError, match="no outcome label found"):
        goalward.read(write_lerobot(tmp_path, episodes))
    assert goalward.read(tmp_path, success_key="reward").success.tolist() == [True]


def test_a_terminated_column_tells_failures(tmp_path: Path):
    episodes = [
        make_episode(3, i == 0, columns={"terminated": [False, False, i < 2]}) for i in range(3)
    ]
    assert list(goalward.read(write_lerobot(tmp_path, episodes)).outcomes) == [
        Outcome.SUCCESS,
        Outcome.FAILURE,
        Outcome.TIME_OUT,
    ]


def test_label_files_inside_the_data_set(tmp_path: Path):
    root = write_lerobot(tmp_path, [make_episode(3, None), make_episode(3, None)])
    (root / "meta/episode_labels.csv").write_text("episode_index,success\n0,false\n1,true\n")
    rollouts = goalward.read(root)
    assert rollouts.success.tolist() == [False, True]
    assert rollouts.sources[0].label_source == "meta/episode_labels.csv"


def test_a_label_file_that_contradicts_the_data(tmp_path: Path):
    root = write_lerobot(tmp_path, four())
    labels = root / "meta" / "episode_labels.csv"
    labels.write_text("episode_index,success\n0,true\n1,true\n2,true\n3,false\n")
    with pytest.raises(RolloutError, match="disagree on 1 episode: 1"):
        goalward.read(root)
    assert goalward.read(root, labels=labels).success.tolist() == [True, True, True, False]


def test_an_early_end_under_a_horizon(tmp_path: Path):
    rollouts = goalward.read(write_lerobot(tmp_path, four()), horizon=8, early_failures=True)
    assert list(rollouts.outcomes[[1, 3]]) == [Outcome.FAILURE, Outcome.TIME_OUT]


@pytest.mark.parametrize("values", [[None, False, False], ["x", "y", "z"], [0.5, 0.0, 0.0]])
def test_a_terminated_column_that_says_nothing(tmp_path: Path, values):
    episodes = [make_episode(3, i == 0) for i in range(2)]
    for episode in episodes:
        episode.columns["terminated"] = values
    with pytest.raises(RolloutError, match="terminated holds more than true and false"):
        goalward.read(write_lerobot(tmp_path, episodes))


def test_a_success_column_that_info_does_not_declare(tmp_path: Path):
    episodes = four()
    for number, episode in enumerate(episodes):
        episode.columns["next.reward"] = [float(number % 2)] * episode.num_frames
    root = write_lerobot(tmp_path, episodes)
    info = json.loads((root / "meta/info.json").read_text())
    del info["features"]["next.success"]
    edit_info(root, features=info["features"])
    rollouts = goalward.read(root)
    assert rollouts.sources[0].label_source == "next.success"
    assert rollouts.success.tolist() == [True, False, True, False]


def test_a_success_column_with_empty_cells(tmp_path: Path):
    episodes = [make_episode(2, None, columns={"next.success": [None, True]})]
    with pytest.raises(RolloutError, match=r"no outcome label.*next.success has empty cells"):
        goalward.read(write_lerobot(tmp_path, episodes))

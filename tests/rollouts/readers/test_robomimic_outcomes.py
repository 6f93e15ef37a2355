"""Where the outcome of an episode in a robomimic file comes from, and where not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rollout_files import hdf5

from goalward.errors import RolloutError
from goalward.rollouts.readers import read


def test_dones_alone_say_nothing(tmp_path: Path):
    demo = hdf5.robomimic_demo().replaced(rewards=None, dones=np.array([0, 0, 0, 0, 1]))
    path = hdf5.write_robomimic(tmp_path / "a.hdf5", {"demo_0": demo})
    with pytest.raises(RolloutError, match=r"a\.hdf5: no outcome label found.*What dones mean"):
        read(path)
    rollouts = read(path, success_key="dones")
    assert rollouts.goal_frames.tolist() == [4]


@pytest.mark.parametrize(
    "rewards",
    [[0, 0.1, 0.4, 0.6, 0.9], [-0.9, -0.6, -0.4, -0.2, -0.1], [0, 0.5, 0.5, 0.5, 1]],
    ids=["shaped", "distance", "two parts"],
)
def test_rewards_that_are_not_sparse_are_not_evidence(tmp_path: Path, rewards: list[float]):
    demo = hdf5.robomimic_demo().replaced(rewards=np.array(rewards))
    demos = {"demo_0": demo, "demo_1": hdf5.robomimic_demo(goal=None)}
    path = hdf5.write_robomimic(tmp_path / "a.hdf5", demos)
    with pytest.raises(RolloutError, match=r"a\.hdf5: no outcome label found"):
        read(path)
    warnings = read(path, labels="success").warnings
    assert any("success_key='rewards' uses them" in warning for warning in warnings)
    expected = "success" if max(rewards) > 0 else "time_out"
    assert read(path, success_key="rewards")[0].outcome == expected


@pytest.mark.parametrize("reward", [0.0, 1.0, -1.0])
def test_rewards_that_never_change_are_no_label(tmp_path: Path, reward: float):
    demos = {
        f"demo_{i}": hdf5.robomimic_demo(5 + i).replaced(rewards=np.full(5 + i, reward))
        for i in range(3)
    }
    path = hdf5.write_robomimic(tmp_path / "a.hdf5", demos)
    with pytest.raises(RolloutError, match=r"no outcome label.*rewards says the same.*labels="):
        read(path)
    assert read(path, success_key="rewards").success.tolist() == [reward > 0] * 3
    assert read(path, labels="time_out").success.tolist() == [False] * 3
    for demo in demos.values():
        demo.attributes["success"] = False
    # A label that is the same everywhere is a label all the same.
    rollouts = read(hdf5.write_robomimic(path, demos))
    assert rollouts.outcomes.tolist() == ["time_out"] * 3
    assert not any("rewards" in warning for warning in rollouts.warnings)


def test_rewards_may_be_the_same_within_every_episode(tmp_path: Path):
    demos = {
        f"demo_{i}": hdf5.robomimic_demo().replaced(rewards=np.full(5, float(i))) for i in range(2)
    }
    rollouts = read(hdf5.write_robomimic(tmp_path / "a.hdf5", demos))
    assert rollouts.success.tolist() == [False, True]


def test_a_step_cost_and_a_scaled_reward_are_sparse(tmp_path: Path):
    demo = hdf5.robomimic_demo().replaced(rewards=np.array([[-1], [-1], [10], [10], [0]]))
    rollouts = read(hdf5.write_robomimic(tmp_path / "a.hdf5", {"demo_0": demo}))
    assert rollouts.goal_frames.tolist() == [2]


def test_terminated_tells_a_failure_from_a_time_out(tmp_path: Path):
    fell = hdf5.robomimic_demo(goal=None).replaced(terminated=np.array([0, 0, 0, 0, 1], bool))
    demos = [fell, hdf5.robomimic_demo(goal=None), hdf5.robomimic_demo()]
    path = tmp_path / "a.hdf5"
    hdf5.write_robomimic(path, {f"demo_{i}": demo for i, demo in enumerate(demos)})
    assert read(path).outcomes.tolist() == ["failure", "time_out", "success"]


@pytest.mark.parametrize("stated", [True, 1, "success", b"true", np.array([1])])
def test_success_key_names_an_attribute(tmp_path: Path, stated: Any):
    demo = hdf5.robomimic_demo(goal=None)
    demo.attributes["solved"] = stated
    path = hdf5.write_robomimic(tmp_path / "a.hdf5", {"demo_0": demo})
    assert read(path, success_key="solved").outcomes.tolist() == ["success"]


def test_success_key_names_a_data_set(tmp_path: Path):
    demo = hdf5.robomimic_demo(goal=None).replaced(obs__solved=np.array([0, 1, 1, 1, 0]))
    path = hdf5.write_robomimic(tmp_path / "a.hdf5", {"demo_0": demo})
    assert read(path, success_key="obs/solved").goal_frames.tolist() == [1]
    with pytest.raises(RolloutError, match=r"a\.hdf5: no usable success key nothing"):
        read(path, success_key="nothing")
    with pytest.raises(RolloutError, match=r"a\.hdf5: .*obs/object has shape \(5, 10\)"):
        read(path, success_key="obs/object")


def test_a_label_file_may_use_the_number_of_the_demo(tmp_path: Path):
    path = hdf5.write_robomimic(tmp_path / "a.hdf5")
    labels = tmp_path / "labels.csv"
    labels.write_text("episode_index,success\n0,false\n1,true\n")
    assert read(path, labels=labels).outcomes.tolist() == ["time_out", "success"]

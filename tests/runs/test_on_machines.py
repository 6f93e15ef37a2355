"""An evaluation by the workers of a cluster says what one by this process says."""

import numpy as np
import pandas
import pytest
from rollout_files.lerobot import make_episode, write_lerobot
from rollout_files.vision_models import write_model

import goalward
from goalward.errors import GoalwardError
from ray_cluster import needs_ray, two_nodes

NUMBERS = {"width": 8, "num_layers": 2, "num_steps": 20, "batch_size": 16}


def test_workers_are_those_of_a_cluster(tmp_path):
    ramp = np.linspace(0, 1, 12)[:, None]
    rollouts = goalward.from_arrays([ramp, -ramp] * 4, success=[True, False] * 4)
    with pytest.raises(GoalwardError, match="num_workers=3: this process works with all cores"):
        goalward.evaluate(rollouts, tmp_path / "run", num_workers=3)
    with pytest.raises(GoalwardError, match="on='dask': say local, ray"):
        goalward.evaluate(rollouts, tmp_path / "run", on="dask")


@pytest.mark.slow
@needs_ray
def test_embedding_and_training_on_a_cluster(tmp_path, monkeypatch, one_thread):
    monkeypatch.setenv("GOALWARD_CACHE", str(tmp_path / "cache here"))
    episodes = [
        make_episode(length, seed=seed, cameras=("front",), success=seed % 2 == 0)
        for seed, length in enumerate([8, 9, 10, 9, 8, 9, 10, 9])
    ]
    data_set = write_lerobot(tmp_path / "rollouts", episodes, version="v2.1")
    model = write_model(tmp_path / "model", "clip")
    options = {"methods": "mc", "seeds": 2, "device": "cpu", "encoder": str(model)}
    options |= {"report": False, "progress": False, **NUMBERS}
    here = goalward.evaluate(data_set, tmp_path / "here", **options)
    monkeypatch.setenv("GOALWARD_CACHE", str(tmp_path / "cache there"))
    with two_nodes():
        there = goalward.evaluate(data_set, tmp_path / "there", on="ray", **options)
    pandas.testing.assert_frame_equal(there.values.to_pandas(), here.values.to_pandas())
    assert there.scores.policy.success == here.scores.policy.success
    assert not (tmp_path / "there" / "networks" / "pieces").exists()

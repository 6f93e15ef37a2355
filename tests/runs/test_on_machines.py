"""An evaluation by the workers of a cluster says what one by this process says."""

import numpy as np
import pandas
import pytest
from rollout_files.lerobot import make_episode, write_lerobot
from rollout_files.vision_models import write_model

import goalward
from goalward.errors import GoalwardError
from goalward.executors import on_ray
from ray_cluster import needs_ray, two_nodes

NUMBERS = {"width": 8, "num_layers": 2, "num_steps": 20, "batch_size": 16}


def small_data_set(folder):
    episodes = [
        make_episode(length, seed=seed, cameras=("front",), success=seed % 2 == 0)
        for seed, length in enumerate([8, 9, 10, 9, 8, 9, 10, 9])
    ]
    data_set = write_lerobot(folder / "rollouts", episodes, version="v2.1")
    model = write_model(folder / "model", "clip")
    options = {"methods": "mc", "seeds": 2, "device": "cpu", "encoder": str(model)}
    options |= {"report": False, "progress": False, **NUMBERS}
    return data_set, options


def test_workers_are_those_of_a_cluster(tmp_path):
    ramp = np.linspace(0, 1, 12)[:, None]
    rollouts = goalward.from_arrays([ramp, -ramp] * 4, success=[True, False] * 4)
    with pytest.raises(GoalwardError, match="num_workers=3: this process works with all cores"):
        goalward.evaluate(rollouts, tmp_path / "run", num_workers=3)
    with pytest.raises(GoalwardError, match="on='dask': say local, ray"):
        goalward.evaluate(rollouts, tmp_path / "run", on="dask")


@needs_ray
def test_what_is_there_already_needs_no_cluster(tmp_path, monkeypatch, one_thread):
    """The embeddings are in the cache, and the networks in the folder."""
    monkeypatch.setenv("GOALWARD_CACHE", str(tmp_path / "cache"))
    data_set, options = small_data_set(tmp_path)
    here = goalward.evaluate(data_set, tmp_path / "run", **options)
    for leftover in ("values.parquet", "scores.json"):
        (tmp_path / "run" / leftover).unlink()

    def started(executor):
        raise AssertionError("a cluster is started")

    monkeypatch.setattr(on_ray.RayExecutor, "__enter__", started)
    there = goalward.evaluate(data_set, tmp_path / "run", on="ray", **options)
    assert there.folder.path == here.folder.path
    pandas.testing.assert_frame_equal(there.values.to_pandas(), here.values.to_pandas())


@pytest.mark.slow
@needs_ray
def test_embedding_and_training_on_a_cluster(tmp_path, monkeypatch, one_thread):
    monkeypatch.setenv("GOALWARD_CACHE", str(tmp_path / "cache here"))
    data_set, options = small_data_set(tmp_path)
    here = goalward.evaluate(data_set, tmp_path / "here", **options)
    monkeypatch.setenv("GOALWARD_CACHE", str(tmp_path / "cache there"))
    with two_nodes():
        there = goalward.evaluate(data_set, tmp_path / "there", on="ray", **options)
    pandas.testing.assert_frame_equal(there.values.to_pandas(), here.values.to_pandas())
    assert there.scores.policy.success == here.scores.policy.success
    assert not (tmp_path / "there" / "networks" / "pieces").exists()

"""A cluster of four nodes that loses one in the middle of everything: the same results as here."""

import logging

import numpy as np
import pytest
import torch
from rollout_files.lerobot import make_episode, write_lerobot
from rollout_files.small_encoder import small_encoder

import goalward
from goalward.embeddings.embed import embed
from goalward.executors.choice import Workers
from goalward.experiments.grid import Grid, run_grid
from goalward.simulate.truth import Branching, branch_jobs, measure, sample_frames
from goalward.stores import objects
from ray_cluster import lose_a_node, needs_ray, some_nodes
from simulate.walk_world import walk_stage, write_traces

pytestmark = [pytest.mark.slow, needs_ray]


@pytest.fixture(scope="module")
def whole_cluster(tmp_path_factory):
    """Its workers have a folder of their own for what they fetch."""
    patch = pytest.MonkeyPatch()
    fetched = tmp_path_factory.mktemp("workers")
    patch.setenv("GOALWARD_STORES", str(fetched))
    with some_nodes(4) as cluster:
        patch.undo()
        cluster.fetched = fetched
        yield cluster


@pytest.fixture
def cluster(whole_cluster):
    while len(whole_cluster.worker_nodes) < 3:
        whole_cluster.add_node(num_cpus=1)
    return whole_cluster


def test_embedding_from_a_store_into_a_store(cluster, tmp_path, monkeypatch, caplog):
    """Rollouts and cache are found by their addresses; this process fetches no video at all."""
    monkeypatch.setenv("GOALWARD_STORES", str(tmp_path / "fetched here"))
    objects._noted.clear()
    lengths = [8, 9, 10, 9, 12, 7, 8, 9]
    episodes = [make_episode(n, seed=seed) for seed, n in enumerate(lengths)]
    path = write_lerobot(tmp_path / "rollouts", episodes, version="v2.1")
    here = embed(goalward.read(path), small_encoder(), cache=tmp_path / "here", device="cpu")
    frames_done = []

    def lose_one(now):
        # The first is told before there is a worker.
        if len(frames_done) == 1:
            lose_a_node(cluster)
        frames_done.append(now.frames)

    there = embed(
        goalward.read(f"local://{path}"),
        small_encoder(),
        cache=f"local://{tmp_path}/there",
        device="cpu",
        on="ray",
        on_progress=lose_one,
    )
    assert np.array_equal(there.features, here.features)
    assert frames_done[-1] == sum(lengths)
    made = [
        {p.name: p.read_bytes() for p in (tmp_path / at).rglob("*.safetensors")}
        for at in ("here", "there")
    ]
    assert made[0] == made[1]
    assert len(made[0]) == len(lengths)
    assert _num_fetched(cluster.fetched) == len(lengths)
    assert _num_fetched(tmp_path / "fetched here") == 0
    assert not any(record.levelno > logging.WARNING for record in caplog.records)


def _num_fetched(stores):
    videos = (stores / "objects").rglob("*.mp4")
    return sum(path.read_bytes()[4:8] == b"ftyp" for path in videos)


def test_a_small_grid(cluster, tmp_path):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    small = {"width": 8, "num_layers": 2, "num_steps": 12, "batch_size": 16}
    grid = Grid(
        methods=("mc",),
        seeds=(0, 1, 2),
        sizes=(4, 8),
        encoders=("one",),
        standard_horizon=6,
        preset="default",
        overrides=small,
    )
    lost = []

    def lose_one(encoder, progress):
        if progress is not None and progress.steps and not lost:
            lost.append(lose_a_node(cluster))

    here = run_grid(grid, features_of, tmp_path / "here", device="cpu")
    there = run_grid(
        grid,
        features_of,
        tmp_path / "there",
        device="cpu",
        workers=Workers("ray"),
        on_progress=lose_one,
    )
    torch.set_num_threads(threads)
    assert lost
    assert there.rows == here.rows


def features_of(encoder):
    rng = np.random.default_rng(3)
    sides = []
    for num_episodes in (12, 6):
        features = [
            rng.normal(size=(n, 3)).astype(np.float32) for n in rng.integers(6, 12, num_episodes)
        ]
        success = [index % 2 == 0 for index in range(num_episodes)]
        sides.append(goalward.from_arrays(features, success=success))
    return sides[0], sides[1]


def test_truth(cluster, tmp_path):
    points = sample_frames(write_traces(tmp_path), 30, seed=0)
    jobs = branch_jobs(points, 8, Branching(cap=60, seed=5))
    here = dict(measure(jobs, walk_stage, 1))
    there = {}
    for job, steps in measure(jobs, walk_stage, None, "ray", [tmp_path]):
        if not there:
            lose_a_node(cluster)
        there[job] = steps
    assert there == here

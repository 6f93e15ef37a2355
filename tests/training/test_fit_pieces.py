"""Trainings cut into pieces: the same networks, whoever trained them and whoever was lost."""

import itertools
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from goalward import from_arrays
from goalward.errors import GoalwardError
from goalward.executors.local import LocalExecutor
from goalward.progress import Setbacks
from goalward.training import fit_pieces
from goalward.training.fit import train
from goalward.training.fit_pieces import PIECES, independent_parts, train_on
from goalward.training.frames.inputs import _scaling
from goalward.training.frames.training_frames import training_frames
from goalward.training.methods.presets import hyperparameters
from goalward.training.stored.frames_file import holds, read_frames, write_frames
from goalward.training.stored.origin import fingerprint
from goalward.values.fit import asked_runs, fit
from ray_cluster import lose_a_node, needs_ray, two_nodes

NUMBERS = {"width": 16, "num_layers": 2, "num_steps": 60, "batch_size": 32}
METHODS = ("mc", "liveness")


def rollouts(num_episodes: int = 12):
    rng = np.random.default_rng(0)
    ramp = np.linspace(0, 1, 15)[:, None]
    arrays = [
        (1 if index % 2 else -1) * ramp + 0.1 * rng.normal(size=(15, 4))
        for index in range(num_episodes)
    ]
    return from_arrays(
        arrays,
        proprioception=[rng.normal(size=(15, 2)) for _ in range(num_episodes)],
        success=[bool(index % 2) for index in range(num_episodes)],
        tasks=["left" if index < num_episodes // 2 else "right" for index in range(num_episodes)],
    )


@pytest.fixture
def problem():
    frames = training_frames(rollouts())
    numbers = hyperparameters("default", **NUMBERS, patience=2).for_horizon(frames.horizon)
    asked = asked_runs(frames, METHODS, 2, numbers, per_task=True)
    return frames, asked.runs, numbers


def assert_same(found, wanted):
    assert [nets.runs for nets in found] == [nets.runs for nets in wanted]
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.fingerprint == theirs.fingerprint
        assert ours.weights.keys() == theirs.weights.keys()
        for name, weight in ours.weights.items():
            # Values that a second stage builds on are computed for all first stages at once.
            apart = 0 if not ours.runs[0].anchors else 1e-6
            assert weight.sub(theirs.weights[name]).abs().max() <= apart
        assert ours.mean.equal(theirs.mean)
        assert ours.scale.equal(theirs.scale)
        assert (ours.lens is None) == (theirs.lens is None)
        for name, log in vars(ours.log).items():
            assert np.allclose(log, vars(theirs.log)[name], atol=1e-6, equal_nan=True)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.safetensors")}


def test_parts_need_nothing_of_each_other(problem):
    _, runs, _ = problem
    parts = independent_parts(runs)
    assert sorted(map(repr, (run for part in parts for run in part))) == sorted(map(repr, runs))
    needed = [set().union(*map(fit_pieces._all_of, part)) for part in parts]
    for one, other in itertools.combinations(needed, 2):
        assert not one & other
    # Two seeds of two tasks and two methods, of which none builds on the other.
    assert len(parts) == 2 * 2 * 2


def test_runs_that_share_what_they_build_on_stay_together(problem):
    frames, _, numbers = problem
    asked = asked_runs(frames, ("liveness", "liveness-nb"), 2, numbers, per_task=True)
    shared = [part for part in independent_parts(asked.runs) if len(part) > 1]
    for part in shared:
        assert len({run.seed for run in part}) == 1
    again = independent_parts([*asked.runs, *asked.runs])
    assert len(again) == len(independent_parts(asked.runs))


def test_frames_come_back_from_their_file(problem, tmp_path):
    frames, _, numbers = problem
    write_frames(tmp_path / "frames.npz", frames)
    found = read_frames(tmp_path / "frames.npz")
    assert fingerprint(found, numbers, []) == fingerprint(frames, numbers, [])
    assert isinstance(found.features, np.memmap)
    assert found.features.dtype == frames.features.dtype
    assert found.episode_task == frames.episode_task
    assert found.episode_id == frames.episode_id
    assert np.array_equal(found.proprioception, frames.proprioception)
    assert np.array_equal(found.endings.failures, frames.endings.failures)


def test_a_file_of_frames_that_was_damaged_is_written_again(problem, tmp_path):
    frames, _, _ = problem
    path = tmp_path / "frames.npz"
    assert not holds(path, frames)
    write_frames(path, frames)
    assert holds(path, frames)
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 3] ^= 1
    for content in (flipped, whole[: len(whole) // 2], b"", bytes(len(whole))):
        path.write_bytes(content)
        assert not holds(path, frames)
    write_frames(path, replace(frames, features=frames.features + 1))
    assert not holds(path, frames)


def options(folder):
    return {
        "device": "cpu",
        "checkpoint_folder": folder,
        "on_progress": None,
        "tasks": None,
        "num_workers": 2,
    }


def test_pieces_give_the_networks_of_one_process(problem, tmp_path, one_thread):
    """In processes of this machine: what a cluster does, without one."""
    frames, runs, numbers = problem
    wanted = train(frames, runs, numbers, device="cpu", checkpoint_folder=tmp_path / "alone")
    heard = []
    told = options(tmp_path / "pieces") | {"on_progress": heard.append}
    found = train_on("local", frames, runs, numbers, **told)
    assert_same(found, wanted)
    assert files(tmp_path / "pieces").keys() == files(tmp_path / "alone").keys()
    assert not (tmp_path / "pieces" / PIECES).exists()
    # The first is told before there is a worker.
    assert [now.steps for now in heard] == list(range(9))
    assert {now.total_steps for now in heard} == {8}


def test_pieces_that_fail_are_told_beside_how_far_it_is(problem, tmp_path, one_thread, monkeypatch):
    """One is tried again, from when it failed to when it is done."""

    class Shaky(LocalExecutor):
        def results(self, pieces, on_failed=None, on_setbacks=None):
            for number, result in enumerate(super().results(pieces, on_failed), start=1):
                if number in (3, 5):
                    on_setbacks(Setbacks(num_again=int(number == 3)))
                yield result

    def shaky(on, build, num_workers, **_):
        return Shaky(build, num_workers)

    monkeypatch.setattr(fit_pieces, "executor_on", shaky)
    heard = []
    train_on("local", *problem, **options(tmp_path) | {"on_progress": heard.append})
    again = [(now.steps, now.setbacks.num_again) for now in heard]
    wanted = [(steps, int(steps in (3, 4))) for steps in range(9)]
    assert again == [*wanted[:3], (2, 1), *wanted[3:5], (4, 0), *wanted[5:]]


def test_means_of_many_features_do_not_depend_on_the_company(one_thread):
    """Pieces have one set of episodes each; all of them together have several."""
    rng = np.random.default_rng(1)
    frames = training_frames(
        from_arrays(rng.normal(size=(12, 20, 700)), success=[n % 2 == 0 for n in range(12)])
    )
    sets = [tuple(n for n in range(12) if n != left_out) for left_out in range(6)]
    together = _scaling(frames, tuple(sets))
    for index, one in enumerate(sets):
        for all_of_them, alone in zip(together, _scaling(frames, (one,)), strict=True):
            assert np.array_equal(all_of_them[index], alone[0])


def test_a_driver_that_died_goes_on_with_the_pieces_that_are_there(
    problem, tmp_path, one_thread, monkeypatch
):
    frames, runs, numbers = problem
    wanted = train(frames, runs, numbers, device="cpu")

    class Killed(Exception):
        pass

    def die(now):
        if now.steps == 3:
            raise Killed

    with pytest.raises(Killed):
        told = options(tmp_path) | {"on_progress": die}
        train_on("local", frames, runs, numbers, **told)
    (folder,) = (tmp_path / PIECES).iterdir()
    before = {path: path.stat().st_mtime_ns for path in folder.glob("part-*/nets-*")}
    assert len(before) >= 3
    # Workers that are started now would not read what lies there.
    (folder / "frames.npz").write_bytes(b"damaged")
    kept = {}
    monkeypatch.setattr(shutil, "rmtree", lambda path, **_: kept.update(_times(folder)))
    assert_same(train_on("local", frames, runs, numbers, **options(tmp_path)), wanted)
    assert {path: kept[path] for path in before} == before


def _times(folder):
    return {path: path.stat().st_mtime_ns for path in folder.glob("part-*/nets-*")}


@needs_ray
def test_a_cluster_needs_a_folder(problem):
    with pytest.raises(GoalwardError, match="on='ray' needs a folder that all machines share"):
        fit(rollouts(), "mc", seeds=1, on="ray", **NUMBERS)


@pytest.mark.slow
@needs_ray
def test_a_cluster_that_loses_a_node_trains_the_same_networks(tmp_path, one_thread):
    here = fit(rollouts(), "mc", seeds=6, device="cpu", checkpoint=tmp_path / "a", **NUMBERS)
    with two_nodes() as cluster:
        lost = []

        def lose_one(now):
            if now.steps == 1 and not lost:
                lost.append(lose_a_node(cluster))

        there = fit(
            rollouts(),
            "mc",
            seeds=6,
            device="cpu",
            checkpoint=tmp_path / "b",
            on="ray",
            on_progress=lose_one,
            **NUMBERS,
        )
    assert_same(there.nets, here.nets)
    # What was trained is not trained again.
    again = fit(
        rollouts(), "mc", seeds=6, device="cpu", checkpoint=tmp_path / "b", on="ray", **NUMBERS
    )
    assert_same(again.nets, here.nets)

"""Small worlds that every training test shares."""

import numpy as np
import pytest
import torch

import goalward
from goalward.training.frames.inputs import FeatureRows
from goalward.training.frames.training_frames import training_frames
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.table import METHODS
from goalward.training.problem import problem_of
from goalward.training.runs import plan_run
from goalward.training.step import initial_state


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Networks this small are slower on two threads, and tests run side by side."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


# Just enough training to move every weight.
SMALL = {"width": 8, "num_layers": 3, "batch_size": 16, "num_steps": 12, "device": "cpu"}


@pytest.fixture(scope="session")
def small():
    return dict(SMALL)


@pytest.fixture(scope="session")
def numbers():
    return Hyperparameters(
        width=8, num_layers=3, batch_size=16, num_steps=12, learning_rate=1e-3
    ).for_horizon(10)


@pytest.fixture(scope="session")
def random_rollouts():
    """Episodes of different lengths with these outcomes; the eighth has a single frame."""

    def make(*outcomes):
        rng = np.random.default_rng(0)
        lengths = [10, 11, 6, 8, 9, 4, 5, 1]
        features = [rng.normal(size=(n, 3)).astype(np.float32) for n in lengths[: len(outcomes)]]
        return goalward.from_arrays(features, outcomes=outcomes)

    return make


@pytest.fixture(scope="session")
def rollouts(random_rollouts):
    return random_rollouts(*["success", "time_out"] * 3, "failure", "time_out")


@pytest.fixture(scope="session")
def frames(rollouts):
    return training_frames(rollouts)


@pytest.fixture(scope="session")
def begun(frames):
    """The problem of the runs of a method, one per seed, and its state before the first batch."""

    def begin(method="liveness-nb", seeds=(0,), **options):
        small = {"width": 8, "num_layers": 3, "batch_size": 16, "num_steps": 12}
        numbers = Hyperparameters(**small | options).for_horizon(10)
        runs = [plan_run(frames, METHODS[method], seed, range(8), numbers) for seed in seeds]
        rows = FeatureRows(frames.features, torch.device("cpu"))
        problem = problem_of(frames, rows, runs, {}, numbers, torch.float32)
        return problem, initial_state(problem)

    return begin

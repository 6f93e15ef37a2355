"""Runs on cores of their own: the same numbers on any number of cores."""

import threading

import numpy as np
import pytest
import torch

import goalward
from goalward.training.side_by_side import side_by_side
from goalward.values.fit import fit


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("method", ["liveness", "lambda-returns"])
def test_the_same_numbers_on_one_core_and_on_three(method, threads) -> None:
    draws = np.random.default_rng(0)
    episodes = [draws.normal(size=(40, 24)) for _ in range(8)]
    rollouts = goalward.from_arrays(episodes, success=[True, False] * 4)
    found = []
    for number in (1, 3):
        threads(number)
        fitted = fit(rollouts, method, seeds=3, num_steps=8, width=64, batch_size=256, device="cpu")
        assert torch.get_num_threads() == number
        found.append([nets.weights for nets in fitted.nets])
    for first, second in zip(*found, strict=True):
        for name, weight in first.items():
            assert torch.equal(weight, second[name]), name


def test_work_is_shared_out_and_errors_come_back(threads) -> None:
    threads(2)
    meeting = threading.Barrier(2, timeout=10)
    with side_by_side(torch.device("cpu")) as each:
        assert torch.get_num_threads() == 1
        # Two that wait for each other: one after the other they would wait for ever.
        assert each(lambda item: (meeting.wait(), 2 * item)[1], [1, 2]) == [2, 4]
        with pytest.raises(ZeroDivisionError):
            each(lambda item: 1 // item, [0])
    assert torch.get_num_threads() == 2

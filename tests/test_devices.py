"""Which device computes, where there are several cards."""

import contextlib

import numpy as np
import pytest
import torch

import goalward
from goalward.devices import chosen_device, on_device
from goalward.training import fit as training


@pytest.fixture
def two_cards(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


@pytest.mark.usefixtures("two_cards")
def test_a_card_that_is_not_there_is_an_error_in_words():
    assert chosen_device("cuda:1") == torch.device("cuda:1")
    assert chosen_device(None) == torch.device("cuda")
    words = "^no device 'cuda:2': there are 2 CUDA devices here, numbered from 0$"
    with pytest.raises(goalward.GoalwardError, match=words):
        chosen_device("cuda:2")


def test_what_a_card_makes_is_of_the_card_that_was_chosen(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device", lambda device: ("current", device))
    assert on_device(torch.device("cuda:1")) == ("current", torch.device("cuda:1"))
    with on_device(torch.device("cpu")):
        pass


@pytest.mark.parametrize("block_mb", [0.001, 100.0])
def test_networks_are_trained_on_the_device_that_was_chosen(monkeypatch, block_mb):
    """With the first card current, graphs and kernels for another would be of the first."""
    current: list[torch.device] = []
    seen: list[tuple[torch.device, ...]] = []

    @contextlib.contextmanager
    def noted(device):
        current.append(device)
        yield
        current.pop()

    trainer = training.batch_trainer

    def asked(*arguments):
        seen.append(tuple(current))
        return trainer(*arguments)

    monkeypatch.setattr(training, "on_device", noted)
    monkeypatch.setattr(training, "batch_trainer", asked)
    ramp = np.linspace(0, 1, 12)[:, None]
    rollouts = goalward.from_arrays([ramp, -ramp] * 4, success=[True, False] * 4)
    small = {"width": 8, "num_layers": 2, "num_steps": 6, "batch_size": 16, "block_mb": block_mb}
    goalward.fit(rollouts, "mc", seeds=1, device="cpu", **small)
    assert seen
    assert set(seen) == {(torch.device("cpu"),)}

"""The reward model by LeRobot's rules.

LeRobot asks for Python 3.12, torchvision and older versions of torch and numpy than ours. Where it
is installed its own classes are used; elsewhere the two that a reward model is made of stand in,
as short as its rules allow (`lerobot/rewards/factory.py`, `lerobot/rewards/pretrained.py`).
"""

import importlib
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from types import ModuleType
from typing import ClassVar

import numpy as np
import pytest
import torch

import goalward
from goalward.errors import GoalwardError

PACKAGE = "goalward.lerobot_reward"


@pytest.fixture
def lerobot(monkeypatch):
    """LeRobot, or what stands in for it; our modules are imported anew against it."""
    for name in ("configuration", "modeling", "processor"):
        monkeypatch.delitem(sys.modules, f"{PACKAGE}.{name}_goalward", raising=False)
    if find_spec("lerobot") is not None:
        return

    @dataclass
    class RewardModelConfig:
        choices: ClassVar[dict[str, type]] = {}
        device: str | None = None
        pretrained_path: str | None = None

        def __post_init__(self):
            pass

        @classmethod
        def register_subclass(cls, name):
            return lambda config: cls.choices.setdefault(name, config)

    class PreTrainedRewardModel(torch.nn.Module):
        def __init__(self, config):
            super().__init__()
            self.config = config

    for name, content in (
        ("lerobot", {}),
        ("lerobot.configs", {}),
        ("lerobot.configs.rewards", {"RewardModelConfig": RewardModelConfig}),
        ("lerobot.rewards", {}),
        ("lerobot.rewards.pretrained", {"PreTrainedRewardModel": PreTrainedRewardModel}),
    ):
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)


def model_class(config_class):
    """As LeRobot finds the class of a reward model that is not its own: by rewriting names."""
    module = config_class.__module__.replace("configuration_", "modeling_")
    name = config_class.__name__.removesuffix("Config") + "RewardModel"
    return getattr(importlib.import_module(module), name)


def test_rewards_are_what_the_monitor_says(lerobot, folder, run):
    configuration = importlib.import_module(f"{PACKAGE}.configuration_goalward")
    model = model_class(configuration.GoalwardConfig)(
        configuration.GoalwardConfig(folder=str(folder))
    )
    episode = run.rollouts[0]
    monitor = goalward.Monitor.load(folder)
    for number in range(4):
        pictures = [episode.frame(name, number) for name in ("front", "wrist")]
        wanted = monitor.step(pictures, episode.proprioception[number])
        batch = {
            f"observation.images.{name}": torch.from_numpy(
                np.moveaxis(picture, -1, 0).astype(np.float32) / 255
            ).repeat(2, 1, 1, 1)
            for name, picture in zip(("front", "wrist"), pictures, strict=True)
        }
        batch["observation.state"] = torch.from_numpy(episode.proprioception[number]).repeat(2, 1)
        reward = model.compute_reward(batch)
        assert reward.tolist() == pytest.approx([(1 - wanted.value) / 2] * 2, abs=1e-6)
    assert model.readings[1].frame == 3
    model.reset()
    model.compute_reward(batch)
    assert model.readings[0].frame == 0
    del batch["observation.images.wrist"]
    with pytest.raises(GoalwardError, match=r"wrist in the batch; there are: observation.images.f"):
        model.compute_reward(batch)


def test_which_number_and_from_where(lerobot, folder):
    configuration = importlib.import_module(f"{PACKAGE}.configuration_goalward")
    config = configuration.GoalwardConfig(reward="ever", within=5)
    model = model_class(configuration.GoalwardConfig).from_pretrained(folder, config=config)
    assert model.config.folder == str(folder)
    assert model.config.device == "cpu"
    with pytest.raises(ValueError, match="^no reward 'joy'; there are progress, chance, ever$"):
        configuration.GoalwardConfig(reward="joy")
    with pytest.raises(GoalwardError, match="give the folder that `goalward export --to onnx` wro"):
        model_class(configuration.GoalwardConfig)(configuration.GoalwardConfig())

"""The reward model by LeRobot's rules.

LeRobot asks for Python 3.12, torchvision and older versions of torch and numpy than ours. Where it
is installed its own classes are used; elsewhere the two that a reward model is made of stand in,
as short as its rules allow (`lerobot/rewards/factory.py`, `lerobot/rewards/pretrained.py`).
"""

import importlib
import sys
from dataclasses import dataclass, make_dataclass
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
    if find_spec("lerobot") is not None:
        return
    for name in ("configuration", "modeling", "processor"):
        monkeypatch.delitem(sys.modules, f"{PACKAGE}.{name}_goalward", raising=False)

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


def test_lerobot_finds_makes_and_asks_it_by_its_own_code(folder, run):
    """By its options on the command line, its factory and its processors."""
    pytest.importorskip("lerobot", reason="LeRobot is not installed (make lerobot)")
    draccus = pytest.importorskip("draccus")
    from lerobot.configs.parser import load_plugin, parse_plugin_args
    from lerobot.configs.rewards import RewardModelConfig
    from lerobot.rewards.factory import (
        get_reward_model_class,
        make_reward_model,
        make_reward_model_config,
        make_reward_pre_post_processors,
    )

    option = "reward_model.discover_packages_path"
    found = parse_plugin_args("discover_packages_path", [f"--{option}={PACKAGE}"])
    assert found == {option: PACKAGE}
    load_plugin(found[option])
    options = {"type": "goalward", "folder": folder, "reward": "progress"}
    typed = [f"--reward_model.{name}={text}" for name, text in options.items()]
    config = draccus.parse(
        make_dataclass("Options", [("reward_model", RewardModelConfig)]), args=typed
    ).reward_model
    assert config == make_reward_model_config("goalward", folder=str(folder))
    assert config.type == "goalward"
    model = make_reward_model(config, dataset_stats=None)
    assert type(model) is get_reward_model_class("goalward")
    assert not model.is_trainable
    before, after = make_reward_pre_post_processors(config)
    episode, monitor = run.rollouts[0], goalward.Monitor.load(folder)
    cameras = ("observation.images.front", "observation.images.wrist")
    for number in range(3):
        pictures = [episode.frame(name, number) for name in cameras]
        state = episode.proprioception[number]
        batch = before(
            {
                **{
                    name: torch.from_numpy(np.moveaxis(picture, -1, 0).astype(np.float32) / 255)
                    for name, picture in zip(cameras, pictures, strict=True)
                },
                "observation.state": torch.from_numpy(state),
            }
        )
        reward = after(model.compute_reward(batch))
        wanted = (1 - monitor.step(pictures, state).value) / 2
        assert reward.tolist() == pytest.approx([wanted], abs=1e-6)


def test_what_lerobot_saves_is_opened_again(folder, tmp_path):
    pytest.importorskip("lerobot", reason="LeRobot is not installed (make lerobot)")
    from lerobot.configs.parser import load_plugin
    from lerobot.rewards.factory import make_reward_model, make_reward_model_config

    load_plugin(PACKAGE)
    config = make_reward_model_config("goalward", folder=str(folder))
    model = make_reward_model(config)
    model.save_pretrained(tmp_path / "saved")
    again = type(model).from_pretrained(tmp_path / "saved")
    assert again.config.folder == str(folder)
    config.pretrained_path = str(tmp_path / "saved")
    assert make_reward_model(config).config.folder == str(folder)

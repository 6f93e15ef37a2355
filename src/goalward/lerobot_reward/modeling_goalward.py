"""`GoalwardRewardModel`: the value of every frame as LeRobot's `compute_reward` gives rewards."""

# pyright: basic, reportMissingImports=false
# (LeRobot is not a dependency)

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from lerobot.configs.rewards import RewardModelConfig
from lerobot.rewards.pretrained import PreTrainedRewardModel
from torch import Tensor

from goalward.errors import GoalwardError
from goalward.lerobot_reward.configuration_goalward import GoalwardConfig
from goalward.monitor.monitor import Monitor, Reading
from goalward.rollouts.frames import Image

STATE = "observation.state"
# LeRobot's own, beside its weights; no file of a monitor has this name.
CONFIG_NAME = "config.json"


class GoalwardRewardModel(PreTrainedRewardModel):
    """Rewards of episodes that are under way, each row of a batch one of them.

    Values look back (lags), so frames come in order, and `reset` begins episodes. Not to be trained
    here: `goalward evaluate` did that.
    """

    config_class = GoalwardConfig
    name = "goalward"

    def __init__(self, config: GoalwardConfig, **_: Any) -> None:
        super().__init__(config)
        self.config: GoalwardConfig = config
        if not config.folder:
            raise GoalwardError("goalward: give the folder that `goalward export --to onnx` wrote")
        self._monitors = [self._load()]
        self.readings: list[Reading] = []

    @classmethod
    def from_pretrained(
        cls,
        pretrained_name_or_path: str | Path,
        *,
        config: RewardModelConfig | None = None,
        **_: Any,
    ) -> "GoalwardRewardModel":
        """A folder of a monitor, or what `save_pretrained` wrote, which says where that lies.

        There are no weights of LeRobot's kind.
        """
        place = Path(pretrained_name_or_path)
        if config is None and (place / CONFIG_NAME).is_file():
            config = RewardModelConfig.from_pretrained(place)
        chosen = config if isinstance(config, GoalwardConfig) else GoalwardConfig()
        chosen.folder = chosen.folder or str(place)
        return cls(chosen)

    def reset(self) -> None:
        for monitor in self._monitors:
            monitor.reset()

    def compute_reward(self, batch: dict[str, Tensor]) -> Tensor:
        """Observations of a moment, (rows, ...) each, become rewards (rows,)."""
        settings = self._monitors[0].settings
        pictures = {camera.name: _bytes(batch, camera.name) for camera in settings.cameras}
        state = batch[STATE].detach().cpu().numpy() if settings.num_state else None
        num_rows = len(next(iter(pictures.values()))) if state is None else len(state)
        while len(self._monitors) < num_rows:
            self._monitors.append(self._load())
        self.readings = [
            self._monitors[row].step(
                {name: frames[row] for name, frames in pictures.items()},
                None if state is None else state[row],
            )
            for row in range(num_rows)
        ]
        return torch.tensor([self._reward(reading) for reading in self.readings])

    def _reward(self, reading: Reading) -> float:
        if self.config.reward == "progress":
            return (1 - reading.value) / 2
        return reading.chance if self.config.reward == "chance" else reading.ever

    def _load(self) -> Monitor:
        within = self.config.within or None
        return Monitor.load(
            self.config.folder, task=self.config.task, within=within, threads=self.config.threads
        )


def _bytes(batch: Mapping[str, Tensor], name: str) -> Image:
    """Pictures (rows, 3, height, width) in 0..1, or in bytes, as (rows, height, width, 3) bytes."""
    if name not in batch:
        there = ", ".join(key for key in batch if "image" in key) or "none"
        raise GoalwardError(f"no pictures of camera {name} in the batch; there are: {there}")
    pictures = batch[name].detach().cpu().numpy()
    if pictures.ndim != 4 or pictures.shape[1] != 3:
        raise GoalwardError(
            f"camera {name}: pictures must be (rows, 3, height, width), got {pictures.shape}"
        )
    if pictures.dtype != np.uint8:
        pictures = np.clip(np.rint(pictures * 255.0), 0, 255).astype(np.uint8)
    return np.ascontiguousarray(np.moveaxis(pictures, 1, -1))

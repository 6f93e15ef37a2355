"""What LeRobot has to be told of a monitor."""

# pyright: basic, reportMissingImports=false
# (LeRobot is not a dependency)

from dataclasses import dataclass

from lerobot.configs.rewards import RewardModelConfig

REWARDS = ("progress", "chance", "ever")


@RewardModelConfig.register_subclass("goalward")
@dataclass
class GoalwardConfig(RewardModelConfig):
    """The folder that `goalward export RUN --to onnx` wrote, and which of its numbers is a reward.

    `progress` is (1 - value) / 2, 1 at the goal and 0 where it is never reached; `chance` that of
    success `within` so many steps (0: the run's standard horizon), `ever` that of success at all.
    """

    folder: str = ""
    reward: str = "progress"
    task: str | None = None
    within: int = 0
    threads: int = 2

    def __post_init__(self) -> None:
        # Its networks run by ONNX Runtime on the CPU.
        self.device = "cpu"
        super().__post_init__()
        if self.reward not in REWARDS:
            raise ValueError(f"no reward {self.reward!r}; there are {', '.join(REWARDS)}")

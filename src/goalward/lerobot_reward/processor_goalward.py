"""LeRobot's pipelines before and after a reward model: observations go in as they were recorded.

A monitor prepares pictures and standardises by itself, so nothing is normalised here.
"""

# pyright: basic, reportMissingImports=false
# (LeRobot is not a dependency)

from typing import Any

from lerobot.processor import (
    AddBatchDimensionProcessorStep,
    PolicyProcessorPipeline,
    policy_action_to_transition,
    transition_to_policy_action,
)
from lerobot.utils.constants import (
    POLICY_POSTPROCESSOR_DEFAULT_NAME,
    POLICY_PREPROCESSOR_DEFAULT_NAME,
)

from goalward.lerobot_reward.configuration_goalward import GoalwardConfig


def make_goalward_pre_post_processors(
    config: GoalwardConfig, dataset_stats: dict[str, dict[str, Any]] | None = None
) -> tuple[Any, Any]:
    """A batch axis where there is none, and nothing else."""
    before = PolicyProcessorPipeline(
        steps=[AddBatchDimensionProcessorStep()], name=POLICY_PREPROCESSOR_DEFAULT_NAME
    )
    # Rewards go through as they are; without the second it would hand back a transition.
    after = PolicyProcessorPipeline(
        name=POLICY_POSTPROCESSOR_DEFAULT_NAME,
        to_transition=policy_action_to_transition,
        to_output=transition_to_policy_action,
    )
    return before, after

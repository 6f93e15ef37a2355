"""Why episodes were left out."""

from goalward.rollouts.dataset import Rollouts


def reasons(rollouts: Rollouts) -> dict[str, str]:
    """Of the episodes that are left out, by their ids."""
    return {left_out.episode_id: left_out.reason for left_out in rollouts.left_out}

"""The trackers there are; nothing heavy is imported here, as the command line needs the names."""

from typing import Literal, get_args

TrackerName = Literal["wandb", "trackio"]
TRACKERS: tuple[str, ...] = get_args(TrackerName)

"""Folders of videos for tests, and what was read of them."""

from pathlib import Path

from goalward.rollouts.dataset import Rollouts


def place(clip: Path, *paths: Path) -> None:
    """The same clip at these places."""
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(clip.read_bytes())


def success_by_id(rollouts: Rollouts) -> dict[str, bool]:
    return dict(zip(rollouts.ids, rollouts.success.tolist(), strict=True))

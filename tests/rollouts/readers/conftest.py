"""A video for the tests of readers."""

from pathlib import Path

import pytest
from rollout_files import videos


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six frames at ten per second."""
    return videos.write_video(tmp_path_factory.mktemp("clip") / "clip.mp4", 6)

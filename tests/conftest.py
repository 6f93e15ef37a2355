"""Shared by all tests: where the optional real files lie, one thread for small networks."""

import os
import signal
from pathlib import Path

import pytest

from goalward.simulate.worlds.gl import choose_gl

# Started in the background by some shells, this process ignores Ctrl-C, and so would the commands
# that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Before any test imports mujoco, which looks at the choice once.
choose_gl()
REPOSITORY = Path(__file__).parent.parent


def pytest_sessionstart() -> None:
    """Where simulators are required, as in CI, their tests may not skip: nothing runs without."""
    if not os.environ.get("GOALWARD_REQUIRE_SIMULATORS"):
        return
    from goalward.simulate.worlds.cameras import Cameras
    from goalward.simulate.worlds.cloth import ClothWorld
    from goalward.simulate.worlds.metaworld_world import PickPlaceWorld
    from goalward.simulate.worlds.robosuite_world import RobosuiteWorld

    assert RobosuiteWorld
    PickPlaceWorld()
    with Cameras(ClothWorld(), 16) as cameras:
        cameras.picture("base")


@pytest.fixture(scope="session")
def real_files() -> Path:
    """Real recordings that are too large for the repository; tests that want them skip without."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the optional folder of real recordings is not there")
    return folder


@pytest.fixture(scope="module")
def one_thread():
    """Networks this small are slower on two threads, and tests run side by side."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)

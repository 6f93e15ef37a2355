"""Shared by all tests: where the optional real files lie, one thread for small networks."""

from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent


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

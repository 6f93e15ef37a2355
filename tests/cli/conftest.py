"""Commands are tested as they run: errors speak of flags, logs and warnings are printed."""

import pytest

from goalward.cli.console import telling
from goalward.errors import speaking_of_flags


@pytest.fixture(autouse=True)
def as_a_command():
    with speaking_of_flags(), telling():
        yield

"""Errors that are meant to be read by people: the command line prints them without a traceback.

They name what the reader can change as the reader writes it: arguments in Python, flags in a shell.
"""

import shlex
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import cast

# Of the whole process, not of a context: threads that decode and resize raise errors too.
_in_flags = False
_NO_VALUE = object()


class GoalwardError(Exception):
    """Something the user can act on. Its text names the file or episode and says what to do."""


class RolloutError(GoalwardError):
    """Recorded rollouts that cannot be read as they are."""


def argument(name: str, value: object = _NO_VALUE, *, flag: str | None = None) -> str:
    """An argument as its reader writes it, for the text of an error.

    `flag` is what the command line calls it where that is not the same word.

    >>> argument("test_fraction"), argument("labels", "success"), argument("flip", False)
    ('test_fraction=', "labels='success'", 'flip=False')
    >>> with speaking_of_flags():
    ...     argument("test_fraction"), argument("labels", "success"), argument("flip", False)
    ('--test-fraction', '--labels success', '--no-flip')
    """
    if not _in_flags:
        return f"{name}=" if value is _NO_VALUE else f"{name}={value!r}"
    words = (flag or name).replace("_", "-")
    if value is _NO_VALUE or value is True:
        return f"--{words}"
    if value is False:
        return f"--no-{words}"
    if isinstance(value, tuple | list):
        value = ",".join(map(str, cast(Sequence[object], value)))
    return f"--{words} {shlex.quote(str(value))}"


@contextmanager
def speaking_of_flags(flags: bool = True) -> Generator[None]:
    """Inside, errors speak of flags: who reads them typed a command."""
    global _in_flags
    before, _in_flags = _in_flags, flags
    try:
        yield
    finally:
        _in_flags = before


def command_line(verb: str, *words: object, **options: object) -> str:
    """A command of goalward as it is typed, wherever it is shown.

    >>> command_line("export", "my run", to="csv")
    "goalward export 'my run' --to csv"
    """
    with speaking_of_flags():
        told = [argument(name, value) for name, value in options.items()]
    return " ".join([shlex.join(["goalward", verb, *map(str, words)]), *told])


def speaks_of_flags() -> bool:
    """What a process tells the ones it starts."""
    return _in_flags

"""Where the command line prints: text from files is shown as it is, never as markup or emoji."""

import logging
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.text import Text


def output_console() -> Console:
    return Console(emoji=False, highlight=False)


def error_console() -> Console:
    return Console(stderr=True, emoji=False, highlight=False)


def plain(text: str) -> Text:
    r"""Text from a file: control characters are written out.

    >>> plain("a\x1b[2J").plain
    'a\\x1b[2J'
    """
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return Text(shown)


def say(text: str) -> None:
    """A line beside the output, on the terminal's error stream."""
    error_console().print(plain(text), soft_wrap=True)


@contextmanager
def telling() -> Generator[None]:
    """Inside, what goalward logs and warns of is printed as lines, each warning once."""
    warned: set[str] = set()

    def warn(text: str) -> None:
        if text not in warned:
            warned.add(text)
            say(f"warning: {text}")

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.levelno >= logging.WARNING:
                warn(record.getMessage())
            else:
                say(record.getMessage())

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        # What libraries find outdated is no business of who runs a command.
        if issubclass(category, UserWarning):
            warn(str(message))

    logger, lines = logging.getLogger("goalward"), Lines()
    level = logger.level
    logger.addHandler(lines)
    logger.setLevel(logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = show
            yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(lines)

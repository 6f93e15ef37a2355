"""Where the command line prints: text from files is shown as it is, never as markup or emoji."""

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

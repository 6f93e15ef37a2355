"""Each line of code is an element, which the style wraps where it is longer than the page is wide.

Highlighted code has such elements already (`line_spans` in mkdocs.yml); plain code gets them here.
What a command is for stands in a column of its own, or below it where there is no room.
"""

import html
import re
from typing import Any

PLAIN = re.compile(r"(<pre>(?:<span></span>)?<code>)(.*?)(</code></pre>)", re.DOTALL)
COMMENTED = re.compile(r"(\S.*? +)(# .*\n?)")
# Of a command that fills the line itself, the comment is a part.
LONGEST_COMMAND = 74


def on_page_content(text: str, **_: Any) -> str:
    return PLAIN.sub(lambda found: found[1] + with_lines(found[2]) + found[3], text)


def with_lines(code: str) -> str:
    # Ids within docstrings have the place of the docstring before them.
    if "__line-" in code:
        return code
    return "".join(_line(line) for line in code.splitlines(keepends=True))


def _line(line: str) -> str:
    r"""
    >>> _line("make demo\n")
    '<span class="line">make demo\n</span>'
    >>> _line("make  # all\n")
    '<span class="line commented"><span>make  </span><span># all\n</span></span>'
    """
    if found := COMMENTED.fullmatch(line):
        command, comment = found.groups()
        if len(html.unescape(re.sub(r"<[^>]+>", "", command))) <= LONGEST_COMMAND:
            parts = f"<span>{command}</span><span>{comment}</span>"
            return f'<span class="line commented">{parts}</span>'
    return f'<span class="line">{line}</span>'

"""The tools that values are written for: the arguments each has a use for, and what is usual there.

Nothing heavy is imported here: the command line knows the names before it does anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ToolName = Literal["lerobot-progress", "rlinf-advantages", "evo-rl", "rerun", "mp4", "csv", "onnx"]


@dataclass(frozen=True)
class Tool:
    """A reader of exports.

    `takes` are arguments of `goalward.export` that mean something to it, besides those that mean
    something to all. `positive` is what the tool does where it computes advantages itself.
    `all_methods`: one export holds the values of all methods, not of one. `trains`: a policy learns
    from it.
    """

    takes: tuple[str, ...] = ()
    positive: str = ""
    all_methods: bool = False
    trains: bool = False


_ADVANTAGES = ("in_place", "n", "unit", "positive", "tag")

TOOLS: Mapping[str, Tool] = {
    "lerobot-progress": Tool(takes=("in_place", "scale"), trains=True),
    "rlinf-advantages": Tool(takes=_ADVANTAGES, positive="top:0.3", trains=True),
    "evo-rl": Tool(takes=_ADVANTAGES, positive="task-top:0.3", trains=True),
    "rerun": Tool(all_methods=True),
    "mp4": Tool(),
    "csv": Tool(all_methods=True),
    "onnx": Tool(takes=("false_alarms",)),
}


def tools_that_take(name: str) -> tuple[str, ...]:
    """
    >>> tools_that_take("n")
    ('rlinf-advantages', 'evo-rl')
    """
    return tuple(tool for tool, row in TOOLS.items() if name in row.takes)

"""All verbs in one place, and what becomes of their errors."""

import os
import sys
from collections.abc import Sequence
from typing import Any

from cyclopts import App, Group, Parameter

from goalward.cli.audit import audit_command
from goalward.cli.cache import cache_app
from goalward.cli.compare import compare_command
from goalward.cli.console import error_console, plain, telling
from goalward.cli.curate import curate_command
from goalward.cli.embed import embed_command
from goalward.cli.episodes import episodes_command
from goalward.cli.evaluate import evaluate_command
from goalward.cli.export import export_command
from goalward.cli.fit import fit_command
from goalward.cli.inspect import inspect_command
from goalward.cli.monitor import monitor_command
from goalward.cli.predict import predict_command
from goalward.cli.push import push_command
from goalward.cli.report import report_command
from goalward.cli.reproduce import reproduce_command
from goalward.cli.settings import settings_command
from goalward.cli.sheet import sheet_command
from goalward.cli.simulate import simulate_command
from goalward.cli.truth import truth_command
from goalward.cli.view import view_command
from goalward.errors import GoalwardError, speaking_of_flags
from goalward.versions import version_line

_FIRST = """
How good a manipulation policy is, from its recorded rollouts alone.

First:

```bash
goalward evaluate demo --out run  # rollouts that come with goalward; minutes
goalward view run  # what came of it, in a browser
goalward evaluate my_rollouts --out mine  # your own
```
"""


def _shown_default(value: Any) -> str | None:
    """Defaults as they would be typed; nothing for what is off, or empty, unless it is given."""
    if value is None or value is False or value in ((), ""):
        return None
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return "yes" if value is True else str(value)


app = App(
    name="goalward",
    help=_FIRST,
    version=version_line,
    help_format="markdown",
    suppress_keyboard_interrupt=False,
    default_parameter=Parameter(show_default=_shown_default),
)
# Options that say where to write or to look.
_PLACES = frozenset({"--out", "--data", "--cache"})
# In the order of use: what everybody needs first, what few need last.
_VERBS = {
    "Evaluate a policy": {
        "inspect": inspect_command,
        "evaluate": evaluate_command,
        "view": view_command,
        "episodes": episodes_command,
        "sheet": sheet_command,
        "report": report_command,
    },
    "Go on from there": {
        "compare": compare_command,
        "audit": audit_command,
        "curate": curate_command,
        "export": export_command,
        "push": push_command,
        "monitor": monitor_command,
    },
    "Step by step": {
        "embed": embed_command,
        "fit": fit_command,
        "predict": predict_command,
        "settings": settings_command,
        "cache": cache_app,
    },
    "In a simulator": {
        "simulate": simulate_command,
        "truth": truth_command,
        "reproduce": reproduce_command,
    },
}
# Where the last argument may be left out or given several times, by the name that its help has.
_USAGE = {
    "compare": "[OPTIONS] TABLE [MORE...]",
    "report": "[OPTIONS] RUN [OTHERS...]",
    "settings": "[NAME]",
    "sheet": "[OPTIONS] RUN EPISODE...",
}
for _place, (_title, _commands) in enumerate(_VERBS.items(), start=1):
    _group = Group(_title, sort_key=_place)
    for _number, (_name, _command) in enumerate(_commands.items()):
        if isinstance(_command, App):
            _command.group, _command.sort_key = (_group,), _number
            app.command(_command)
        else:
            _usage = f"Usage: goalward {_name} {_USAGE[_name]}" if _name in _USAGE else None
            app.command(_command, name=_name, group=_group, sort_key=_number, usage=_usage)
_also = Group("Also", sort_key=len(_VERBS) + 1)
for _name in ("--help", "--version"):
    app[_name].group = (_also,)


def run() -> None:
    """Parse the command line and run its verb; errors meant for people end it with status 1."""
    if hasattr(sys.stdout, "reconfigure"):
        # A task in another alphabet must not end the program on an old terminal.
        sys.stdout.reconfigure(errors="replace")  # pyright: ignore[reportAttributeAccessIssue]
    try:
        with speaking_of_flags(), telling():
            _check_places(sys.argv[1:])
            app()
    except GoalwardError as error:
        _end(str(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        # What is left are failures to print: a full disk behind a redirect.
        _end(str(error))


def _check_places(words: Sequence[str]) -> None:
    """A variable that a script did not set: an empty path would mean the folder one is in."""
    for word, following in zip(words, [*words[1:], None], strict=True):
        flag, equals, value = word.partition("=")
        if flag in _PLACES and (value if equals else following) == "":
            raise GoalwardError(f"{flag}: is empty; wanted a path")


def _end(text: str) -> None:
    console = error_console()
    console.print("[bold red]error:[/]", end=" ")
    for line in text.split("\n"):
        console.print(plain(line), soft_wrap=True)
    # What is still in the buffer failed to be written and would fail again at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)

"""The command line: one file per verb, errors a person can act on, no traceback."""

import os
import sys

from cyclopts import App
from rich.console import Console

import goalward
from goalward.cli.inspect import inspect_command
from goalward.errors import GoalwardError

app = App(
    name="goalward",
    help="How good a manipulation policy is, from its recorded rollouts alone.",
    version=goalward.__version__,
    help_format="markdown",
)
app.command(inspect_command, name="inspect")


def main() -> None:
    """Run the command line; the exit status is 0, 1 (an error, explained) or 2 (wrong usage)."""
    errors = Console(stderr=True, soft_wrap=True)
    try:
        app()
    except GoalwardError as error:
        errors.print("[bold red]error:[/]", end=" ")
        errors.print(str(error), markup=False, highlight=False)
        sys.exit(1)
    except KeyboardInterrupt:
        errors.print("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output went away (| head); keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)

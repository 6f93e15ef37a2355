"""All verbs in one place, and what becomes of their errors."""

import os
import sys

from cyclopts import App

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
from goalward.cli.predict import predict_command
from goalward.cli.report import report_command
from goalward.cli.reproduce import reproduce_command
from goalward.cli.settings import settings_command
from goalward.cli.sheet import sheet_command
from goalward.cli.simulate import simulate_command
from goalward.cli.truth import truth_command
from goalward.cli.view import view_command
from goalward.errors import GoalwardError, speaking_of_flags
from goalward.versions import version_line

app = App(
    name="goalward",
    help="How good a manipulation policy is, from its recorded rollouts alone.",
    version=version_line,
    help_format="markdown",
    suppress_keyboard_interrupt=False,
)
app.command(inspect_command, name="inspect")
app.command(evaluate_command, name="evaluate")
app.command(episodes_command, name="episodes")
app.command(audit_command, name="audit")
app.command(curate_command, name="curate")
app.command(embed_command, name="embed")
app.command(fit_command, name="fit")
app.command(predict_command, name="predict")
app.command(settings_command, name="settings")
app.command(compare_command, name="compare")
app.command(export_command, name="export")
app.command(report_command, name="report")
app.command(sheet_command, name="sheet")
app.command(reproduce_command, name="reproduce")
app.command(simulate_command, name="simulate")
app.command(truth_command, name="truth")
app.command(view_command, name="view")
app.command(cache_app)


def run() -> None:
    """Parse the command line and run its verb; errors meant for people end it with status 1."""
    if hasattr(sys.stdout, "reconfigure"):
        # A task in another alphabet must not end the program on an old terminal.
        sys.stdout.reconfigure(errors="replace")  # pyright: ignore[reportAttributeAccessIssue]
    try:
        with speaking_of_flags(), telling():
            app()
    except GoalwardError as error:
        _end(str(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        # What is left are failures to print: a full disk behind a redirect.
        _end(str(error))


def _end(text: str) -> None:
    console = error_console()
    console.print("[bold red]error:[/]", end=" ")
    for line in text.split("\n"):
        console.print(plain(line), soft_wrap=True)
    # What is still in the buffer failed to be written and would fail again at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)

"""`goalward compare`: which policy is better, and how sure that is."""

from __future__ import annotations

import json
import textwrap
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table
from rich.text import Text

from goalward.cli.console import error_console, output_console, plain
from goalward.errors import GoalwardError
from goalward.files import written_whole

if TYPE_CHECKING:
    from goalward.metrics.comparing.result import Comparison
    from goalward.metrics.comparing.time_to_success import SuccessCurve

_MOST_TASKS = 12


def compare_command(
    table: Path,
    /,
    *more: Path,
    paired: Annotated[bool | None, Parameter(negative="--no-paired")] = None,
    pair_by: str | None = None,
    level: float = 0.95,
    json_output: Annotated[bool, Parameter(name="--json", negative=())] = False,
    out: Path | None = None,
) -> None:
    """Say which policy is better and how sure that is, from the outcomes of rollouts.

    Each table is a csv with a row per episode. Needed is a column success (true or false) or
    outcome (success, time_out, failure); of use are policy, episode, steps, task, initial_state,
    seed and time_out. Without a column policy a file is one policy, named after the file.

    Printed are success rates with intervals, exact tests, how many more rollouts would settle
    what is open, and the steps to success with time-outs counted as unknown, not as failures.
    Policies with the same letter cannot be told apart.

    Examples:

    - `goalward compare a.csv b.csv` two policies, one file each
    - `goalward compare all.csv --out comparison` a column policy; report and pictures
    - `goalward compare a.csv b.csv --pair-by seed` the same seed, the same initial state
    - `goalward compare runs/a runs/b runs/c --level 0.99 --json` for machines

    Parameters
    ----------
    table
        A csv file of outcomes, or a folder with an `outcomes.csv`.
    more
        More files or folders.
    paired
        Compare episodes from the same initial state with each other. Default: paired if every
        policy started from the same initial states.
    pair_by
        The column that says from which initial state an episode started. Default:
        initial_state.
    level
        How sure to be: of intervals, and 1 minus the error of tests.
    json_output
        Print everything as JSON and nothing else.
    out
        A folder for comparison.json, comparison.md, comparison.png and comparison.svg.
    """
    # SciPy's statistics take most of a second to import: only who compares pays.
    from goalward.metrics.comparing.comparison import compare
    from goalward.metrics.comparing.outcome_file import read_outcomes
    from goalward.metrics.comparing.steps_comparison import success_curves

    if out is not None and out.exists() and not out.is_dir():
        raise GoalwardError(f"{out}: a file; wanted a folder to write to")
    outcomes = read_outcomes((table, *more), pair_by=pair_by)
    found = compare(outcomes, level=level, paired=paired)
    if json_output:
        print(json.dumps(found.as_dict(), indent=2))
    else:
        _print_comparison(found, output_console())
    if out is not None:
        curves = {} if found.horizon is None else success_curves(outcomes, found.horizon)
        _write(found, curves, out)
        error_console().print(plain(f"comparison of {len(found.policies)} policies: {out}"))


def _print_comparison(comparison: Comparison, console: Console) -> None:
    from goalward.report.words.comparison import how, policy_rows, task_rows, verdict

    console.print(_rich_table(policy_rows(comparison), num_names=2))
    tasks = task_rows(comparison)
    if tasks:
        console.print()
        console.print(_rich_table(tasks[: 1 + _MOST_TASKS], num_names=1))
        if len(tasks) > 1 + _MOST_TASKS:
            console.print(f"and {len(tasks) - 1 - _MOST_TASKS} more tasks (--json lists all)")
    for pair in comparison.pairs:
        first, *others = verdict(pair, comparison)
        console.print()
        console.print(plain(first), style="bold green" if pair.better else "bold")
        for sentence in others:
            console.print(plain(sentence))
    console.print()
    console.print(plain(how(comparison)), style="dim")
    for note in comparison.notes:
        console.print(plain(f"note: {note}"), style="yellow")


def _rich_table(rows: list[list[str]], num_names: int) -> Table:
    """The first row is the header; the first columns are names, the others numbers."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    # Headings in two lines, so that the table fits into 80 columns and no name is broken.
    headings = [
        textwrap.wrap(name, len(name) // 2 + 1, break_long_words=False, break_on_hyphens=False)
        for name in rows[0]
    ]
    height = max(map(len, headings))
    for position, lines in enumerate(headings):
        at_the_bottom = [""] * (height - len(lines)) + lines
        table.add_column(
            Text("\n").join(map(plain, at_the_bottom)),
            justify="left" if position < num_names else "right",
            overflow="fold",
        )
    for row in rows[1:]:
        table.add_row(*map(plain, row))
    return table


def _write(comparison: Comparison, curves: Mapping[str, SuccessCurve], folder: Path) -> None:
    # matplotlib takes a second to import: only who wants a picture pays.
    from matplotlib import rc_context

    from goalward.report.figures.comparison import comparison_figure
    from goalward.report.words.comparison import markdown

    with written_whole(folder / "comparison.json") as temporary:
        temporary.write_text(json.dumps(comparison.as_dict(), indent=2) + "\n", encoding="utf-8")
    with written_whole(folder / "comparison.md") as temporary:
        temporary.write_text(markdown(comparison), encoding="utf-8")
    figure = comparison_figure(comparison, curves)
    # Neither the date nor random ids: the same comparison gives the same file.
    with rc_context({"svg.hashsalt": "goalward"}), warnings.catch_warnings():
        # A policy's name in an alphabet that the font lacks shows as boxes.
        warnings.filterwarnings("ignore", message="Glyph")
        for suffix, metadata in (("png", None), ("svg", {"Date": None})):
            with written_whole(folder / f"comparison.{suffix}") as temporary:
                figure.savefig(temporary, dpi=150, metadata=metadata)

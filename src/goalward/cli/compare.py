"""`goalward compare`: which policy is better, and how sure that is."""

import json
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from goalward.cli.console import output_console, say

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
    from goalward.report.words.comparison import comparison_document
    from goalward.report.words.rendering import print_document
    from goalward.runs.compare import compare

    found = compare(table, *more, paired=paired, pair_by=pair_by, level=level, out=out)
    if json_output:
        print(json.dumps(found.as_dict(), indent=2))
    else:
        print_document(comparison_document(found, most_tasks=_MOST_TASKS), output_console())
    if out is not None:
        say(f"comparison of {len(found.policies)} policies: {out}")

"""`goalward compare`: which policy is better, and how sure that is."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from goalward.cli.console import output_console, say
from goalward.cli.read_arguments import CommaList
from goalward.errors import GoalwardError, argument

# A pipeline has to tell it from an error, which is 1, and from wrong usage, 2.
_WORSE_STATUS = 3
_MOST_TASKS = 12
_MOST_PAIRS = 15
_MOST_POLICIES = 6


def compare_command(
    table: Path,
    /,
    *more: Path,
    paired: Annotated[bool | None, Parameter(negative="--no-paired")] = None,
    pair_by: str | None = None,
    columns: CommaList = None,
    level: float = 0.95,
    budget: int | None = None,
    ordered: Annotated[bool, Parameter(negative=())] = False,
    posterior: Annotated[bool, Parameter(negative=())] = False,
    fail_if_worse: Annotated[bool, Parameter(negative=())] = False,
    all_tasks: Annotated[bool, Parameter(negative=())] = False,
    json_output: Annotated[bool, Parameter(name="--json", negative=())] = False,
    out: Path | None = None,
) -> None:
    """Say which policy is better, and how sure that is.

    Each table is a csv with a row per episode. Needed is a column success (true or false) or
    outcome (success, time_out, failure); of use are policy, episode, steps, task, initial_state,
    seed and time_out. Without a column policy a file is one policy, named after the file. Tables
    of counts have columns policy, successes and rollouts; tables with a column per policy need
    --columns; tables of preferences have policy_a, policy_b and winner (a, b or tie).

    A column score, from 0 to 1, is credit for part of the task: mean scores are compared, too. A
    column prediction, from 0 to 1, helps where the outcome of most rollouts is left empty.

    Printed are success rates with intervals, exact tests, how many more rollouts would settle
    what is open, and the steps to success with time-outs counted as unknown, not as failures.
    Policies with the same letter cannot be told apart.

    Examples:

    ```bash
    goalward compare a.csv b.csv  # two policies, one file each
    # a column policy; report and pictures
    goalward compare all.csv --out comparison
    # the same seed, the same initial state
    goalward compare a.csv b.csv --pair-by seed
    # looking while rollouts come in, 200 of each at most
    goalward compare all.csv --budget 200
    # a column per policy, a row per initial state
    goalward compare wide.csv --columns old,new
    goalward compare step_*.csv --ordered  # checkpoints: the trend, the best ones
    # in a pipeline: exit status 3 if worse
    goalward compare --fail-if-worse old.csv new.csv
    goalward compare votes.csv  # preferences: columns policy_a, policy_b, winner
    goalward compare runs/a runs/b runs/c --level 0.99 --json  # for machines
    ```

    Parameters
    ----------
    table
        A csv file of outcomes, or a folder with an `outcomes.csv`.
    more
        More files or folders.
    paired
        Compare episodes from the same initial state with each other. Default: where two policies
        started from the same initial states.
    pair_by
        The column that says from which initial state an episode started. Default:
        initial_state.
    columns
        The columns that each are a policy, separated by commas, in a table with a row per start.
    level
        How sure to be: of intervals, and 1 minus the error of tests.
    budget
        How many rollouts of each policy there will be at most. You may look after every one and
        stop when it is settled; this test replaces the one for a fixed number.
    ordered
        The policies are checkpoints of one training. Their step is a number in their names, or
        a column training_step.
    posterior
        Say also how likely each policy is better than each other, and draw what to believe of
        their rates.
    fail_if_worse
        Exit with status 3 if the second policy is worse than the first; with --ordered, if a
        checkpoint is worse than the one before it. What cannot be told is no failure.
    all_tasks
        Print all tasks, not only the twelve that tell most.
    json_output
        Print everything as JSON and nothing else.
    out
        A folder for a page (index.html), comparison.json, comparison.md and pictures.
    """
    # SciPy's statistics take most of a second to import: only who compares pays.
    from goalward.report.words.comparing.summary import comparison_document
    from goalward.report.words.rendering import print_document
    from goalward.runs.compare import compare, worse_ones
    from goalward.runs.preferences import is_about_preferences

    if is_about_preferences(table):
        without_meaning = {
            "paired": paired, "pair_by": pair_by, "columns": columns, "budget": budget,
            "ordered": ordered or None, "posterior": posterior or None,
            "fail_if_worse": fail_if_worse or None, "all_tasks": all_tasks or None,
        }  # fmt: skip
        for name, value in without_meaning.items():
            if value is not None:
                raise GoalwardError(
                    f"{table}: a table of preferences, for which {argument(name, value)} means "
                    "nothing; leave it out"
                )
        _rank((table, *more), level, json_output, out)
        return

    found = compare(
        table,
        *more,
        paired=paired,
        pair_by=pair_by,
        columns=columns,
        level=level,
        budget=budget,
        ordered=ordered,
        posterior=posterior,
        out=out,
        progress=not json_output,
    )
    worse = worse_ones(found) if fail_if_worse else ()
    if json_output:
        print(json.dumps(found.as_dict(), indent=2))
    else:
        most_tasks = None if all_tasks else _MOST_TASKS
        document = comparison_document(
            found,
            most_tasks=most_tasks,
            most_policies=_MOST_POLICIES,
            most_pairs=_MOST_PAIRS,
        )
        print_document(document, output_console())
    if out is not None:
        say(f"comparison of {len(found.policies)} policies: {out}")
    for one in worse:
        say(f"{one.after} is worse than {one.before}")
    if worse:
        sys.exit(_WORSE_STATUS)


def _rank(tables: tuple[Path, ...], level: float, json_output: bool, out: Path | None) -> None:
    """Preferences have no rollouts, and few of the options mean anything to them."""
    from goalward.report.words.comparing.preferences import preference_document
    from goalward.report.words.rendering import print_document
    from goalward.runs.preferences import rank_preferences

    found = rank_preferences(*tables, level=level, out=out)
    if json_output:
        print(json.dumps(asdict(found), indent=2))
    else:
        print_document(preference_document(found, most_pairs=_MOST_PAIRS), output_console())
    if out is not None:
        say(f"preferences between {len(found.policies)} policies: {out}")

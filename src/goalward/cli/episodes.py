"""`goalward episodes`: the episodes of a run as a table, what to watch first on top."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

import goalward
from goalward.cli.console import output_console, plain
from goalward.cli.read_arguments import CommaList
from goalward.errors import GoalwardError

if TYPE_CHECKING:
    from goalward.runs.episode_table import EpisodeRow
    from goalward.runs.run import Run

_MOST_ROWS = 10
_WIDTH = 100
_LONGEST_TASK = 14


def episodes_command(
    run: Path,
    /,
    *,
    sort: Literal["setback", "stall", "chance", "steps", "value", "frames", "id"] = "setback",
    reverse: Annotated[bool, Parameter(negative=())] = False,
    top: int | None = None,
    outcome: CommaList = None,
    task: str | None = None,
    to: Literal["table", "csv", "json"] = "table",
) -> None:
    """List the episodes of a run, those to look at first on top.

    A row says how an episode ended, how long it was, its value at the last frame (-1 is the goal,
    1 never) and its chance of success if it were given its own clock again, the verdict on a
    time-out (on its way, stuck, cannot tell), the steps that its largest setback lost and at which
    frame, the frames of its longest stall, and how near it looked that did not succeed.
    `goalward sheet` and `goalward view` show an episode.

    Examples:

    ```bash
    goalward episodes run  # the ten largest setbacks
    # which time-outs were nearly there
    goalward episodes run --outcome time_out --sort chance
    goalward episodes run --sort stall --top 3 --task drawer
    goalward episodes run --to csv > episodes.csv  # all episodes, all columns
    ```

    Parameters
    ----------
    run
        A folder that `goalward evaluate` wrote.
    sort
        What comes first: the largest setback, the longest stall, the best chance, the fewest steps
        to go at the end, the lowest value at the end, the most frames, or ids in their order.
    reverse
        The other way round.
    top
        How many rows. Default: 10 of a table, all of csv and json.
    outcome
        Only episodes that ended so, separated by commas: success, time_out, failure.
    task
        Only episodes of tasks with this in their text.
    to
        A table to read, or everything as csv or json.
    """
    if top is not None and top < 1:
        raise GoalwardError(f"--top must be at least 1, got {top}")
    opened = goalward.open_run(run)
    found = _chosen(opened, opened.episode_table(sort, reverse=reverse), outcome, task)
    shown = found[: _MOST_ROWS if top is None and to == "table" else top]
    if to == "csv":
        _print_csv(shown)
    elif to == "json":
        _print_json(shown)
    else:
        _print_table(opened, shown, len(found), output_console())


def _chosen(
    run: Run, rows: Sequence[EpisodeRow], outcomes: tuple[str, ...] | None, task: str | None
) -> list[EpisodeRow]:
    from goalward.rollouts.episode import Outcome
    from goalward.rollouts.findings import some_of

    try:
        wanted = {Outcome(name.replace("-", "_")) for name in outcomes or Outcome}
    except ValueError as error:
        raise GoalwardError(f"--outcome: {error}") from error
    part = (task or "").casefold()
    if not any(part in row.task.casefold() for row in rows):
        tasks = list(dict.fromkeys(episode.task or "(no text)" for episode in run.episodes))
        raise GoalwardError(f"--task: no task has {task!r} in its text; tasks: {some_of(tasks)}")
    return [row for row in rows if row.outcome in wanted and part in row.task.casefold()]


def _print_csv(rows: Sequence[EpisodeRow]) -> None:
    from goalward.runs.episode_table import EpisodeRow

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([field.name for field in fields(EpisodeRow)])
    for row in rows:
        writer.writerow([_in_csv(number) for number in astuple(row)])


def _in_csv(cell: object) -> object:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return f"{cell:.6g}" if isinstance(cell, float) else cell


def _print_json(rows: Sequence[EpisodeRow]) -> None:
    from goalward.runs.folder.codec import encoded

    print(json.dumps([encoded(row, in_full=True) for row in rows], indent=2, ensure_ascii=False))


# ---- on the terminal ----------------------------------------------------------------------------


def _print_table(run: Run, rows: Sequence[EpisodeRow], num_found: int, console: Console) -> None:
    """What all rows have in common, or none has, needs no column."""
    from goalward.report.words.rendering import print_blocks
    from goalward.report.words.time_outs import doubt_paragraphs

    has_tasks = len({row.task for row in rows}) > 1
    has_seconds = any(row.seconds is not None for row in rows)
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    texts = ("episode", "task", "outcome", "verdict")
    seconds = ("seconds",) if has_seconds else ()
    for name in (
        *("episode", *(("task",) if has_tasks else ()), "outcome", "frames", *seconds),
        *("value", "chance", "verdict", "setback", "stall", "near miss"),
    ):
        # A number that is cut would be another one.
        table.add_column(name, justify="left" if name in texts else "right", overflow="fold")
    for row in rows:
        table.add_row(
            plain(row.id if row.held_out else f"{row.id} *"),
            *((plain(_short(row.task)),) if has_tasks else ()),
            row.outcome.replace("_", "-"),
            str(row.num_frames),
            *((_or_nothing(row.seconds, ".1f"),) if has_seconds else ()),
            f"{row.value:.2f}",
            f"{100 * row.chance:.0f} %",
            (row.verdict or "").replace("_", " "),
            _at(row.setback_steps, row.setback_frame),
            _or_nothing(row.stall_frames, "d"),
            _at(row.near_miss_steps, row.near_miss_frame),
        )
    if not console.is_terminal:
        # A pipe has no width of its own.
        console.width = max(console.width, _WIDTH)
    console.print(table)
    notes = ["setback and near miss in steps, at a frame; stall in frames"]
    if len(rows) < num_found:
        notes.append(f"{len(rows)} of {num_found} episodes; --top shows more")
    if not all(row.held_out for row in rows):
        notes.append("* learned from: its numbers are optimistic")
    console.print(plain("; ".join(notes)), style="dim", soft_wrap=True)
    print_blocks(doubt_paragraphs(run), console)


def _or_nothing(number: float | None, form: str) -> str:
    return "" if number is None else f"{number:{form}}"


def _at(size: float | None, frame: int | None) -> str:
    return "" if size is None else f"{size:.0f} at {frame}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_TASK else f"{text[: _LONGEST_TASK - 1]}…"

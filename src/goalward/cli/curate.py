"""`goalward curate`: which episodes and stretches to learn from next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from rich.table import Table

import goalward
from goalward.cli.console import output_console, plain, say
from goalward.cli.read_arguments import CommaList

if TYPE_CHECKING:
    from goalward.exports.curating.curation import Curation


def curate_command(
    run: Path,
    /,
    *,
    drop: CommaList = None,
    weigh: Literal["equal", "advantage"] | None = None,
    keep: CommaList = None,
    method: str | None = None,
    data: Path | None = None,
    out: Path | None = None,
    anyway: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Choose what the next policy should learn from, by stated rules.

    What is dropped, rule by rule:

    - `not-success`: episodes that did not succeed
    - `after-goal`: what was filmed after the goal
    - `setbacks`: from before a fall of the value to its bottom; the recovery after it stays
    - `stalls`: frames that came no nearer to the goal
    - `no-return`: of what did not succeed, all from where it last looked reachable

    You see what is left of every task and outcome. Written are episodes.csv (keep, part or drop,
    and why), stretches.csv, effect.csv, weights.parquet (index, weight of every frame) and
    commands.sh with what to type next. The data set is not changed. Where it was measured (four
    tasks, docs/curating.md), the default made a better policy than successes alone in two, and no
    worse one in the others.

    Examples:

    ```bash
    # successes without setbacks and stalls, weighed by advantage
    goalward curate run
    # failures too, while they went well
    goalward curate run --drop no-return,after-goal --weigh advantage
    goalward curate run --drop none --weigh advantage  # weights alone
    goalward curate run --keep 3,7  # whatever the rules say of these
    ```

    Parameters
    ----------
    run
        A folder that `goalward evaluate` wrote.
    drop
        Rules by name, separated by commas, or none. Default: all but no-return.
    weigh
        What is kept counts alike (equal), or more where the advantage is high (advantage).
        Default: advantage, or equal where rules are named with --drop.
    keep
        Episodes that no rule touches, separated by commas.
    method
        Whose values judge. Default: the first of the run.
    data
        Where the rollouts lie now, if they have moved.
    out
        The folder for the files. Default: curation in the run's folder.
    anyway
        Go by the values though the run itself does not trust them.
    """
    from goalward.report.pages.marks import refresh_marks
    from goalward.run_folder import RunFolder

    rules = () if drop == ("none",) else drop
    found = goalward.curate(
        run,
        drop=rules,
        weigh=weigh,
        keep=keep or (),
        method=method,
        data=data,
        out=out,
        anyway=anyway,
    )
    _print(found)
    folder = RunFolder(run).curation if out is None else out
    for note in found.notes:
        say(f"note: {note}")
    say(f"written: {folder} (episodes.csv, stretches.csv, effect.csv, weights.parquet)")
    if out is None and (page := refresh_marks(RunFolder(run))) is not None:
        say(f"marked in the report: {page}#episodes")
    say(f"next: {folder / 'commands.sh'}")


def _print(found: Curation) -> None:
    from goalward.exports.curating.rules import RULES

    console = output_console()
    frames = len(found.weights)
    share = 100 * found.num_kept / frames
    console.print(f"{found.num_kept} of {frames} frames are kept ({share:.0f} %).", highlight=False)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    has_tasks = len({effect.task for effect in found.effects}) > 1
    for name in (*(("task",) if has_tasks else ()), "outcome", "episodes", "frames", "weight"):
        table.add_column(name, justify="left" if name in ("task", "outcome") else "right")
    for row in found.effects:
        table.add_row(
            *((plain(row.task),) if has_tasks else ()),
            row.outcome.replace("_", "-"),
            f"{row.num_episodes_kept} of {row.num_episodes}",
            f"{row.num_frames_kept} of {row.num_frames}",
            f"{100 * row.share_before:.0f} % to {100 * row.share_after:.0f} %",
        )
    console.print(table)
    named = 0
    for name in found.rules:
        spans = [one for one in found.stretches if one.rule == name]
        total = sum(one.last - one.first + 1 for one in spans)
        named += total
        episodes = len({one.episode for one in spans})
        console.print(
            plain(f"{name}: {total} frames in {episodes} episodes: {RULES[name].words}"),
            style="dim",
            soft_wrap=True,
        )
    if named > frames - found.num_kept:
        console.print("A frame may fall under several rules.", style="dim")

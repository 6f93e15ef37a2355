"""`goalward reproduce`: a case study again, on your rollouts, beside what the paper reports."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table
from rich.text import Text

from goalward.cli.assignments import assignments
from goalward.cli.console import output_console, plain, say
from goalward.cli.read_arguments import CommaList
from goalward.errors import GoalwardError
from goalward.trackers.names import TrackerName

if TYPE_CHECKING:
    from goalward.experiments.paper_comparison import Beside
    from goalward.experiments.recipe import Recipe
    from goalward.experiments.reproduce import Reproduction
    from goalward.report.words.tables import Cell


def reproduce_command(
    case: str,
    /,
    *,
    data: Path,
    out: Path,
    seeds: int | None = None,
    sizes: CommaList = None,
    methods: CommaList = None,
    encoders: CommaList = None,
    device: str | None = None,
    on: str = "local",
    workers: int | None = None,
    set_: Annotated[tuple[str, ...], Parameter(name="--set", negative=())] = (),
    tracker: TrackerName | None = None,
    project: str = "goalward",
) -> None:
    """Run a case study of the paper on your rollouts.

    Every method, seed and number of training episodes is trained and scored on the same test
    episodes. A star marks what differs from liveness by more than seeds explain. After an
    interrupt the same command goes on where it stopped. Where `goalward truth` measured the truth
    of some test frames, all methods are compared with that as well.

    Examples:

    ```bash
    goalward reproduce square --data rollouts/square --out square  # all of it
    goalward reproduce libero --data rollouts/libero --out libero --sizes 50
    goalward reproduce cloth --data cloth --out out --encoders effnet-lite0
    goalward reproduce recipe.toml --data rollouts --out out --set num_steps=5000
    ```

    Parameters
    ----------
    case
        square, libero, cloth, or the path of a recipe (.toml).
    data
        The folder that holds the recipe's data sets: `train` and `test` for the paper's.
    out
        The folder for results.parquet, tables, figures, networks and comparison_with_paper.md.
    seeds
        How many times each method is trained. Default: the recipe's.
    sizes
        Numbers of training episodes, separated by commas. Default: the recipe's.
    methods
        Separated by commas. Default: the recipe's.
    encoders
        Separated by commas. Default: the recipe's.
    device
        cpu, cuda, ... Default: cuda where there is one.
    on
        Who embeds and trains: local (this process), ray (the cluster of RAY_ADDRESS, or one that
        is started here), or the address of a Ray cluster (ray://host:10001), whose machines see
        the rollouts, the cache and the folder of results.
    workers
        How many workers of the cluster. Default: as many as it has GPUs, or cores if it has none.
    set_
        Other values for hyper-parameters, as name=value, separated by commas; `goalward settings`
        lists them.
    tracker
        Tell wandb or trackio the scores, figures and tables (needs goalward[wandb] or
        goalward[trackio]). docs/trackers.md.
    project
        The project there.
    """
    from goalward.executors.choice import Workers
    from goalward.experiments.recipe import find_recipe

    who = Workers(on, workers)
    recipe = _with_options(find_recipe(case), seeds, sizes, methods, encoders)
    recipe.check_data(data)
    # torch takes seconds to import: only once there is something to train on.
    from goalward.experiments.reproduce import reproduce
    from goalward.trackers.track import import_tracker, track
    from goalward.trackers.tracked import tracked_reproduction

    if tracker is not None:
        import_tracker(tracker)
    found = reproduce(recipe, data, out, device=device, workers=who, **assignments(set_))
    if tracker is not None:
        track(tracked_reproduction(recipe, found.results, out), tracker, project=project)
    _print_results(found, output_console())
    say(f"{recipe.title}: {out}")


def _with_options(
    recipe: Recipe,
    seeds: int | None,
    sizes: tuple[str, ...] | None,
    methods: tuple[str, ...] | None,
    encoders: tuple[str, ...] | None,
) -> Recipe:
    """The recipe with what the command line says instead."""
    if seeds is not None:
        if seeds < 1:
            raise GoalwardError(f"--seeds must be at least 1, got {seeds}")
        recipe = replace(recipe, seeds=seeds)
    if sizes:
        if not all(size.isdecimal() for size in sizes):
            raise GoalwardError(f"--sizes wants whole numbers, got {','.join(sizes)}")
        recipe = replace(recipe, sizes=tuple(int(size) for size in sizes))
    if methods:
        recipe = replace(recipe, methods=methods)
    if encoders:
        if recipe.cameras == ():
            raise GoalwardError(f"{recipe.title} has no cameras, so there is nothing to encode")
        recipe = replace(recipe, encoders=encoders)
    return recipe


def _print_results(found: Reproduction, console: Console) -> None:
    for beside in found.tables:
        console.print(plain(beside.heading), style="bold")
        console.print(_rich_table(beside))
        console.print(plain(" ".join(beside.ours.notes)), style="dim")
        console.print()
    if found.claims:
        console.print("liveness above every other method by more than seeds explain", style="bold")
        for claim in found.claims:
            where = f"{claim.encoder}, {claim.size} training episodes, {claim.metric}"
            console.print(plain(f"{where}: {claim.in_words}"), soft_wrap=True)


def _rich_table(beside: Beside) -> Table:
    """Under each row of ours the paper's, so that all fits into a narrow terminal."""
    shown = Table(box=None, padding=(0, 2, 0, 0))
    shown.add_column(plain(beside.ours.corner), overflow="fold")
    for column in beside.ours.columns:
        shown.add_column(plain(column), overflow="fold")
    paper = dict(beside.paper.rows) if beside.paper is not None else {}
    for name, cells in beside.ours.rows:
        shown.add_row(plain(name), *map(_shown, cells))
        if name in paper:
            shown.add_row("  paper", *map(_shown, paper[name]), style="dim")
    return shown


def _shown(cell: Cell) -> Text:
    return Text(plain(cell.plain()).plain, style="bold" if cell.is_best else "")

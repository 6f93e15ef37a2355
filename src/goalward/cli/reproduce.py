"""`goalward reproduce`: a case study again, on your rollouts, beside what the paper reports."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table
from rich.text import Text

from goalward.cli.assignments import assignments
from goalward.cli.console import error_console, output_console, plain
from goalward.cli.embed import EmbedArguments
from goalward.cli.progress import progress_bar
from goalward.cli.read_arguments import CommaList, ReadArguments
from goalward.embeddings.embed import embed
from goalward.errors import GoalwardError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.findings import counted

if TYPE_CHECKING:
    from goalward.experiments.grid import FeaturesOf, Grid
    from goalward.experiments.paper_comparison import Beside, Claim
    from goalward.experiments.recipe import Recipe
    from goalward.experiments.results import Results
    from goalward.metrics.truth.frame_truth import FrameTruth
    from goalward.report.words.tables import Cell
    from goalward.training.fit import Progress


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
    set_: Annotated[tuple[str, ...], Parameter(name="--set", negative=())] = (),
) -> None:
    """Run a case study of the paper on your rollouts, and show both side by side.

    Every method, seed and number of training episodes is trained and scored on the same test
    episodes. A star marks what differs from liveness by more than seeds explain. After an
    interrupt the same command goes on where it stopped. Where `goalward truth` measured the truth
    of some test frames, all methods are compared with that as well.

    Examples:

    - `goalward reproduce square --data rollouts/square --out square` all of it
    - `goalward reproduce libero --data rollouts/libero --out quick --sizes 50 --seeds 2`
    - `goalward reproduce cloth --data rollouts/cloth --out cloth --encoders effnet-lite0`
    - `goalward reproduce mine/recipe.toml --data rollouts --out mine --set num_steps=5000`

    Parameters
    ----------
    case
        square, libero, cloth, or the path of a recipe (.toml).
    data
        The folder that holds the recipe's data sets: `train` and `test` for the paper's.
    out
        The folder for results.parquet, tables, figures, networks and comparison_with_paper.md.
    seeds
        How many networks per method. Default: the recipe's.
    sizes
        Numbers of training episodes, separated by commas. Default: the recipe's.
    methods
        Separated by commas. Default: the recipe's.
    encoders
        Separated by commas. Default: the recipe's.
    device
        cpu, cuda, ... Default: cuda where there is one.
    set_
        Another value for a hyper-parameter, as name=value.
    """
    from goalward.experiments.recipe import find_recipe

    recipe = _with_options(find_recipe(case), seeds, sizes, methods, encoders)
    recipe.check_data(data)
    # torch takes seconds to import: only once there is something to train on.
    from goalward.experiments.grid import Grid
    from goalward.experiments.paper_comparison import (
        beside_the_paper,
        claims,
        read_paper_results,
    )
    from goalward.experiments.reproduction_files import write_reproduction

    grid = Grid(
        methods=recipe.methods,
        seeds=tuple(range(recipe.seeds)),
        sizes=recipe.sizes,
        encoders=recipe.encoders,
        standard_horizon=recipe.standard_horizon,
        preset=recipe.preset,
        overrides=assignments(set_),
    )
    paper = read_paper_results(recipe.paper_results)
    reading = ReadArguments(
        success_key=recipe.data.success_key,
        cameras=recipe.cameras,
        proprioception=recipe.proprioception,
    )
    _check_encoders(recipe)
    sides = _read_sides(recipe, data, reading)
    truth = _truth_of(recipe, data)
    results = _run(grid, _features_of(recipe, sides, reading, device), out, device)
    write_reproduction(out, recipe, grid, results)
    if truth is not None:
        from goalward.experiments.grid_truth import write_grid_truth

        write_grid_truth(out, grid, sides[1], truth)
    _print_results(beside_the_paper(results, paper), claims(results), output_console())
    error_console().print(plain(f"{recipe.title}: {out}"), soft_wrap=True)


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


def _check_encoders(recipe: Recipe) -> None:
    """A wrong name is an error now, not after hours with the encoder before it."""
    from goalward.embeddings.encoders import find_encoder
    from goalward.experiments.recipe import NO_ENCODER

    for encoder in recipe.encoders:
        if encoder != NO_ENCODER:
            find_encoder(encoder, pool=recipe.pool)


def _truth_of(recipe: Recipe, data: Path) -> FrameTruth | None:
    """What `goalward truth` left in the test data set, if it was there."""
    from goalward.metrics.truth.frame_truth import TRUTH_FILE, read_truth

    path = data / recipe.data.wanted[-1] / TRUTH_FILE
    return read_truth(path) if path.is_file() else None


def _features_of(
    recipe: Recipe,
    sides: tuple[Rollouts, Rollouts],
    reading: ReadArguments,
    device: str | None,
) -> FeaturesOf:
    """Embeds training and test episodes for each encoder that is asked for."""
    from goalward.experiments.recipe import NO_ENCODER

    def features_of(encoder: str) -> tuple[Rollouts, Rollouts]:
        if encoder == NO_ENCODER:
            train, test = (
                embed(side, cameras=(), n_obs_steps=recipe.n_obs_steps) for side in sides
            )
        else:
            embedding = EmbedArguments(
                encoder=encoder, pool=recipe.pool, n_obs_steps=recipe.n_obs_steps, device=device
            )
            train, test = (embedding.embed(side, reading) for side in sides)
        return train, test

    return features_of


def _read_sides(recipe: Recipe, data: Path, reading: ReadArguments) -> tuple[Rollouts, Rollouts]:
    """Training and test episodes."""
    train = reading.read(str(data / recipe.data.train))
    if recipe.data.test_fraction is not None:
        train, test = train.split(recipe.data.test_fraction)
    else:
        test = reading.read(str(data / recipe.data.wanted[-1]))
    console = error_console()
    for name, side in (("training", train), ("test", test)):
        text = f"{name}: {counted(side)}, {int(side.success.sum())} of them successes"
        console.print(plain(text), soft_wrap=True)
    for warning in dict.fromkeys((*train.warnings, *test.warnings)):
        console.print(plain(f"warning: {warning}"), soft_wrap=True)
    for left_out in dict.fromkeys((*train.left_out, *test.left_out)):
        text = f"warning: episode {left_out.episode_id} is left out: {left_out.reason}"
        console.print(plain(text), soft_wrap=True)
    return train, test


def _run(grid: Grid, features_of: FeaturesOf, out: Path, device: str | None) -> Results:
    from goalward.experiments.grid import run_grid

    console = error_console()
    with warnings.catch_warnings(record=True) as noticed, ExitStack() as bar:
        warnings.simplefilter("always", UserWarning)
        updates: dict[str, Callable[[int, int], None]] = {}

        def embedded(encoder: str) -> tuple[Rollouts, Rollouts]:
            # Embedding has bars of its own, and there is one place for a bar.
            bar.close()
            return features_of(encoder)

        def show(encoder: str, now: Progress | None) -> None:
            if now is None:
                console.print(plain(f"{encoder}: results are there already"), soft_wrap=True)
                return
            if encoder not in updates:
                updates[encoder] = bar.enter_context(progress_bar(f"training {encoder}", console))
            updates[encoder](now.steps, now.total_steps)

        results = run_grid(grid, embedded, out, device=device, on_progress=show)
    for warning in noticed:
        console.print(plain(f"warning: {warning.message}"), soft_wrap=True)
    return results


def _print_results(tables: list[Beside], asked: list[Claim], console: Console) -> None:
    for beside in tables:
        console.print(plain(beside.heading), style="bold")
        console.print(_rich_table(beside))
        console.print(plain(" ".join(beside.ours.notes)), style="dim")
        console.print()
    if asked:
        console.print("liveness above every other method by more than seeds explain", style="bold")
        for claim in asked:
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

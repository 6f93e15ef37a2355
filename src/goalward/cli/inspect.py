"""`goalward inspect`: what a data set of rollouts holds."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table
from rich.text import Text

from goalward.cli.console import error_console, output_console, plain
from goalward.cli.evaluate import given
from goalward.cli.read_arguments import ReadArguments
from goalward.files import written_whole
from goalward.progress import progress_bar
from goalward.rollouts.findings import counted, some_of

if TYPE_CHECKING:
    from goalward.rollouts.dataset import Rollouts
    from goalward.rollouts.inspection import Inspection, TaskFacts

# Of outcomes.
_COLOURS = {"success": "green", "time_out": "yellow", "failure": "red"}
_MOST_TASKS = 12


def inspect_command(
    path: str,
    /,
    *,
    reading: ReadArguments = ReadArguments(),  # noqa: B008 (frozen)
    json_output: Annotated[bool, Parameter(name="--json", negative=())] = False,
    episodes: Annotated[bool, Parameter(negative=())] = False,
    frames: Path | None = None,
) -> None:
    """Show what a data set of rollouts holds, and what is wrong with it.

    Reads LeRobot (v3.0, v2.x), robomimic and Isaac Lab HDF5, LIBERO HDF5, folders of rollout
    videos (openpi, OpenVLA, lerobot-eval, or a csv of path,success), RLDS, and feature files
    (.npz). The format is found by looking. No frame is decoded unless `--frames` asks for a
    picture.

    Examples:

    ```bash
    goalward inspect my_rollouts  # what is in it, and what is wrong with it
    # a picture: a row per episode
    goalward inspect my_rollouts --frames sheet.png
    goalward inspect my_rollouts --labels outcomes.csv  # outcomes from a file
    # what ended earlier has failed
    goalward inspect my_rollouts --horizon 250 --early-failures
    goalward inspect demos.hdf5 --labels success --json  # for machines
    ```

    Parameters
    ----------
    path
        A folder or file of rollouts, here or in a store (s3://bucket/rollouts), or a feature file
        (.npz).
    json_output
        Print the facts as JSON and nothing else.
    episodes
        List every episode.
    frames
        Draw a contact sheet into this file (png or jpg).
    """
    rollouts = _read(path, reading)
    from goalward.rollouts.inspection import inspect

    facts = inspect(rollouts)
    console = output_console()
    if json_output:
        content = facts.as_dict()
        if episodes:
            content["episode_list"] = [_episode_row(rollouts, i) for i in range(len(rollouts))]
        print(json.dumps(content, indent=2))
    else:
        _print_facts(facts, console)
        if episodes:
            _print_episodes(rollouts, console)
    if frames is not None:
        _draw(rollouts, frames, error_console())


def _read(path: str, reading: ReadArguments) -> Rollouts:
    from goalward.runs.making.inputs import is_feature_file, read_input

    return read_input(path, given(reading), {}) if is_feature_file(path) else reading.read(path)


def _print_facts(facts: Inspection, console: Console) -> None:
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("path", plain(facts.path))
    table.add_row("format", plain(facts.format))
    table.add_row("episodes", Text(f"{facts.episodes}: ") + _outcomes(facts))
    for task in facts.tasks[:_MOST_TASKS]:
        table.add_row("task", _outcomes(task) + Text(": ") + plain(task.task or "(no text)"))
    if len(facts.tasks) > _MOST_TASKS:
        table.add_row("", f"and {len(facts.tasks) - _MOST_TASKS} more tasks")
    lengths = facts.lengths
    table.add_row(
        "length",
        f"{lengths.shortest} to {lengths.longest} frames, median {lengths.median:g} "
        f"(quartiles {lengths.lower_quartile:g}, {lengths.upper_quartile:g}); "
        f"{facts.frames} in all",
    )
    origin = "given" if facts.horizon_given else "the longest episode"
    table.add_row(
        "horizon",
        f"{facts.horizon} frames ({origin}); {facts.share_at_horizon:.0%} of episodes end exactly "
        "there",
    )
    if facts.clocks is not None:
        table.add_row("clocks", f"time-outs ended after {facts.clocks.words}")
    if facts.early_goals:
        table.add_row("goal", f"reached before the last frame in {facts.early_goals} successes")
    table.add_row("rate", "unknown" if facts.fps is None else f"{facts.fps:g} frames per second")
    for camera in facts.cameras:
        sizes = ", ".join(f"{w} x {h}" if w else "size unknown" for h, w in camera.sizes)
        table.add_row("camera", plain(f"{camera.name}  {sizes}  {', '.join(camera.codecs)}"))
    if not facts.cameras:
        table.add_row("camera", "none")
    if facts.features:
        what = f": {facts.feature_layout}" if facts.feature_layout else ""
        table.add_row("features", plain(f"{facts.features} numbers per frame{what}"))
    table.add_row("proprioception", f"{facts.proprioception} numbers per frame")
    table.add_row("action", f"{facts.actions} numbers per frame")
    table.add_row("label source", plain(facts.label_source))
    console.print(table)
    _print_findings(facts, console)


def _outcomes(facts: Inspection | TaskFacts) -> Text:
    parts = [
        (facts.successes, "success", "success"),
        (facts.time_outs, "time-out", "time_out"),
        (facts.failures, "failure", "failure"),
    ]
    return Text(", ").join(
        Text(f"{count} {word}", _COLOURS[outcome]) for count, word, outcome in parts if count
    )


def _print_findings(facts: Inspection, console: Console) -> None:
    if facts.left_out:
        console.print(f"\n[bold red]left out: {counted(facts.left_out)}[/]")
        by_reason = Counter(left_out.reason for left_out in facts.left_out)
        for reason, _ in by_reason.most_common(10):
            ids = [left_out.episode_id for left_out in facts.left_out if left_out.reason == reason]
            console.print(plain(f"  episode {some_of(ids)}: {reason}"), soft_wrap=True)
        if len(by_reason) > 10:
            console.print(f"  and {len(by_reason) - 10} more reasons (--json lists all)")
    if facts.warnings:
        console.print("\n[bold yellow]warnings[/]")
        for text in facts.warnings:
            console.print(plain(f"  {text}"), soft_wrap=True)


def _episode_row(rollouts: Rollouts, position: int) -> dict[str, object]:
    episode = rollouts[position]
    return {
        "id": episode.id,
        "outcome": episode.outcome,
        "frames": episode.num_frames,
        "goal_frame": episode.goal_frame,
        "task": episode.task,
    }


def _print_episodes(rollouts: Rollouts, console: Console) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("episode", "outcome", "frames", "goal", "task"):
        table.add_column(name, justify="right" if name in ("frames", "goal") else "left")
    for episode in rollouts:
        table.add_row(
            plain(episode.id),
            Text(episode.outcome.replace("_", "-"), _COLOURS[episode.outcome]),
            str(episode.num_frames),
            "" if episode.goal_frame is None else str(episode.goal_frame),
            plain(episode.task),
        )
    console.print()
    console.print(table)


def _draw(rollouts: Rollouts, path: Path, console: Console) -> None:
    from goalward.rollouts.contact_sheet import contact_sheet

    with progress_bar("drawing episodes") as update:
        sheet = contact_sheet(rollouts, on_episode=update)
    with written_whole(path) as temporary:
        try:
            sheet.picture.save(temporary)
        except (ValueError, KeyError) as error:
            raise OSError(f"unknown picture format {path.suffix or '(no suffix)'}") from error
    drawn = f"drew {len(sheet.episodes)} of {counted(rollouts)}: {path}"
    console.print(plain(drawn), soft_wrap=True)
    for problem in sheet.problems:
        console.print(plain(f"  {problem}"), style="red", soft_wrap=True)

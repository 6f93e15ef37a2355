"""`goalward fit`: learn value functions from a feature file."""

import warnings
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from goalward.cli.assignments import assignments
from goalward.cli.console import error_console, plain
from goalward.cli.read_arguments import CommaList


def fit_command(
    features: Path,
    /,
    *,
    out: Path,
    methods: CommaList = ("liveness",),
    seeds: int = 5,
    preset: str = "default",
    device: str | None = None,
    set_: Annotated[tuple[str, ...], Parameter(name="--set", negative=())] = (),
) -> None:
    """Learn the value of every frame from episodes with features and outcomes.

    All methods and seeds train side by side. The training is saved every minute: after an
    interrupt the same command goes on where it stopped.

    Examples:

    - `goalward fit features.npz --out run` the paper's method, five seeds
    - `goalward fit features.npz --out run --methods liveness,td,mc --preset libero`
    - `goalward fit features.npz --out run --set num_steps=5000 --set time_out=open`

    Parameters
    ----------
    features
        A feature file (.npz), as `goalward embed --out` writes it: features, episode_ends,
        outcomes, and perhaps goal_frames, ids, tasks, layout.
    out
        The folder for the value functions.
    methods
        Separated by commas: liveness, liveness-nb, td, mc, mc-dist, liveness-exact,
        liveness-nb-exact, survival.
    seeds
        How many networks per method.
    preset
        default, or the paper's numbers for libero, square or cloth.
    device
        cpu, cuda, ... Default: cuda where there is one.
    set_
        Another value for a hyper-parameter, as name=value.
    """
    # torch takes seconds to import: only commands that need it pay.
    from goalward.training.feature_file import read_features
    from goalward.values.fitted import fit

    rollouts = read_features(features)
    overrides = assignments(set_)
    console = error_console()
    with warnings.catch_warnings(record=True) as noticed, FitBar(console) as bar:
        warnings.simplefilter("always", UserWarning)
        fitted = fit(
            rollouts,
            methods or (),
            seeds=seeds,
            preset=preset,
            device=device,
            checkpoint=out,
            on_progress=bar.update,
            **overrides,
        )
    for warning in noticed:
        console.print(plain(f"warning: {warning.message}"), soft_wrap=True)
    fitted.save(out)
    done = f"{len(fitted.answers)} value functions of {len(rollouts)} episodes: {out}"
    console.print(plain(done), soft_wrap=True)


class FitBar:
    """A progress bar with the loss, the held-out loss and the time left."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("training {task.fields[stages]}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[losses]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._task = self._progress.add_task("training", total=None, stages="", losses="")

    def __enter__(self) -> "FitBar":
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress.live.is_started:
            self._progress.stop()

    def update(self, now: Any) -> None:
        if not self._progress.live.is_started:
            self._progress.start()
        losses = f"loss {now.loss:.4f}"
        if now.held_out_loss is not None:
            losses += f", held out {now.held_out_loss:.4f}"
        self._progress.update(
            self._task,
            completed=now.steps,
            total=now.total_steps,
            stages=", ".join(now.stages),
            losses=losses,
        )

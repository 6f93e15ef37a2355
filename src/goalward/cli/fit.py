"""`goalward fit`: learn value functions from a feature file."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from goalward.cli.assignments import assignments
from goalward.cli.console import say
from goalward.cli.read_arguments import CommaList
from goalward.leftovers import sweep
from goalward.locks import alone_in
from goalward.progress import training_bar
from goalward.rollouts.findings import counted


def fit_command(
    features: Path,
    /,
    *,
    out: Path,
    methods: CommaList = ("liveness",),
    seeds: int = 5,
    preset: str = "default",
    per_task: Annotated[bool, Parameter(negative=())] = False,
    device: str | None = None,
    on: str = "local",
    workers: int | None = None,
    set_: Annotated[tuple[str, ...], Parameter(name="--set", negative=())] = (),
) -> None:
    """Learn the value of every frame from features and outcomes.

    All methods and seeds train side by side. The training is saved every minute: after an
    interrupt the same command goes on where it stopped.

    Examples:

    ```bash
    goalward fit features.npz --out run  # the paper's method, five seeds
    goalward fit features.npz --out run --methods liveness,td,mc --preset libero
    goalward fit features.npz --out run --set num_steps=5000,time_out=open
    ```

    Parameters
    ----------
    features
        A feature file (.npz), as `goalward embed --out` writes it: features, episode_ends,
        outcomes, and perhaps goal_frames, ids, tasks, fps, every, proprioception, task_names,
        task_vectors, layout.
    out
        The folder for the value functions.
    methods
        Separated by commas: lambda-returns (which gives the answers of `goalward evaluate`),
        liveness, liveness-nb, td, mc, mc-dist, liveness-exact, liveness-nb-exact, survival.
    seeds
        How many times each method is trained.
    preset
        default, or the paper's numbers for libero, square or cloth.
    per_task
        Learn each task from its own episodes alone. By default one value function serves all tasks
        and is told which one it looks at.
    device
        cpu, cuda, ... Default: cuda where there is one.
    on
        Who trains: local (this process), ray (the cluster of RAY_ADDRESS, or one that is started
        here), or the address of a Ray cluster (ray://host:10001), whose machines share the folder.
    workers
        How many workers of the cluster. Default: as many as it has GPUs, or cores if it has none.
    set_
        Other values for hyper-parameters, as name=value, separated by commas; `goalward settings`
        lists them.
    """
    # torch takes seconds to import: only commands that need it pay.
    from goalward.executors.choice import Workers
    from goalward.training.stored.feature_file import read_features
    from goalward.values.fit import fit

    Workers(on, workers)
    rollouts = read_features(features)
    with alone_in(out), training_bar() as update:
        sweep(out)
        fitted = fit(
            rollouts,
            methods or (),
            seeds=seeds,
            preset=preset,
            per_task=per_task,
            device=device,
            on=on,
            num_workers=workers,
            checkpoint=out,
            on_progress=update,
            **assignments(set_),
        )
        fitted.save(out)
    functions = counted(tuple(fitted.answers), "value function")
    say(f"{functions} of {counted(rollouts)}: {out}")

"""`goalward evaluate`: from rollouts to an answer in one command."""

import shlex
import sys
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from goalward.cli.assignments import assignments
from goalward.cli.console import output_console, plain, say
from goalward.cli.embed import EmbedArguments
from goalward.cli.read_arguments import CommaList, ReadArguments
from goalward.config import DEFAULT_EFFORT, DEFAULT_METHODS
from goalward.errors import GoalwardError
from goalward.trackers.names import TrackerName


def evaluate_command(
    path: str,
    /,
    *,
    out: Path,
    reading: ReadArguments = ReadArguments(),  # noqa: B008 (frozen)
    embedding: EmbedArguments = EmbedArguments(),  # noqa: B008 (frozen)
    methods: CommaList = DEFAULT_METHODS,
    effort: str = DEFAULT_EFFORT,
    seeds: int | None = None,
    preset: str = "default",
    set_: Annotated[tuple[str, ...], Parameter(name="--set", negative=())] = (),
    per_task: Annotated[bool, Parameter(negative=())] = False,
    folds: int | None = None,
    test_fraction: float = 0.25,
    split_seed: int = 0,
    standard_horizon: int | None = None,
    hindsight: float | None = None,
    scores: CommaList = None,
    values: Path | None = None,
    policy: str | None = None,
    truth: Path | None = None,
    on: str = "local",
    workers: int | None = None,
    plan: Annotated[bool, Parameter(negative=())] = False,
    force: Annotated[bool, Parameter(negative=())] = False,
    replace: Annotated[bool, Parameter(negative=())] = False,
    report: bool = True,
    tracker: TrackerName | None = None,
    project: str = "goalward",
) -> None:
    """Say how good a policy is from its rollouts: the main command.

    Reads the rollouts, says what it is going to do and how long that takes, embeds their frames
    (once, see `goalward embed`), learns value functions, judges every episode by networks that
    never saw it, and writes into one folder: what the policy's success rate is and would be with
    more time, which episodes to watch first, values of every frame, how far they can be trusted,
    and a report that plays every episode beside its value.
    Stopped at any moment, the same command goes on; run again, it does nothing that is done. With
    other options it leaves the folder as it is and takes the next: run-2 beside run.
    `goalward.evaluate` is the same in Python.

    Examples:

    ```bash
    goalward evaluate demo --out run  # rollouts that come with goalward
    goalward evaluate my_rollouts --out run --plan  # what it would do
    goalward evaluate my_rollouts --out run  # minutes, after embedding
    goalward evaluate my_rollouts --out run --encoder effnet-lite0  # no model hub
    goalward evaluate my_rollouts --out run --effort quick  # a first look
    goalward evaluate my_rollouts --out run --methods all  # the paper's too
    goalward evaluate features.npz --out run  # features you bring
    goalward evaluate simulated --out run  # against simulated/truth.parquet
    # scores by another program, judged like a method
    goalward evaluate my_rollouts --out run --scores sarm=sarm_progress.parquet
    # by the networks of an earlier run, no training
    goalward evaluate todays --out today --values run
    goalward view run  # opens the report
    goalward export run --to csv  # hands values on
    goalward compare run_a run_b  # which of two policies is better
    ```

    Parameters
    ----------
    path
        A folder or file of rollouts, here or in a store (s3://bucket/rollouts), or a feature file
        (.npz).
    out
        The folder for all results. One that was made with other options stays as it is, and
        results go to the next, run-2 beside run, unless you give --replace.
    methods
        Separated by commas; the first one speaks for the policy. lambda-returns, liveness,
        liveness-nb, td, mc, mc-dist, liveness-exact, liveness-nb-exact, survival; paper stands for
        the paper's five, all for lambda-returns and those.
    effort
        How much training the answer is worth: quick, normal or thorough. docs/efforts.md has
        minutes and errors of each.
    seeds
        How many times each method is trained. Default: as the effort says, 1, 2 or 5.
    preset
        default, or the paper's numbers for libero, square or cloth.
    set_
        Other values for hyper-parameters, as name=value, separated by commas; `goalward settings`
        lists them.
    per_task
        Learn each task from its own episodes alone, as the paper's studies do. By default one value
        function serves all tasks and is told which one it looks at.
    folds
        0 has each episode judged by those of a method's own networks that never saw it
        (lambda-returns alone); 1 holds out a part of the episodes; more hold each episode out once,
        at as many times the training. Default: 0 where all methods can, else 1.
    test_fraction
        The part that is held out when there is one fold.
    split_seed
        Which episodes are held out.
    standard_horizon
        Steps in which the task is usually done. Default: what nine of ten successes needed.
    hindsight
        How far hindsight values follow the recording, from 0 (not beyond the next frame) to 1 (the
        recording alone). Default: what episodes that start alike choose, or 0.98.
    scores
        Parquet files with a score per frame by other programs (episode, frame, score; or what SARM,
        Robometer, RLinf and Evo-RL write), separated by commas, as path or name=path: judged as
        further methods. docs/scores_of_others.md.
    values
        A folder of an earlier evaluation, or hub:organisation/name, whose networks judge these
        episodes: nothing is trained, and it is said how far the frames lie from what they learned
        from.
        docs/other_policies.md.
    policy
        The policy's name in tables and comparisons. Default: the name of the data.
    truth
        What `goalward truth` measured: the values are compared with it. Default: truth.parquet in
        the folder of the rollouts, if there is one.
    on
        Who embeds and trains: local (this process), ray (the cluster of RAY_ADDRESS, or one that
        is started here), or the address of a Ray cluster (ray://host:10001), whose machines see
        the rollouts, the cache and the folder of results.
    workers
        How many workers of the cluster. Default: as many as it has GPUs, or cores if it has none.
    plan
        Say what would be done, how long it takes and what to mind, and stop.
    force
        Do everything again, training too; embeddings are kept.
    replace
        Where the folder was made with other options: remove what is ours there and make it anew.
    report
        Write the pages to look at (as `goalward report` does later).
    tracker
        Tell wandb or trackio the settings, scores, training curves, figures and the report (needs
        goalward[wandb] or goalward[trackio]). docs/trackers.md.
    project
        The project there.
    """
    from goalward.executors.choice import Workers
    from goalward.report.words.brief import brief_document
    from goalward.report.words.rendering import print_document
    from goalward.runs.evaluate import evaluate
    from goalward.trackers.track import import_tracker, track

    asked = {
        "methods": methods or (),
        "effort": effort,
        "seeds": seeds,
        "preset": preset,
        "per_task": per_task,
        "folds": folds,
        "test_fraction": test_fraction,
        "split_seed": split_seed,
        "encoder": embedding.encoder,
        "embedding": given(embedding, but=("encoder", "device")),
        "reading": given(reading),
        "device": embedding.device,
        **assignments(set_),
    }
    Workers(on, workers)
    if plan:
        if values is not None:
            raise GoalwardError(
                "--plan is of a training, and by --values nothing is trained; leave one of them out"
            )
        told = {"standard_horizon": standard_horizon, "hindsight": hindsight}
        told |= {"scores": scores or (), "policy": policy, "truth": truth}
        _print_plan(path, asked | told)
        return
    if tracker is not None:
        # Known before hours of training, not after.
        import_tracker(tracker)
    run = evaluate(
        path,
        out,
        **asked,
        standard_horizon=standard_horizon,
        hindsight=hindsight,
        scores=scores or (),
        values=values,
        policy=policy,
        truth=truth,
        on=on,
        num_workers=workers,
        force=force,
        replace=replace,
        report=report,
        command=shlex.join(["goalward", *sys.argv[1:]]),
    )
    if tracker is not None:
        track(run, tracker, project=project)
    print_document(brief_document(run), output_console())
    if report:
        say(f"more in {run.folder.summary}")
    pages = run.folder.report / "index.html"
    first = f"open: {pages}" if report else f"read first: {run.folder.summary}"
    say(f"all results: {run.folder.path}; {first}")


def _print_plan(path: str, asked: dict[str, Any]) -> None:
    from goalward.runs.making.plan import plan

    found = plan(path, **asked)
    console = output_console()
    for line in found.lines():
        console.print(plain(line), soft_wrap=True)
    for notice in found.notices:
        say(f"warning: {notice}")
    found.check()


def given(options: Any, but: tuple[str, ...] = ()) -> dict[str, Any]:
    """Those of the options that differ from what they are by default."""
    usual = {option.name: option.default for option in fields(options)}
    return {
        name: value
        for name, value in asdict(options).items()
        if name not in but and value != usual[name]
    }

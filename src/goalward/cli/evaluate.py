"""`goalward evaluate`: from rollouts to an answer in one command."""

import shlex
import sys
import warnings
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.markdown import Markdown

import goalward
from goalward.cli.assignments import assignments
from goalward.cli.console import error_console, output_console, plain
from goalward.cli.embed import EmbedArguments
from goalward.cli.fit import FitBar
from goalward.cli.progress import progress_bar
from goalward.cli.read_arguments import CommaList, ReadArguments
from goalward.config import PAPER_METHODS, EvaluationConfig, write_toml
from goalward.errors import GoalwardError
from goalward.metrics.truth.frame_truth import TRUTH_FILE, FrameTruth, read_truth
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.embedded import located
from goalward.rollouts.findings import some_of
from goalward.run_folder import RunFolder

_STEP_WORDS = {
    "episodes": "list of episodes",
    "networks": "training",
    "values": "values of every frame",
    "scores": "scores, tables, figures, summary",
}


def evaluate_command(
    path: str,
    /,
    *,
    out: Path,
    reading: ReadArguments = ReadArguments(),  # noqa: B008 (frozen)
    embedding: EmbedArguments = EmbedArguments(),  # noqa: B008 (frozen)
    methods: CommaList = PAPER_METHODS,
    seeds: int = 5,
    preset: str = "default",
    set_: Annotated[tuple[str, ...], Parameter(name="--set", negative=())] = (),
    folds: int = 1,
    test_fraction: float = 0.25,
    split_seed: int = 0,
    standard_horizon: int | None = None,
    policy: str | None = None,
    truth: Path | None = None,
    force: Annotated[bool, Parameter(negative=())] = False,
    report: bool = True,
) -> None:
    """Say how good a policy is from its rollouts: the main job, in one command.

    Reads the rollouts, embeds their frames (once, see `goalward embed`), holds out some episodes,
    learns value functions from the others, and writes into one folder: what the policy's success
    rate is and would be with more time, which episodes to watch first, values of every frame, how
    far all methods can be trusted, and a report that plays every episode beside its value.
    Stopped at any moment, the same command goes on; run again, it does nothing that is done.

    Examples:

    - `goalward evaluate my_rollouts --out run` the paper's encoder and its five methods
    - `goalward evaluate my_rollouts --out run --encoder effnet-lite0 --seeds 3` no model hub
    - `goalward evaluate my_rollouts --out run --folds 4` each episode is held out once
    - `goalward evaluate features.npz --out run --methods liveness` from features you bring
    - `goalward evaluate simulated --out run` compares values with `simulated/truth.parquet`
    - `goalward view run` opens the report; `goalward export run --to csv` hands values on
    - `goalward compare run_a run_b` which of two policies is better

    Parameters
    ----------
    path
        A folder or file of rollouts, or a feature file (.npz).
    out
        The folder for all results.
    methods
        Separated by commas; the first one speaks for the policy. liveness, liveness-nb, td, mc,
        mc-dist, liveness-exact, liveness-nb-exact, survival.
    seeds
        How many networks per method.
    preset
        default, or the paper's numbers for libero, square or cloth.
    set_
        Another value for a hyper-parameter, as name=value.
    folds
        1 holds out a part of the episodes; more hold each episode out once, at as many times the
        training.
    test_fraction
        The part that is held out when there is one fold.
    split_seed
        Which episodes are held out.
    standard_horizon
        Steps in which the task is usually done. Default: what nine of ten successes needed.
    policy
        The policy's name in tables and comparisons. Default: the name of the data.
    truth
        What `goalward truth` measured: the values are compared with it. Default: truth.parquet in
        the folder of the rollouts, if there is one.
    force
        Do everything again.
    report
        Write the pages to look at (as `goalward report` does later).
    """
    console = error_console()
    config = EvaluationConfig(
        policy=policy or _name_of(Path(path).resolve()),
        methods=tuple(methods or ()),
        seeds=seeds,
        preset=preset,
        overrides=assignments(set_),
        folds=folds,
        test_fraction=test_fraction,
        split_seed=split_seed,
        standard_horizon=standard_horizon,
    )
    folder = RunFolder(out)
    truth = _truth_file(path) if truth is None else truth
    known = None if truth is None else read_truth(truth)
    rollouts = _features(path, reading, embedding, config, folder, known)
    _write_config(folder, path, rollouts, config, reading, embedding, truth)
    from goalward.experiments.evaluation import evaluate

    def tell(step: str, is_done: bool) -> None:
        if is_done:
            console.print(plain(f"{_STEP_WORDS[step]}: there already"))
        elif step != "networks":
            console.print(plain(_STEP_WORDS[step]))

    with warnings.catch_warnings(record=True) as noticed, FitBar(console) as bar:
        warnings.simplefilter("always", UserWarning)
        evaluation = evaluate(
            rollouts,
            config,
            folder,
            truth=known,
            device=embedding.device,
            force=force,
            on_step=tell,
            on_fit_progress=bar.update,
        )
    for text in dict.fromkeys(str(warning.message) for warning in noticed):
        console.print(plain(f"warning: {text}"), soft_wrap=True)
    if not evaluation.steps_made:
        console.print(plain("nothing had to be done: data and options are as they were"))
    index = _write_report(folder, rollouts, console) if report else None
    _print_answer(folder, index, console)


def _name_of(path: Path) -> str:
    """The name of the data: v1.2 for a folder v1.2, and for a file v1.2.hdf5."""
    return path.stem if path.is_file() else path.name


def _truth_file(path: str) -> Path | None:
    """Where `goalward truth` leaves its results, if they are there."""
    usual = located(path) / TRUTH_FILE
    return usual if usual.is_file() else None


def _features(
    path: str,
    reading: ReadArguments,
    embedding: EmbedArguments,
    config: EvaluationConfig,
    folder: RunFolder,
    truth: FrameTruth | None,
) -> Rollouts:
    """The rollouts with features; what cannot work ends it before hours of embedding."""
    if _is_feature_file(path):
        _refuse_unused(path, reading, embedding)
        rollouts = goalward.read_features(path)
    else:
        rollouts = reading.read(path)
    # torch takes seconds to import: only commands that need it pay.
    from goalward.experiments.evaluation import check_evaluation

    check_evaluation(rollouts, config, folder, device=embedding.device, truth=truth)
    return rollouts if _is_feature_file(path) else embedding.embed(rollouts, reading)


def _is_feature_file(path: str) -> bool:
    return path.endswith(".npz")


def _refuse_unused(path: str, reading: ReadArguments, embedding: EmbedArguments) -> None:
    """Labels or an encoder beside a feature file would be ignored in silence."""
    plain_embedding = EmbedArguments(device=embedding.device)
    given = [
        f"--{name.replace('_', '-')}"
        for asked, usual in ((reading, ReadArguments()), (embedding, plain_embedding))
        for name, value in asdict(asked).items()
        if value != getattr(usual, name)
    ]
    if given:
        raise GoalwardError(
            f"{path}: a feature file has its outcomes and features already; "
            f"{some_of(given)} would change nothing"
        )


def _write_config(
    folder: RunFolder,
    path: str,
    rollouts: Rollouts,
    config: EvaluationConfig,
    reading: ReadArguments,
    embedding: EmbedArguments,
    truth: Path | None,
) -> None:
    def told(settings: dict[str, Any]) -> dict[str, Any]:
        return {
            name: str(value) if isinstance(value, Path) else value
            for name, value in settings.items()
            if value is not None
        }

    write_toml(
        folder.config,
        {
            "data": {
                # The rollouts of the package go by their name, wherever it is installed.
                "path": path if located(path) != Path(path) else str(Path(path).resolve()),
                "sources": [source.format for source in rollouts.sources],
                "features": rollouts.feature_layout,
                **({} if truth is None else {"truth": str(truth.resolve())}),
            },
            **(
                {}
                if _is_feature_file(path)
                else {"reading": told(asdict(reading)), "embedding": told(asdict(embedding))}
            ),
            "evaluation": config.as_dict(),
            "made_by": {
                "command": shlex.join(["goalward", *sys.argv[1:]]),
                "goalward": goalward.__version__,
                "torch": version("torch"),
                "python": sys.version.split()[0],
            },
        },
    )


def _write_report(folder: RunFolder, rollouts: Rollouts, console: Console) -> Path:
    from goalward.report.pages.files import write_report
    from goalward.values.finished_run import read_run

    with progress_bar("report", console, unit="episodes") as update:
        return write_report(read_run(folder.path), rollouts, folder.report, on_progress=update)


def _print_answer(folder: RunFolder, index: Path | None, console: Console) -> None:
    output = output_console()
    text = folder.summary.read_text(encoding="utf-8")
    if output.is_terminal:
        output.print(Markdown(text))
    else:
        print(text)
    first = f"read first: {folder.summary}" if index is None else f"open: {index}"
    console.print(plain(f"all results: {folder.path}; {first}"), soft_wrap=True)

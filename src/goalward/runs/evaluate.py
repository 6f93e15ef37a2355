"""From rollouts to a run: read, embed, fit, predict, judge, write; nothing is done twice.

    rollouts -> features -> folds -> networks/ -> values, chances -> scores.json -> summary, report

What was given is read, checked and embedded here; the steps from there on are in `making.py`.
"""

import dataclasses
import logging
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import goalward
from goalward.config import (
    DEFAULT_EFFORT,
    DEFAULT_METHODS,
    METHOD_GROUPS,
    OWN_FOLDS,
    EvaluationConfig,
)
from goalward.embeddings.encoders import DEFAULT_ENCODER
from goalward.errors import GoalwardError, argument
from goalward.executors.choice import LOCAL, Workers
from goalward.executors.ray_cluster import one_cluster
from goalward.files import check_folder, resolved
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.metrics.truth.known_frames import known_frames
from goalward.rollouts.dataset import Rollouts
from goalward.runs.making.evaluation import Making
from goalward.runs.making.given import Given, check_apart, data_of, known_truth, name_of
from goalward.runs.making.held_out import asked_folds, held_out_episodes
from goalward.runs.making.place import place_alone
from goalward.runs.making.plan import actual_against, plan_evaluation
from goalward.runs.making.removal import remove_made, remove_run
from goalward.runs.making.values_of_run import (
    check_alike,
    check_other_folder,
    config_from,
    familiarity_with,
    given_as,
    learned_from,
    source_run,
)
from goalward.runs.run import Run
from goalward.runs.settings import MadeBy, RunSettings
from goalward.training.methods.efforts import find_effort, numbers_of
from goalward.values.score_file import named_files, read_all_scores
from goalward.versions import package_versions, python_version

_log = logging.getLogger("goalward.runs")


def evaluate(
    rollouts: Rollouts | str | Path,
    out: str | Path,
    *,
    methods: str | Sequence[str] = DEFAULT_METHODS,
    effort: str = DEFAULT_EFFORT,
    seeds: int | None = None,
    preset: str = "default",
    per_task: bool = False,
    folds: int | None = None,
    test_fraction: float = 0.25,
    split_seed: int = 0,
    standard_horizon: int | None = None,
    hindsight: float | None = None,
    scores: str | Path | Mapping[str, str | Path] | Sequence[str | Path] = (),
    values: Run | str | Path | None = None,
    policy: str | None = None,
    truth: FrameTruth | str | Path | None = None,
    encoder: str = DEFAULT_ENCODER,
    embedding: Mapping[str, Any] | None = None,
    reading: Mapping[str, Any] | None = None,
    device: str | None = None,
    on: str = LOCAL,
    num_workers: int | None = None,
    force: bool = False,
    replace: bool = False,
    report: bool = True,
    progress: bool = True,
    command: str | None = None,
    **overrides: Any,
) -> Run:
    """Say how good a policy is from its rollouts: what `goalward evaluate` does, as a function.

    `rollouts` are a path (a data set, or a feature file), rollouts with features, or rollouts with
    cameras, which are then embedded by `encoder`. All results go into the folder `out`, the same
    files as the command writes. Stopped at any moment, the same call goes on where it was; called
    again with the same inputs it makes nothing anew, unless `force` is given. A folder made with
    other options stays as it is, and results go to the next (`run-2` beside `run`), unless
    `replace` is given; the run that is returned knows its folder.

    `methods`: the first one speaks for the policy, the others are compared with it; "paper" stands
    for the paper's. `effort`, quick, normal or thorough, is how much training the answer is worth;
    `seeds` is how many networks each method has (None: what the effort says). `per_task` learns
    each task by itself. `folds`: 0 has each episode judged by those of a method's own networks that
    never saw it, 1 holds a part of the episodes out, more hold each out once; None: 0 where all
    methods can, else 1. `hindsight`, from 0 to 1, is how far hindsight values follow the
    recording (None: what episodes that start alike choose, or 0.98). `scores` are files of other
    programs with a score per frame, which are judged as further methods. `values` is a run, or its
    folder, whose networks judge these episodes: nothing is trained. `truth` is what `goalward
    truth` measured; by default that of the folder of the rollouts, if there is one. `reading` are
    options of `goalward.read`, `embedding` more options of `goalward.embed`; any field of
    `Hyperparameters` can be given by its name.
    `on` says who embeds and trains: this process (`local`), or `num_workers` workers of a Ray
    cluster (`ray`, or `ray://host:10001`) that see the files, the cache and `out`.
    `report` writes the pages to look at. What is noticed on the way goes to the logger `goalward`;
    `progress` shows bars on a terminal.

    >>> import tempfile
    >>> import numpy as np
    >>> ramp = np.linspace(0, 1, 12)[:, None]
    >>> rollouts = goalward.from_arrays([ramp, -ramp] * 4, success=[True, False] * 4)
    >>> run = evaluate(
    ...     rollouts, tempfile.mkdtemp(), methods="mc", seeds=1, report=False,
    ...     width=8, num_layers=2, num_steps=6, batch_size=16,
    ... )
    >>> run.scores.policy.success.count, run.values.num_frames
    (4, 96)
    """
    if not str(out):
        raise GoalwardError(f"{argument('out', out)}: wanted a folder for the results")
    workers = Workers(on, num_workers)
    given = Given(dict(reading or {}), {"encoder": encoder, **(embedding or {})})
    own = {
        "policy": policy or name_of(rollouts),
        "standard_horizon": standard_horizon,
        "hindsight": hindsight,
        "scores": score_files(scores),
    }
    training = {"seeds": seeds, "preset": preset, "per_task": per_task, "folds": folds}
    training |= {"overrides": overrides, "split_seed": split_seed, "test_fraction": test_fraction}
    source = None
    if values is None:
        config = config_of(methods=methods, effort=effort, **training, **own)
    else:
        told = {"methods": named_methods(methods), "effort": effort}
        source = source_run(values, told | training)
        config, given = config_from(source, **own), given_as(source, given, rollouts)
        check_other_folder(source, Path(out))
    check_apart(rollouts, Path(out))
    recorded = given.read(rollouts, progress)
    if source is not None:
        check_alike(source, recorded, given)
    truth_path, known = known_truth(rollouts, truth)
    settings = RunSettings(
        evaluation=config,
        data=data_of(rollouts, recorded, truth_path),
        reading=given.reading_told(rollouts),
        embedding=given.embedding_told(recorded),
        made_by=MadeBy(
            command=command or f"goalward.evaluate(..., out={str(out)!r})",
            goalward=goalward.__version__,
            torch=version("torch"),
            python=python_version(),
            packages={name: of for name, of in package_versions().items() if name != "torch"},
        ),
    )
    with one_cluster(), place_alone(Path(out), settings, replace=replace) as place:
        check_evaluation(recorded, config, device=device, truth=known)
        check_folder(place.folder.path)
        # Not before what can be wrong without torch was looked for.
        from goalward.values.stored_fit import is_fitted

        plan = None
        is_trained = source is not None or is_fitted(place.folder.networks)
        if not is_trained or (source is None and (force or place.is_replaced)):
            plan = plan_evaluation(recorded, config, embedding=given.embedding, device=device)
            plan.tell()
            plan.check()
        learned = None
        if source is not None:
            learned = learned_from(source, recorded, given, progress)
        started = time.monotonic()
        featured = given.embed(recorded, device, progress, workers)
        embedding_s = time.monotonic() - started
        settings = dataclasses.replace(
            settings,
            data=data_of(rollouts, featured, truth_path),
            made_by=dataclasses.replace(settings.made_by, device=_name_of_device(device)),
        )
        # Not before there is something to take its place.
        if place.is_replaced:
            remove_run(place.folder)
        elif force:
            remove_made(place.folder)
        near = None
        if source is not None and learned is not None:
            near = familiarity_with(source, learned, featured, given, device, progress)
        work = Making(
            place.folder, settings, featured, known, device, progress, place.passed, near, workers
        )
        run = work.run()
        took = "" if plan is None else actual_against(plan, embedding_s, work.training_s)
        if took and work.training_s:
            _log.info("%s", took)
        if not work.made:
            _log.info("nothing had to be made: data and options are as they were")
        if report:
            run.report(progress=progress)
        return run


def _name_of_device(device: str | None) -> str:
    # Imports torch, which is at work by now.
    from goalward.devices import chosen_device, device_in_words

    return device_in_words(chosen_device(device))


def config_of(
    *,
    methods: str | Sequence[str] = DEFAULT_METHODS,
    effort: str = DEFAULT_EFFORT,
    seeds: int | None = None,
    folds: int | None = None,
    **others: Any,
) -> EvaluationConfig:
    """The configuration that some options ask for; what is None follows from the others."""
    chosen = named_methods(methods)
    return EvaluationConfig(
        methods=chosen,
        effort=effort,
        seeds=find_effort(effort).seeds if seeds is None else seeds,
        folds=usual_folds(chosen) if folds is None else folds,
        **others,
    )


def score_files(
    scores: str | Path | Mapping[str, str | Path] | Sequence[str | Path],
) -> dict[str, str]:
    """Name -> whole path, as settings keep it."""
    return {name: str(resolved(Path(path))) for name, path in named_files(scores).items()}


def named_methods(methods: str | Sequence[str]) -> tuple[str, ...]:
    """Each method once, groups by their members.

    >>> named_methods(["lambda-returns", "paper"])
    ('lambda-returns', 'liveness', 'liveness-nb', 'td', 'mc', 'mc-dist')
    """
    given = (methods,) if isinstance(methods, str) else methods
    return tuple(dict.fromkeys(m for name in given for m in METHOD_GROUPS.get(name, (name,))))


def usual_folds(methods: Sequence[str]) -> int:
    """Each episode judged by networks of the method itself, where all methods have such."""
    from goalward.training.methods.table import find_method

    return OWN_FOLDS if all(find_method(method).is_folded for method in methods) else 1


def check_evaluation(
    rollouts: Rollouts,
    config: EvaluationConfig,
    *,
    device: str | None = None,
    truth: FrameTruth | None = None,
) -> None:
    """Say now what would end an evaluation later; needs outcomes, not features, and writes nothing.

    Embedding may take hours: a method that does not exist, episodes that cannot be split, scores
    or a device that are not there should not wait for it.
    """
    # torch takes seconds to import: not before the rollouts are read, and found wanting or not.
    from goalward.devices import chosen_device
    from goalward.training.methods.table import find_method

    for method in config.methods:
        if config.folds == OWN_FOLDS and not find_method(method).is_folded:
            raise GoalwardError(
                f"{argument('folds', 0)}: {method} does not train on folds of the episodes, so "
                "none of its networks can judge what it learned from; give "
                f"{argument('folds', 1)} or more"
            )
    numbers_of(config)
    chosen_device(device)
    folds = asked_folds(rollouts, config)
    read_all_scores(config.scores, rollouts.ids, rollouts.lengths.tolist())
    if truth is not None:
        known_frames(truth, rollouts, held_out_episodes(folds, len(rollouts)))

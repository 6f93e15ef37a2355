"""Episodes judged by the networks of another run: nothing is trained, and how far they lie from it.

Yesterday's values on today's checkpoint: what was learned from one policy's rollouts says of
another's what it would have said of its own, as far as the frames look alike.
"""

import dataclasses
import hashlib
import logging
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from goalward.config import EvaluationConfig
from goalward.errors import GoalwardError, argument
from goalward.files import written_whole
from goalward.metrics.familiarity import Familiarity, familiarity
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.findings import counted, some_of
from goalward.rollouts.twins import twins_between
from goalward.run_folder import RunFolder
from goalward.runs.folder.stored import open_run
from goalward.runs.folder.whole import check_files
from goalward.runs.from_hub import fetched_run, is_on_hub
from goalward.runs.making.given import Given
from goalward.runs.making.held_out import OWN_FOLDS_NAME, folds_of_others
from goalward.runs.making.steps import Steps
from goalward.runs.run import Run

_log = logging.getLogger("goalward.runs")


def source_run(values: Run | str | Path, asked: Mapping[str, Any]) -> Run:
    """The run whose networks judge; `asked` are options of training, which would change nothing."""
    if not isinstance(values, Run) and is_on_hub(values):
        values = fetched_run(values)
    source = values if isinstance(values, Run) else open_run(values)
    usual = EvaluationConfig()
    for name, value in asked.items():
        # Seeds and folds are None unless told; what they are then follows from other options.
        if value is not None and (name in ("seeds", "folds") or value != getattr(usual, name)):
            raise GoalwardError(
                f"{argument('values')}: the networks are those of {source.folder.path}, so "
                f"{argument(name)} would change nothing"
            )
    check_networks(source.folder)
    return source


def check_networks(folder: RunFolder) -> None:
    from goalward.values.stored_fit import is_fitted

    if not is_fitted(folder.networks):
        raise GoalwardError(f"{folder.path}: has no networks (any more) that could judge")
    # Here, where the command that mends them is known; of a copy nobody would know it.
    check_files(folder, *Steps(folder.steps).files("networks"))


def config_from(source: Run, **own: Any) -> EvaluationConfig:
    """How the other run was made, with what is this evaluation's own."""
    path = str(source.folder.path.resolve())
    return dataclasses.replace(source.settings.evaluation, values_from=path, **own)


def given_as(source: Run, given: Given) -> Given:
    """Frames have to become numbers as they did there; what is told of reading wins."""
    return Given({**source.settings.reading, **given.reading}, dict(source.settings.embedding))


def networks_digest(folder: RunFolder) -> str:
    """What the networks of a run are, to the last bit."""
    from goalward.values.stored_fit import stored_files

    digest = hashlib.blake2b(digest_size=16)
    for path in stored_files(folder.networks):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def copy_networks(source: RunFolder, to: RunFolder) -> list[Path]:
    """The networks of another run and how they were trained: a folder can be moved by itself."""
    from goalward.values.stored_fit import stored_files

    pairs = [(file, to.networks / file.name) for file in stored_files(source.networks)]
    if source.training_log.is_file():
        pairs.append((source.training_log, to.training_log))
    for file, copy in pairs:
        with written_whole(copy) as temporary:
            shutil.copyfile(file, temporary)
    return [copy for _, copy in pairs]


def familiarity_with(
    source: Run, rollouts: Rollouts, given: Given, device: str | None, progress: bool
) -> Familiarity | None:
    """How far episodes lie from those that the networks learned from; None where nobody can say.

    It takes the frames of the other run, whose embeddings are in the cache as a rule.
    """
    try:
        recorded = source.read_rollouts()
        learned = given.embed(recorded, device, progress)
    except (GoalwardError, OSError) as error:
        _log.warning(
            "how far these episodes lie from those learned from is not known, nor whether they are "
            "among them: %s",
            error,
        )
        return None
    if learned.features is None or rollouts.features is None:
        return None
    sizes = learned.features.shape[1], rollouts.features.shape[1]
    if sizes[0] != sizes[1]:
        raise GoalwardError(
            f"these frames have {sizes[1]} numbers, those that {source.folder.path} learned from "
            f"{sizes[0]}: its networks cannot judge them"
        )
    found = familiarity(
        learned.features,
        learned.episode_ends,
        rollouts.features,
        rollouts.episode_ends,
        rollouts.ids,
        str(source.folder.path),
    )
    return dataclasses.replace(found, copies=_learned_copies(source, rollouts, recorded))


def _learned_copies(source: Run, rollouts: Rollouts, recorded: Rollouts) -> tuple[str, ...]:
    """Episodes that the networks learned from: their values know how they ended."""
    (fold,) = folds_of_others(len(rollouts), source.settings.evaluation.folds)
    judges = fold.subset
    copies = tuple(
        rollouts.ids[twins.first]
        for twins in twins_between(rollouts, recorded)
        # What these networks held out is as good as new; of own folds some learned from each.
        if judges == OWN_FOLDS_NAME or source.episodes[twins.second].fold != judges
    )
    if len(copies) == len(rollouts):
        raise GoalwardError(
            f"{argument('values')}: {source.folder.path} learned from all of these episodes, and "
            "has its own values of them, by networks that never saw them"
        )
    if copies:
        words = "%s of these %s learned from, so their values are optimistic: %s; not held out here"
        _log.warning(words, counted(copies), source.folder.path, some_of(copies))
    return copies

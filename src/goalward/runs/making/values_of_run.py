"""Episodes judged by the networks of another run: nothing is trained, and how far they lie from it.

Yesterday's values on today's checkpoint: what was learned from one policy's rollouts says of
another's what it would have said of its own, as far as the frames look alike.
"""

import dataclasses
import hashlib
import logging
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goalward.config import EvaluationConfig
from goalward.embeddings.cache.fingerprint_notes import FingerprintNotes
from goalward.embeddings.learned_frames import LearnedFrames, read_learned_frames
from goalward.errors import GoalwardError, argument
from goalward.files import resolved, written_whole
from goalward.metrics.familiarity import Familiarity, familiarity, learned_frames
from goalward.progress import progress_bar
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.findings import counted, some_of
from goalward.rollouts.twins import twins_between
from goalward.run_folder import RunFolder
from goalward.runs.folder.stored import open_run
from goalward.runs.folder.whole import check_files
from goalward.runs.from_hub import fetched_run, is_on_hub
from goalward.runs.making.given import SPEED_ALONE, Given, planned_layout
from goalward.runs.making.held_out import OWN_FOLDS_NAME, folds_of_others
from goalward.runs.making.inputs import is_feature_file
from goalward.runs.making.steps import Steps
from goalward.runs.run import Run

_log = logging.getLogger("goalward.runs")
# Options of reading that say something of the episodes learned from, not of how frames are read.
_OF_ITS_EPISODES = ("labels", "filter_key")


def source_run(values: Run | str | Path, asked: Mapping[str, Any]) -> Run:
    """The run whose networks judge; `asked` are options of training, which would change nothing."""
    if not isinstance(values, Run) and is_on_hub(values):
        values = fetched_run(values)
    source = values if isinstance(values, Run) else open_run(values)
    usual = EvaluationConfig()
    for name, value in asked.items():
        # Seeds and folds are None unless told; what they are then follows from other options.
        if value is not None and (name in ("seeds", "folds") or value != getattr(usual, name)):
            raise _changes_nothing(source, name)
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


def given_as(source: Run, given: Given, rollouts: Rollouts | str | Path) -> Given:
    """Frames have to become numbers as they did there; what is told of reading wins.

    How the episodes there ended, and which of them were read, is theirs alone.
    """
    if not isinstance(rollouts, Rollouts) and is_feature_file(rollouts):
        return Given(given.reading, given.unusual)
    as_there = source.settings.embedding
    for name, value in given.unusual.items():
        if name not in SPEED_ALONE and value is not None and value != as_there.get(name):
            raise _changes_nothing(source, name)
    speed = {name: given.embedding[name] for name in SPEED_ALONE if name in given.embedding}
    reading = {n: v for n, v in source.settings.reading.items() if n not in _OF_ITS_EPISODES}
    return Given({**reading, **given.reading}, {**as_there, **speed})


def _changes_nothing(source: Run, name: str) -> GoalwardError:
    return GoalwardError(
        f"{argument('values')}: the networks are those of {source.folder.path}, so "
        f"{argument(name)} would change nothing"
    )


def check_other_folder(source: Run, out: Path) -> None:
    if resolved(out) == resolved(source.folder.path):
        raise GoalwardError(
            f"{out}: is the run whose networks are to judge; give another {argument('out')}"
        )


def check_alike(source: Run, recorded: Rollouts, given: Given) -> None:
    """Before hours of embedding: these frames would become what the networks know."""
    if recorded.features is not None:
        return
    learned = source.settings.data.features
    here = planned_layout(recorded, given)
    if here == learned:
        return
    if not source.settings.embedding and not learned:
        raise GoalwardError(
            f"{argument('values')}: {source.folder.path} learned from features that it was given; "
            "its networks judge such features alone"
        )
    raise GoalwardError(
        f"{argument('values')}: {source.folder.path} learned from {learned}, and these episodes "
        f"would be {here}; {argument('cameras')} and {argument('proprioception')} choose what is "
        "read of them"
    )


def networks_digest(folder: RunFolder) -> str:
    """What the networks of a run are, to the last bit."""
    from goalward.values.stored_fit import stored_files

    digest = hashlib.blake2b(digest_size=16)
    for path in stored_files(folder.networks):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def copy_networks(source: RunFolder, to: RunFolder) -> list[Path]:
    """The networks of another run, and how and from what they were trained: the copy can move."""
    from goalward.values.stored_fit import stored_files

    pairs = [(file, to.networks / file.name) for file in stored_files(source.networks)]
    beside = ((source.training_log, to.training_log), (source.learned_frames, to.learned_frames))
    pairs += [(file, copy) for file, copy in beside if file.is_file()]
    for file, copy in pairs:
        with written_whole(copy) as temporary:
            shutil.copyfile(file, temporary)
    return [copy for _, copy in pairs]


@dataclass(frozen=True)
class LearnedFrom:
    """The episodes that networks learned from, where they can be read, and which of the new ones
    are among them; None where that can be told only when all videos are here."""

    recorded: Rollouts | None
    problem: str = ""
    copies: tuple[str, ...] | None = None


def learned_from(source: Run, rollouts: Rollouts, given: Given, progress: bool) -> LearnedFrom:
    """Before hours of embedding: an error if the networks learned from all of these episodes.

    What episodes are is known by their bytes and their motion; features are not needed for it.
    """
    try:
        recorded = _recorded(source)
    except (GoalwardError, OSError) as error:
        return LearnedFrom(None, str(error))
    notes = FingerprintNotes.of(given.embedding.get("cache"))
    if not (_is_told(rollouts, notes) and _is_told(recorded, notes)):
        return LearnedFrom(recorded)
    copies = _learned_copies(source, rollouts, recorded, progress)
    _check_some_are_new(source, rollouts, copies)
    return LearnedFrom(recorded, copies=copies)


def _is_told(rollouts: Rollouts, notes: FingerprintNotes) -> bool:
    """Whether no video has to be fetched to know what its frames are."""
    clips = [clip for episode in rollouts for clip in episode.cameras.values()]
    notes.take(clips)
    return all(map(notes.knows, clips))


def familiarity_with(
    source: Run,
    known: LearnedFrom,
    rollouts: Rollouts,
    given: Given,
    device: str | None,
    progress: bool,
) -> Familiarity | None:
    """How far episodes lie from those that the networks learned from; None where nobody can say.

    By the sample of frames beside those networks. Runs of before there was one are read again, and
    their embeddings are in the cache as a rule.
    """
    assert rollouts.features is not None
    problem = known.problem
    try:
        learned = _learned_frames(source, known.recorded, given, device, progress)
    except (GoalwardError, OSError) as error:
        problem = str(error)
        learned = _learned_frames(source, None, given, device, progress)
    if problem:
        unknown = "whether some of these episodes are among those learned from"
        if learned is None:
            unknown = (
                "how far these episodes lie from those learned from, and whether some are among "
                "them,"
            )
        _log.warning("%s is not known: %s", unknown, problem)
    if learned is None:
        return None
    sizes = learned.num_features, rollouts.features.shape[1]
    if sizes[0] != sizes[1]:
        raise GoalwardError(
            f"these frames have {sizes[1]} numbers, those that {source.folder.path} learned from "
            f"{sizes[0]}: its networks cannot judge them"
        )
    name = str(source.folder.path)
    found = familiarity(learned, rollouts.features, rollouts.episode_ends, rollouts.ids, name)
    if known.recorded is None:
        return dataclasses.replace(found, copies_known=False)
    copies = known.copies
    if copies is None:
        copies = _learned_copies(source, rollouts, known.recorded, progress)
    # Some may have been left out meanwhile.
    there = set(rollouts.ids)
    copies = tuple(name for name in copies if name in there)
    _check_some_are_new(source, rollouts, copies)
    if copies:
        words = (
            "%s learned from %s of these, so their values are optimistic, and they do not count as "
            "held out: %s"
        )
        _log.warning(words, source.folder.path, counted(copies), some_of(copies))
    return dataclasses.replace(found, copies=copies)


def _recorded(source: Run) -> Rollouts:
    """The episodes learned from; `evaluate` has no option that says where they lie now."""
    if source.rollouts is None and not source.settings.data.path:
        raise GoalwardError(f"{source.folder.path}: its rollouts were given in memory")
    try:
        return source.read_rollouts()
    except GoalwardError as error:
        # Without the hint at such an option.
        raise (error.__cause__ if isinstance(error.__cause__, GoalwardError) else error) from None


def _learned_frames(
    source: Run, recorded: Rollouts | None, given: Given, device: str | None, progress: bool
) -> LearnedFrames | None:
    if source.folder.learned_frames.is_file():
        return read_learned_frames(source.folder.learned_frames)
    if recorded is None:
        return None
    embedded = given.embed(recorded, device, progress)
    assert embedded.features is not None
    return learned_frames(embedded.features, embedded.episode_ends)


def _learned_copies(
    source: Run, rollouts: Rollouts, recorded: Rollouts, progress: bool
) -> tuple[str, ...]:
    """Episodes that the networks learned from: their values know how they ended."""
    (fold,) = folds_of_others(len(rollouts), source.settings.evaluation.folds)
    judges = fold.subset
    with progress_bar("looking for copies", is_shown=progress) as update:
        pairs = twins_between(rollouts, recorded, update)
    return tuple(
        rollouts.ids[twins.first]
        for twins in pairs
        # What these networks held out is as good as new; of own folds some learned from each.
        if judges == OWN_FOLDS_NAME or source.episodes[twins.second].fold != judges
    )


def _check_some_are_new(source: Run, rollouts: Rollouts, copies: Sequence[str]) -> None:
    if len(copies) == len(rollouts):
        raise GoalwardError(
            f"{argument('values')}: {source.folder.path} learned from all of these episodes, and "
            "has its own values of them, by networks that never saw them"
        )

"""Which labels the held-out values contradict, and which recordings are there twice."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import goalward
from goalward.checksums import carried_checksum
from goalward.errors import GoalwardError, argument
from goalward.files import check_folder
from goalward.metrics.auditing.audit import Audit, AuditedEpisode, Finding, FindingKind
from goalward.metrics.auditing.goal_marks import GoalMark, goal_marks
from goalward.metrics.auditing.label_doubts import LabelDoubts, near_steps
from goalward.metrics.trust import trust_words
from goalward.progress import progress_bar
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.run_folder import RunFolder
from goalward.runs.auditing.copies import copies_elsewhere, copies_within
from goalward.runs.auditing.label_findings import label_findings, looked_at
from goalward.runs.folder.codec import read_json
from goalward.runs.folder.stored import holds_results, open_run
from goalward.runs.making.given import name_of
from goalward.runs.making.inputs import read_input
from goalward.runs.notes import read_notes
from goalward.runs.run import Run
from goalward.runs.settings import RunEpisode

# What an audit replaces; the list of labels it never does.
_FILES = ("audit.json", "audit.csv", "audit.md", "sheet.png")


def audit(
    rollouts: Run | Rollouts | str | Path,
    *,
    against: Rollouts | str | Path | None = None,
    data: str | Path | None = None,
    reading: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    progress: bool = True,
) -> Audit:
    """Say which episodes have a label or a copy that somebody should look at.

    Of a run, or its folder: labels that values of networks which never saw the episode contradict,
    goal frames marked too early or too late, and copies among the episodes, those between what was
    learned from and what was held out first. Of rollouts, or their path (`reading` are options of
    `goalward.read`), copies alone. `against` is another data set, whose episodes should not be
    among these. `data` says where the rollouts of a run lie now. `out` is a folder for audit.json,
    audit.csv, labels.csv and a picture; of a run it is `audit` in its folder, unless told.

    >>> moving = np.arange(5.0)[:, None]
    >>> twice = goalward.from_arrays(proprioception=[moving, moving], success=[True, False])
    >>> [(found.episode, str(found.kind)) for found in audit(twice).findings]
    [('0', 'other_label'), ('1', 'other_label')]
    """
    run = _run_of(rollouts)
    if run is not None and reading:
        raise GoalwardError(f"{run.folder.path}: its rollouts are read as it read them")
    folder = _out_of(run, out)
    if folder is not None:
        if out is not None:
            _check_nothing_else_is_there(folder)
        check_folder(folder)
    unchecked: list[str] = []
    is_needed = data is not None or against is not None
    recorded = _recorded(rollouts, run, data, reading or {}, progress, unchecked, is_needed)
    found: list[Finding] = []
    if recorded is not None:
        found += copies_within(recorded, run, progress)
        if against is not None:
            found += copies_elsewhere(recorded, against, progress)
    if run is None:
        assert recorded is not None
        unchecked.append(
            "Labels were not checked, as that takes values: `goalward evaluate` makes them, and "
            "its folder can be audited."
        )
        told = Audit(
            _name(rollouts), _ranked(found), _episodes(recorded), unchecked=tuple(unchecked)
        )
    else:
        told = _with_labels(run, found, unchecked)
    if folder is not None:
        goalward.write_audit(told, folder, recorded, progress=progress)
    return told


def read_audit(run: RunFolder) -> Audit | None:
    """What the last audit of a run found; None if there was none."""
    path = run.audit / "audit.json"
    return read_json(path, Audit, has_checksum=True) if path.is_file() else None


# ---- what is audited ----------------------------------------------------------------------------


def _checksum_of(values: Path) -> str:
    """What a table carries; empty where the run is in memory alone."""
    return (carried_checksum(values) or "") if values.is_file() else ""


def _run_of(rollouts: Run | Rollouts | str | Path) -> Run | None:
    if isinstance(rollouts, Run):
        return rollouts
    if isinstance(rollouts, Rollouts):
        return None
    files = RunFolder(Path(rollouts))
    # A run whose settings are gone is still no data set: opening it says what is missing.
    return open_run(rollouts) if files.config.is_file() or holds_results(files) else None


def _out_of(run: Run | None, out: str | Path | None) -> Path | None:
    if out is not None:
        return Path(out)
    return None if run is None else run.folder.audit


def _check_nothing_else_is_there(folder: Path) -> None:
    """An error if files of these names lie there that no audit wrote; one of its own carries a
    checksum."""
    there = [folder / name for name in _FILES if (folder / name).exists()]
    ours = folder / _FILES[0]
    if there and not (ours.is_file() and ours.stat().st_size and carried_checksum(ours)):
        raise GoalwardError(
            f"{there[0]}: is there and was not written by audit; give another {argument('out')}"
        )


def _recorded(
    rollouts: Run | Rollouts | str | Path,
    run: Run | None,
    data: str | Path | None,
    reading: Mapping[str, Any],
    progress: bool,
    unchecked: list[str],
    is_needed: bool,
) -> Rollouts | None:
    """The rollouts; None where those of a run cannot be read, which still has its values.

    Where somebody asked for what takes them (`is_needed`) that is an error.
    """
    if run is None:
        if isinstance(rollouts, Rollouts):
            return rollouts
        assert not isinstance(rollouts, Run)
        return read_input(rollouts, reading, {}, progress=progress)
    try:
        with progress_bar("reading", is_shown=progress) as update:
            return run.read_rollouts(data, on_progress=update)
    except (GoalwardError, OSError) as error:
        if is_needed:
            raise
        unchecked.append(f"Copies were not looked for, and there is no picture: {error}.")
        return None


def _name(rollouts: Run | Rollouts | str | Path) -> str:
    assert not isinstance(rollouts, Run)
    return name_of(rollouts)


def _episodes(recorded: Iterable[Episode]) -> tuple[AuditedEpisode, ...]:
    return tuple(AuditedEpisode(e.id, e.outcome, e.num_frames, e.goal_frame) for e in recorded)


# ---- labels -------------------------------------------------------------------------------------


def _with_labels(run: Run, found: list[Finding], unchecked: list[str]) -> Audit:
    seen = looked_at(run)
    doubts = seen.doubts
    if doubts.reason:
        unchecked.append(f"Labels were not checked: {doubts.reason}.")
    elif not run.trust.grade.is_usable:
        unchecked.append(
            f"Labels were checked by values that are no help. {trust_words(run.trust)}"
        )
    found += _marked_findings(run, unchecked)
    found += label_findings(run, doubts)
    found += [
        _mark_finding(run, mark, doubts)
        for mark in goal_marks(seen.done, seen.endings, seen.held_out, run.time_limit)
    ]
    order = np.argsort(-np.nan_to_num(doubts.wrong, nan=-1.0), kind="stable").tolist()
    return Audit(
        name=run.policy,
        findings=_ranked(found),
        episodes=tuple(_audited(run.episodes[i], doubts, i) for i in order),
        method=run.method,
        near_steps=near_steps(run.time_limit),
        unchecked=tuple(unchecked),
        of_values=_checksum_of(run.folder.values),
    )


def _marked_findings(run: Run, unchecked: list[str]) -> list[Finding]:
    """Labels that somebody marked as wrong while watching (notes.json beside the run)."""
    notes = read_notes(run.folder.notes)
    unknown = sorted(notes.keys() - {episode.id for episode in run.episodes})
    if unknown:
        unchecked.append(
            f"Notes on episodes that the run does not have were passed over: {', '.join(unknown)} "
            f"({run.folder.notes.name})."
        )
    return [
        Finding(
            episode=episode.id,
            kind=FindingKind.MARKED,
            sure=1.0,
            outcome=episode.outcome,
            frames=(episode.num_frames - 1,),
            goal_frame=episode.goal_frame,
            suggested=Outcome.TIME_OUT if episode.outcome is Outcome.SUCCESS else Outcome.SUCCESS,
        )
        for episode in run.episodes
        if episode.id in notes and notes[episode.id].wrong_label
    ]


def _mark_finding(run: Run, mark: GoalMark, doubts: LabelDoubts) -> Finding:
    return Finding(
        episode=run.episodes[mark.episode].id,
        kind=FindingKind.GOAL_LATE if mark.is_late else FindingKind.GOAL_EARLY,
        sure=min(max(mark.sure, 0.0), 1.0),
        outcome=Outcome.SUCCESS,
        frames=tuple(sorted({mark.suggested, mark.marked})),
        goal_frame=mark.marked,
        looked=float(doubts.looked[mark.episode]),
        suggested=Outcome.SUCCESS,
        suggested_goal_frame=mark.suggested,
    )


def _audited(episode: RunEpisode, doubts: LabelDoubts, position: int) -> AuditedEpisode:
    wrong = float(doubts.wrong[position])
    return AuditedEpisode(
        episode.id,
        episode.outcome,
        episode.num_frames,
        episode.goal_frame,
        float(doubts.looked[position]) if episode.held_out else None,
        None if math.isnan(wrong) else wrong,
    )


def _ranked(found: list[Finding]) -> tuple[Finding, ...]:
    """The surest first; what contradicts a label before what is merely there twice."""
    kinds = list(FindingKind)
    first = (FindingKind.MARKED, FindingKind.OTHER_LABEL, FindingKind.LEAKED)
    return tuple(sorted(found, key=lambda f: (-f.sure, f.kind not in first, kinds.index(f.kind))))

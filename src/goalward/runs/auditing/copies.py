"""Copies among the episodes of a run or a data set, as an audit tells them."""

from pathlib import Path

from goalward.errors import RolloutError, argument
from goalward.metrics.auditing.audit import Finding, FindingKind
from goalward.progress import progress_bar
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode
from goalward.rollouts.twins import Twins, twins_between, twins_within
from goalward.runs.making.given import name_of
from goalward.runs.making.held_out import OWN_FOLDS_NAME
from goalward.runs.making.inputs import read_input
from goalward.runs.run import Run
from goalward.runs.settings import RunEpisode


def copies_within(recorded: Rollouts, run: Run | None, progress: bool) -> list[Finding]:
    """Those of one data set: with another label, learned from while held out, or just twice."""
    with progress_bar("looking for copies", is_shown=progress) as update:
        pairs = twins_within(recorded, update)
    found: list[Finding] = []
    for twins in pairs:
        first, second = recorded[twins.first], recorded[twins.second]
        if first.outcome is not second.outcome:
            found += [_copy(FindingKind.OTHER_LABEL, *pair, twins) for pair in _both(first, second)]
            continue
        known = None if run is None else (run.episodes[twins.first], run.episodes[twins.second])
        if known is None or not _leaks(*known):
            found.append(_copy(FindingKind.TWICE, second, first, twins))
        else:
            pairs_known = zip(_both(first, second), known, strict=True)
            judged = [pair for pair, episode in pairs_known if episode.held_out]
            found += [_copy(FindingKind.LEAKED, *pair, twins) for pair in judged]
    return found


def _both(first: Episode, second: Episode) -> tuple[tuple[Episode, Episode], ...]:
    return (first, second), (second, first)


def _leaks(first: RunEpisode, second: RunEpisode) -> bool:
    """Whether a network that judges one of them learned from the other."""
    if first.fold == second.fold:
        # On folds of its own a method judges both, mostly by networks that saw the other.
        return first.fold == OWN_FOLDS_NAME
    return True


def copies_elsewhere(
    recorded: Rollouts, against: Rollouts | str | Path, progress: bool
) -> list[Finding]:
    """Episodes that another data set holds too."""
    if isinstance(against, Rollouts):
        others = against
    else:
        try:
            others = read_input(against, {}, {}, progress=progress)
        except RolloutError as error:
            raise RolloutError(f"{argument('against')}: {error}") from error
    with progress_bar("looking for copies", is_shown=progress) as update:
        pairs = twins_between(recorded, others, update)
    where = name_of(against)
    return [
        _copy(
            FindingKind.OTHER_LABEL
            if recorded[t.first].outcome is not others[t.second].outcome
            else FindingKind.LEAKED,
            recorded[t.first],
            others[t.second],
            t,
            where,
        )
        for t in pairs
    ]


def _copy(
    kind: FindingKind, episode: Episode, twin: Episode, twins: Twins, elsewhere: str = ""
) -> Finding:
    return Finding(
        episode=episode.id,
        kind=kind,
        sure=1.0,
        outcome=episode.outcome,
        frames=(0, episode.num_frames - 1),
        goal_frame=episode.goal_frame,
        twin=twin.id,
        share=twins.share,
        elsewhere=elsewhere,
    )

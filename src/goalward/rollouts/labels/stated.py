"""Labels that the user states: one for all, a file, a dict or a list."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from goalward.errors import RolloutError, argument
from goalward.rollouts.episode import Outcome
from goalward.rollouts.findings import Findings, counted, some_of
from goalward.rollouts.labels.evidence import Evidence, Unlabelled, evidence_from_outcome
from goalward.rollouts.labels.files import (
    by_spelling,
    labels_by_episode,
    labels_of_dict,
    read_label_file,
)
from goalward.stores.fetching import file_here

# Success as true or false, or an outcome in words.
OneLabel = bool | np.bool_ | str
Labels = str | Path | Sequence[OneLabel] | npt.NDArray[Any] | Mapping[Any, OneLabel]


def check_labels(labels: object) -> None:
    """An error if these are no labels at all, before anything is read."""
    if not isinstance(labels, str | Path | Mapping | list | tuple | np.ndarray):
        raise RolloutError(
            f"{argument('labels')} must be a csv or json file, an outcome, a list or a dict, "
            f"got a {type(labels).__name__}"
        )


def stated_labels(
    episodes: Sequence[Unlabelled], labels: Labels, findings: Findings
) -> tuple[dict[str, Evidence], str]:
    """What is stated about each episode, by its id, and what to call the source."""
    if isinstance(labels, Mapping):
        return _by_name(episodes, labels, findings), "the given dict"
    if not isinstance(labels, str | Path):
        return _in_order(episodes, list(labels), findings), "the given list"
    if str(labels) in set(Outcome):
        evidence = _evidence(labels, argument("labels"))
        everywhere = {episode.episode_id: evidence for episode in episodes}
        return everywhere, f"{labels} for every episode, as stated"
    return _by_name(episodes, file_here(labels), findings), f"label file {Path(labels).name}"


def _by_name(
    episodes: Sequence[Unlabelled], source: Path | Mapping[Any, OneLabel], findings: Findings
) -> dict[str, Evidence]:
    """The labels of a file or a dict, which name their episodes."""
    find = by_spelling({n: e.episode_id for e in episodes for n in (e.episode_id, *e.other_names)})
    if isinstance(source, Path):
        where, labels = str(source), read_label_file(source, find)
    else:
        where, labels = "labels", labels_of_dict(source, find)
    chosen = labels_by_episode(labels, where)
    unknown = [label.name for label in labels if label.episode_id is None]
    if not chosen:
        raise RolloutError(
            f"{where}: fits none of the {len(episodes)} episodes: it names {some_of(unknown)}; "
            f"they are called {some_of([e.episode_id for e in episodes])}"
        )
    if unknown:
        findings.notice(
            f"{where}: names {counted(unknown)} not in the data set: {some_of(unknown)}"
        )
    return chosen


def _in_order(
    episodes: Sequence[Unlabelled], labels: Sequence[object], findings: Findings
) -> dict[str, Evidence]:
    """The labels of a list: as many as there are episodes, or nobody knows which is whose."""
    if len(labels) != len(episodes):
        left_out = [left.episode_id for left in findings.left_out]
        why = f" ({counted(left_out)} left out: {some_of(left_out)})" if left_out else ""
        raise RolloutError(
            f"{argument('labels')} lists {counted(labels, 'outcome')} for {counted(episodes)}{why};"
            f" a dict names them: {{{episodes[0].episode_id!r}: True, ...}}"
        )
    return {
        episode.episode_id: _evidence(label, f"labels, episode {episode.episode_id}")
        for episode, label in zip(episodes, labels, strict=True)
    }


def _evidence(label: object, where: str) -> Evidence:
    evidence = evidence_from_outcome(label)
    if evidence is None:
        raise RolloutError(f"{where}: {label!r} is neither true or false nor {', '.join(Outcome)}")
    return evidence

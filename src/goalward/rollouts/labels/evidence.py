"""What one source says about how an episode ended."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from goalward.rollouts.episode import Outcome

_SUCCESS_WORDS = frozenset({"success", "succeeded", "successful", "true", "yes", "y", "1", "1.0"})
_TIME_OUT_WORDS = frozenset({"time_out", "timeout", "timed_out", "truncated"})
_FAILURE_WORDS = frozenset({"failure", "failed", "fail", "terminated"})
_NO_SUCCESS_WORDS = frozenset({"false", "no", "n", "0", "0.0"}) | _FAILURE_WORDS | _TIME_OUT_WORDS


@dataclass(frozen=True)
class Evidence:
    """What one source says about one episode.

    `outcome` is set where the source tells a time-out from a failure; `goal_frame` where it
    says when the goal was reached.
    """

    success: bool
    goal_frame: int | None = None
    outcome: Outcome | None = None


@dataclass(frozen=True)
class Unlabelled:
    """An episode that waits for its outcome, with what each source says about it."""

    episode_id: str
    num_frames: int
    evidence: Mapping[str, Evidence]
    terminated: bool = False
    other_names: tuple[str, ...] = ()


def evidence_from_frames(values: npt.ArrayLike) -> Evidence | None:
    """A column with one entry per frame: success if any is true, at the first that is.

    True on every frame of the episode says that the episode succeeded but not when: the goal
    frame stays open. Returns None if the numbers are not just 0 and 1 (a dense reward, say).

    >>> evidence_from_frames([False, True, True])
    Evidence(success=True, goal_frame=1, outcome=None)
    >>> evidence_from_frames([1.0, 1.0])
    Evidence(success=True, goal_frame=None, outcome=None)
    >>> evidence_from_frames([0.2, 0.7]) is None
    True
    """
    column = np.asarray(values)
    if column.dtype.kind in "OUS":
        words = [evidence_from_value(value) for value in column.tolist()]
        if any(word is None for word in words):
            return None
        column = np.array([word is not None and word.success for word in words])
    if column.ndim != 1 or len(column) == 0 or column.dtype.kind not in "biuf":
        return None
    if column.dtype.kind != "b" and not np.isin(column, (0, 1)).all():
        return None
    true_frames = np.flatnonzero(column)
    if len(true_frames) == 0:
        return Evidence(False)
    return Evidence(True, None if len(true_frames) == len(column) else int(true_frames[0]))


def evidence_from_value(value: object) -> Evidence | None:
    """One entry per episode: a boolean, 0 or 1, or a word. None if it says nothing.

    A two-valued field cannot tell a time-out from a failure, so "failure" there only means
    that the goal was not reached.

    >>> evidence_from_value("failure")
    Evidence(success=False, goal_frame=None, outcome=None)
    """
    word = _as_word(value)
    if word in _SUCCESS_WORDS:
        return Evidence(True)
    return Evidence(False) if word in _NO_SUCCESS_WORDS else None


def evidence_from_outcome(value: object) -> Evidence | None:
    """One entry per episode of a source that tells time-outs from failures.

    >>> evidence_from_outcome("failure").outcome
    <Outcome.FAILURE: 'failure'>
    """
    word = _as_word(value)
    if word in _TIME_OUT_WORDS:
        return Evidence(False, outcome=Outcome.TIME_OUT)
    if word in _FAILURE_WORDS:
        return Evidence(False, outcome=Outcome.FAILURE)
    return evidence_from_value(value)


def _as_word(value: object) -> str:
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if isinstance(value, np.generic):
        value = cast(object, value.item())
    return re.sub(r"[\s-]+", "_", str(value).strip().lower())

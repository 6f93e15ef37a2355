"""Labels that the held-out chances of a run contradict: for the audit, and for what is next."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goalward.metrics.auditing.audit import Finding, FindingKind
from goalward.metrics.auditing.label_doubts import (
    PRIOR_WRONG,
    LabelDoubts,
    label_doubts,
    looks_done,
    near_steps,
)
from goalward.rollouts.endings import BoolArray, Endings, FloatArray
from goalward.rollouts.episode import Outcome

if TYPE_CHECKING:
    from goalward.runs.run import Run

# A label is worth a look where it is twice as likely to be wrong as any.
WORTH_A_LOOK = 2 * PRIOR_WRONG


@dataclass(frozen=True, eq=False)
class LookedAt:
    """How done every frame looks, `done` (frames,), how episodes ended, and what that says."""

    done: FloatArray
    endings: Endings
    held_out: BoolArray
    doubts: LabelDoubts


def looked_at(run: "Run") -> LookedAt:
    """The labels of a run against the chances of networks that never saw the episode."""
    endings = _endings(run)
    held_out = np.array([episode.held_out for episode in run.episodes])
    near = near_steps(run.time_limit)
    done = looks_done(run.chances.within_steps(run.method, near), endings)
    return LookedAt(done, endings, held_out, label_doubts(done, endings, held_out))


def label_findings(run: "Run", doubts: LabelDoubts, least: float = WORTH_A_LOOK) -> list[Finding]:
    """The labels that are at least so likely to be wrong, in the order of the episodes."""
    found: list[Finding] = []
    for i in np.flatnonzero(np.nan_to_num(doubts.wrong) >= least).tolist():
        episode, best = run.episodes[i], int(doubts.frame[i])
        is_success = episode.outcome is Outcome.SUCCESS
        last = episode.num_frames - 1 if episode.goal_frame is None else episode.goal_frame
        found.append(
            Finding(
                episode=episode.id,
                kind=FindingKind.SUCCESS_NEVER_NEAR if is_success else FindingKind.LOOKED_DONE,
                sure=float(doubts.wrong[i]),
                outcome=episode.outcome,
                frames=tuple(sorted({best, last})),
                goal_frame=episode.goal_frame,
                looked=float(doubts.looked[i]),
                suggested=Outcome.TIME_OUT if is_success else Outcome.SUCCESS,
                suggested_goal_frame=None if is_success else best,
            )
        )
    return found


def _endings(run: "Run") -> Endings:
    goals = [-1 if e.goal_frame is None else e.goal_frame for e in run.episodes]
    failed = [e.outcome is Outcome.FAILURE for e in run.episodes]
    return Endings(run.values.episode_ends, np.array(goals), np.array(failed))

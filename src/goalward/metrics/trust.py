"""How far the values of a run can be trusted: one graded statement that every consumer reads."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from goalward.metrics.doubts import CHANCE, Doubt, DoubtKind
from goalward.metrics.evaluation_scores import EvaluationScores
from goalward.metrics.score import Interval, Score
from goalward.rollouts.endings import FloatArray

# The AUROC from which values tell successes apart well, by the lower end of its interval.
WELL = 0.65


class Grade(StrEnum):
    """From best to worst. It goes by how sure the skill on held-out episodes is:

    `GOOD`: the interval of the AUROC lies above `WELL`; `FAIR`: above a coin's 0.5; `WEAK`: above
    a coin's in the mean, but the interval reaches it; `NONE`: no better than a coin; `UNKNOWN`:
    cannot be checked; `CONTRADICTED`: the truth of some frames says otherwise.
    """

    GOOD = "good"
    FAIR = "fair"
    WEAK = "weak"
    NONE = "none"
    UNKNOWN = "unknown"
    CONTRADICTED = "contradicted"

    @property
    def is_usable(self) -> bool:
        """Whether other tools should be fed with such values without being asked to."""
        return self in (Grade.GOOD, Grade.FAIR, Grade.WEAK)


@dataclass(frozen=True)
class Trust:
    """The grade of the method that speaks for the policy, and what it rests on.

    `skill` is the AUROC of its frames on the held-out episodes, `seed_distance` how far apart its
    seeds are on the scale of values from -1 to 1 (root mean square; None with one seed).
    """

    method: str
    """The one that speaks for the policy."""
    grade: Grade
    """How far to rely on it."""
    num_held_out: int
    """Episodes that the skill was measured on."""
    skill: Score
    skill_interval: Interval
    """Of the skill, over seeds and episodes."""
    seed_distance: float | None = None


def trust_of(
    scores: EvaluationScores,
    doubts: tuple[Doubt, ...],
    values_by_seed: FloatArray | None = None,
) -> Trust:
    """Grade the first method; `values_by_seed` (seeds, frames) are its values from -1 to 1."""
    method = scores.methods[0]
    row = scores.cards[method]["frame_auroc"]
    skill, interval = row.over_seeds.mean, row.interval
    distance = None
    if values_by_seed is not None and len(values_by_seed) > 1:
        distance = float(np.sqrt(values_by_seed.var(axis=0, ddof=1).mean()))
    grade = _grade(skill, interval, {doubt.kind for doubt in doubts})
    return Trust(method, grade, scores.num_held_out, skill, interval, distance)


def _grade(skill: Score, interval: Interval, doubted: set[DoubtKind]) -> Grade:
    if skill.value is None or interval.low is None:
        return Grade.UNKNOWN
    if DoubtKind.CONTRADICTED in doubted:
        return Grade.CONTRADICTED
    if interval.low > WELL:
        return Grade.GOOD
    if interval.low > CHANCE:
        return Grade.FAIR
    return Grade.WEAK if skill.value > CHANCE else Grade.NONE


# ---- in words -------------------------------------------------------------------------------

_GRADES = {
    Grade.GOOD: "The values tell successes from other episodes well",
    Grade.FAIR: "The values tell successes from other episodes, but take them with care",
    Grade.WEAK: "The values are weak: take them as a hint, not as an answer",
    Grade.NONE: "Do not rely on the values",
    Grade.UNKNOWN: "Whether the values can be relied on is not known",
    Grade.CONTRADICTED: "Do not rely on the values: the truth of some frames contradicts them",
}


def trust_words(trust: Trust) -> str:
    """The grade and what it rests on, in one sentence: the same wherever such a value is used."""
    return f"{_GRADES[trust.grade]} ({_why(trust)})."


def caution_words(trust: Trust) -> str:
    """The same sentence wherever values are shown that need a warning; empty where none is due."""
    return "" if trust.grade in (Grade.GOOD, Grade.FAIR) else trust_words(trust)


def _why(trust: Trust) -> str:
    held_out = f"{trust.num_held_out} episodes that the networks never saw"
    if trust.skill.value is None:
        return f"no score on {held_out}: {trust.skill.reason}"
    if trust.skill_interval.low is None or trust.skill_interval.high is None:
        auroc = f"an AUROC of {trust.skill.value:.2f}"
        return f"how sure {auroc} is cannot be said of {held_out}: {trust.skill_interval.reason}"
    low, high = trust.skill_interval.low, trust.skill_interval.high
    told = (
        f"on {held_out} they tell frames of successes from others with AUROC "
        f"{trust.skill.value:.2f}, {low:.2f} to {high:.2f}; a coin has {CHANCE:.2f}"
    )
    if trust.seed_distance is not None:
        told += f"; seeds are {trust.seed_distance:.2f} apart on a scale from -1 to 1"
    return told

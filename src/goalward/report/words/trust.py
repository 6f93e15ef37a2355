"""Whether to rely on the values, in a word and in a sentence for who has not read the paper."""

from dataclasses import dataclass

from goalward.metrics.doubts import CHANCE
from goalward.metrics.trust import Grade, Trust
from goalward.metrics.truth.card import TruthCard
from goalward.metrics.truth.known_frames import ALL
from goalward.rollouts.findings import counted

TRUST_TITLE = "Can the values be relied on?"
_WORDS = {
    # What is checked on held-out episodes is the order of moments, not the size of one value.
    Grade.GOOD: "Yes, to compare moments",
    Grade.FAIR: "Yes, to compare moments, with care",
    Grade.WEAK: "As a hint only",
    Grade.NONE: "No",
    Grade.UNKNOWN: "Not known",
    Grade.CONTRADICTED: "No",
}


@dataclass(frozen=True)
class TrustWords:
    """The answer in a word, and why in a sentence."""

    word: str
    why: str


def trust_answer(trust: Trust, truth: TruthCard | None) -> TrustWords:
    """For the first screen: what `trust_words` says in full, in plain words.

    How far off a single value is, nobody knows without a simulator; where one measured it, that
    belongs to the answer.

    >>> from goalward.metrics.score import Interval, Score
    >>> good = Trust("td", Grade.GOOD, 48, Score(0.75), Interval(0.69, 0.80))
    >>> trust_answer(good, None).word
    'Yes, to compare moments'
    >>> trust_answer(good, None).why[-86:]
    'in 75 of 100 cases (69 to 80); guessing gives 50. A single value can still be far off.'
    """
    error = None if truth is None else truth.methods[trust.method].by_group[ALL].value.absolute
    told = [_why(trust)]
    if error is not None and error.mean.value is not None:
        told.append(
            f"A single value is off by {error.mean.value:.2f} on average, on a scale from -1 to 1, "
            "as a simulator measured."
        )
    elif trust.grade in (Grade.GOOD, Grade.FAIR):
        told.append("A single value can still be far off.")
    return TrustWords(_WORDS[trust.grade], " ".join(told))


def _why(trust: Trust) -> str:
    apart = f"On {counted(range(trust.num_held_out))} that the networks never saw"
    skill, low, high = trust.skill.value, trust.skill_interval.low, trust.skill_interval.high
    if skill is None:
        return f"{apart} this cannot be checked: {trust.skill.reason}."
    if low is None or high is None:
        return f"{apart} this cannot be checked: {trust.skill_interval.reason}."
    start = ""
    if trust.grade is Grade.CONTRADICTED:
        start = "A simulator that knows the truth of some moments contradicts them. "
    return (
        f"{start}{apart}, a moment of a success looks nearer to the goal than one of another "
        f"episode in {100 * skill:.0f} of 100 cases ({100 * low:.0f} to {100 * high:.0f}); "
        f"guessing gives {100 * CHANCE:.0f}."
    )

"""How far the chances of networks that never saw an episode contradict its label."""

# pyright: standard
# (scipy ships no type stubs)

from dataclasses import dataclass

import numpy as np
from scipy import optimize, special
from scipy.ndimage import median_filter

from goalward.rollouts.endings import BoolArray, Endings, FloatArray, IndexArray

# An episode looks done where success is likely within so many steps, as a share of the longest.
# Chosen on two data sets (docs/auditing.md): nearer, goals are not told from frames before them;
# at 0.2, time-outs that came near are taken for goals.
NEAR = 0.05
# One frame is noise.
_FRAMES = 3
# What is believed of any label before its episode is looked at.
PRIOR_WRONG = 0.05
_NUM_ROUNDS = 5


def near_steps(ceiling: int) -> int:
    """The steps from a goal that count as done, for episodes of at most so many steps.

    >>> near_steps(250), near_steps(8)
    (12, 1)
    """
    return max(int(NEAR * ceiling), 1)


def looks_done(chance_near: FloatArray, endings: Endings) -> FloatArray:
    """The chance to be done at every frame, smoothed within each episode by a running median.

    >>> endings = Endings(np.array([6]), np.array([-1]))
    >>> looks_done(np.array([0.0, 0.0, 1.0, 0.0, 0.5, 0.5]), endings)
    array([0. , 0. , 0. , 0.5, 0.5, 0.5])
    """
    chance = endings.per_frame(chance_near)
    parts = [
        median_filter(chance[start:end], size=_FRAMES, mode="nearest")
        for start, end in zip(endings.starts, endings.episode_ends, strict=True)
    ]
    return np.concatenate(parts) if parts else chance


@dataclass(frozen=True, eq=False)
class LabelDoubts:
    """Per episode: how done it looked at best and where, and how likely its label is wrong.

    `looked` and `frame` (episodes,) are the largest chance to be done and its frame; `wrong`
    (episodes,) is the chance that the label is wrong, NaN where nothing can be said. `reason`
    says why of none of them anything can be.
    """

    looked: FloatArray
    frame: IndexArray
    wrong: FloatArray
    reason: str = ""


def label_doubts(done: FloatArray, endings: Endings, held_out: BoolArray) -> LabelDoubts:
    """How likely each label is wrong, from how done (`looks_done`) each episode looked at best.

    With x that number, a logistic curve through the labels of all held-out episodes (Platt 1999,
    with his targets for small samples) gives odds(success | x). Divided by the odds of a success
    anywhere they are a ratio of likelihoods, and

        P(wrong | label, x) = prior LR / (prior LR + 1 - prior),    LR = p(x | other) / p(x | label)

    so that values which tell nothing apart leave every label as it was believed: wrong with a
    chance of `PRIOR_WRONG`. The curve is drawn again a few times through labels that count as far
    as they are believed, as wrong ones flatten it. It never falls: nothing is taken for its
    opposite.
    """
    looked, frame = _at_best(done, endings)
    labels = endings.success[held_out]
    reason = _why_not(labels)
    if reason:
        return LabelDoubts(looked, frame, np.full(endings.num_episodes, np.nan), reason)
    wrong = np.zeros(len(labels))
    for _ in range(_NUM_ROUNDS):
        wrong = _wrong(looked[held_out], labels, believed=np.where(labels, 1 - wrong, wrong))
    everywhere = np.full(endings.num_episodes, np.nan)
    everywhere[held_out] = wrong
    return LabelDoubts(looked, frame, everywhere)


def _why_not(labels: BoolArray) -> str:
    if len(labels) == 0:
        return "no episode was held out: values of episodes that were learned from know their label"
    if labels.all() or not labels.any():
        what = "succeeded" if labels.all() else "did not succeed"
        return f"every episode that was held out {what}: there is nothing to compare with"
    return ""


def _at_best(done: FloatArray, endings: Endings) -> tuple[FloatArray, IndexArray]:
    spans = list(zip(endings.starts, endings.episode_ends, strict=True))
    frames = [int(done[start:end].argmax()) for start, end in spans]
    best = [float(done[start + frame]) for (start, _), frame in zip(spans, frames, strict=True)]
    return np.array(best), np.array(frames, dtype=np.int64)


def _wrong(looked: FloatArray, labels: BoolArray, believed: FloatArray) -> FloatArray:
    """How likely each label is wrong, by a curve through what is `believed` of the episodes."""
    num_success, num_other = int(labels.sum()), int((~labels).sum())
    # Platt's targets: one more episode of each kind, so that no finite sample is ever certain.
    target = np.clip(believed, 1 / (num_other + 2), (num_success + 1) / (num_success + 2))
    steepness, offset = _logistic(looked, target)
    base = special.logit((target.sum() + 1) / (len(target) + 2))
    ratio = steepness * looked + offset - base
    return special.expit(np.where(labels, -ratio, ratio) + special.logit(PRIOR_WRONG))


def _logistic(x: FloatArray, target: FloatArray) -> tuple[float, float]:
    """Steepness, never below 0, and offset of the curve nearest to the targets."""

    def loss(numbers: FloatArray) -> tuple[float, FloatArray]:
        score = numbers[0] * x + numbers[1]
        error = special.expit(score) - target
        value = np.logaddexp(0.0, score) - target * score
        return float(value.mean()), np.array([(error * x).mean(), error.mean()])

    start = np.array([0.5, 0.0])
    found = optimize.minimize(loss, start, jac=True, bounds=[(0.0, None), (None, None)])
    return float(found.x[0]), float(found.x[1])

"""Another program's score as a method of ours: on the scale of values, judged like any other."""

# pyright: standard
# (scipy ships no type stubs)

import logging
from dataclasses import replace

import numpy as np
from scipy.optimize import isotonic_regression

from goalward.rollouts.endings import Endings, FloatArray, IndexArray
from goalward.seeds import generator
from goalward.targets.liveness import steps_to_goal
from goalward.values.chances import ChanceTable
from goalward.values.made_chances import chances_of_values, with_members
from goalward.values.score_file import GivenScores
from goalward.values.table import ValueTable

_log = logging.getLogger("goalward.values")
_NUM_FOLDS = 5
# A score falls towards the goal where it does so, with such a correlation, in that many successes.
_FALLS, _IN_SO_MANY = 0.5, 0.75


def calibrated_steps(score: FloatArray, endings: Endings, discount: float) -> FloatArray:
    """Steps to the goal that a score stands for, (frames,): as others with such a score fared.

    A score need only rank frames: what it is worth is learned. The rising curve nearest to
    discount^steps of recorded successes, 0 in episodes without one (isotonic regression), is drawn
    through the episodes of four fifths and read off for the others, so that no episode says what
    its own scores mean. One that falls towards the goal becomes a constant.
    """
    worth = np.where(endings.at_goal, 1.0, 0.0)
    ahead = endings.steps >= 0
    worth[ahead] = discount ** endings.steps[ahead].astype(np.float64)
    found = np.empty(len(score))
    fold_of = _folds(endings)[endings.episode_of]
    for fold in range(int(fold_of.max()) + 1):
        judged = fold_of == fold
        learned = ~judged if (~judged).any() else judged
        found[judged] = _curve(score[learned], worth[learned], score[judged])
    return np.asarray(steps_to_goal(1 - 2 * np.clip(found, 0.0, 1.0), discount))


def falls_towards_goal(score: FloatArray, endings: Endings) -> bool:
    """Whether it falls as the goal comes nearer in most recorded successes: its sign may be wrong.

    By its correlation with the steps to go, episode by episode.
    """
    ahead = endings.steps >= 0
    of = endings.episode_of[ahead]
    num = np.bincount(of, minlength=endings.num_episodes)

    def mean(numbers: FloatArray) -> FloatArray:
        return np.bincount(of, weights=numbers, minlength=len(num)) / np.maximum(num, 1)

    steps, here = endings.steps[ahead].astype(np.float64), score[ahead]
    steps, here = steps - mean(steps)[of], here - mean(here)[of]
    spread = np.sqrt(mean(steps**2) * mean(here**2))[num > 1]
    together = mean(steps * here)[num > 1]
    if len(together) == 0:
        return False
    return float((together > _FALLS * spread).mean()) >= _IN_SO_MANY


def _curve(score: FloatArray, worth: FloatArray, asked: FloatArray) -> FloatArray:
    levels, place = np.unique(score, return_inverse=True)
    counts = np.bincount(place)
    means = np.bincount(place, weights=worth) / counts
    fitted = isotonic_regression(means, weights=counts.astype(np.float64)).x
    return np.interp(asked, levels, fitted)


def _folds(endings: Endings) -> IndexArray:
    """The fold of each episode, successes and others spread evenly."""
    fold_of = np.empty(endings.num_episodes, dtype=np.int64)
    draws = generator(0, "folds of scores")
    position = 0
    for kind in (True, False):
        members = draws.permutation(np.flatnonzero(endings.success == kind))
        fold_of[members] = (position + np.arange(len(members))) % _NUM_FOLDS
        position += len(members)
    # Of few episodes some folds are empty.
    return np.unique(fold_of, return_inverse=True)[1]


def with_scores(
    values: ValueTable, given: tuple[GivenScores, ...], endings: Endings, discount: float
) -> ValueTable:
    """The table with the scores as further methods; each says the same in every seed."""
    if not given:
        return values
    for one in given:
        if falls_towards_goal(one.score, endings):
            _log.warning(
                "scores %s fall as the goal comes nearer: a larger score has to mean nearer, so "
                "that they say hardly more than a constant here; turn their sign",
                one.name,
            )
    shape = (len(given), len(values.seeds), values.num_frames)
    raw = np.stack([one.score for one in given])[:, None]
    steps = np.stack([calibrated_steps(one.score, endings, discount) for one in given])[:, None]
    return replace(
        values,
        methods=(*values.methods, *(one.name for one in given)),
        raw_value=np.concatenate([values.raw_value, _all_seeds(raw, shape)]),
        steps_to_goal=np.concatenate([values.steps_to_goal, _all_seeds(steps, shape)]),
    )


def _all_seeds(numbers: FloatArray, shape: tuple[int, int, int]) -> np.ndarray:
    return np.broadcast_to(numbers, shape).astype(np.float32)


def with_scores_chances(chances: ChanceTable, values: ValueTable) -> ChanceTable:
    """The chances with those of methods that only `values` has: what a value alone says."""
    new = [method for method in values.methods if method not in chances.methods]
    if not new:
        return chances
    rows = [values.methods.index(method) for method in new]
    part = replace(
        values,
        methods=tuple(new),
        raw_value=values.raw_value[rows],
        steps_to_goal=values.steps_to_goal[rows],
        value=None,
        hindsight_value=None,
    )
    theirs = chances_of_values(part, chances.num_steps)
    ends = with_members(theirs.at_end, chances.at_end.shape[2])
    return replace(
        chances,
        methods=(*chances.methods, *new),
        within=np.concatenate([chances.within, theirs.within]),
        at_end=np.concatenate([chances.at_end, ends]),
        moved_by=(*chances.moved_by, *(0.0 for _ in new)) if chances.moved_by else (),
    )

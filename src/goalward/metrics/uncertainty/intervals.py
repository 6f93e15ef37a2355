"""How sure a score is: over seeds, over episodes, over both.

Over seeds: mean and t interval. Over episodes: leave each episode out in turn (jackknife; frames
are never the unit), and a t interval on the scale where the score has no bounds (log-odds for
shares). For shares and AUROC the interval is the span of two: of the episodes as they are, and
with imagined ones added (`FrameMean.imagined`). Bootstrap intervals were tried and miss the truth
too often near 0 and 1, where these scores live; docs/metrics.md has the measured coverage.
"""

# pyright: standard
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from goalward.metrics.score import Interval, Score, no_interval
from goalward.metrics.uncertainty.weighing import BOUNDS, Scale, Weighable
from goalward.rollouts.endings import FloatArray

ONE_EPISODE = "an interval over episodes needs at least two episodes of each kind"


@dataclass(frozen=True)
class ZeroTest:
    """Could a score be zero with other seeds and episodes? None and the reason if nobody knows."""

    statistic: float | None
    p_value: float | None
    reason: str = ""


@dataclass(frozen=True)
class OverSeeds:
    """A score over training seeds: mean, standard deviation (n - 1), t interval of the mean."""

    mean: Score
    """Over seeds."""
    standard_deviation: Score
    """Over seeds, by n - 1."""
    interval: Interval
    """Of the mean, by Student's t."""
    num_seeds: int
    """Seeds that have the score."""


def over_seeds(scores: Sequence[Score], *, scale: Scale = "line", level: float = 0.95) -> OverSeeds:
    """Mean and spread over seeds, and where the mean over all possible seeds lies.

    The interval speaks of other trainings on these training episodes, scored on these test
    episodes. It is mean +- t * sd / sqrt(n): with five seeds a percentile bootstrap of the same
    numbers covers 83 % instead of 95 %. `scale` only cuts the interval to what the score can be.
    A score that is not defined for one of the seeds has no mean: leaving that seed out would
    flatter.

    >>> summary = over_seeds([Score(0.90), Score(0.92), Score(0.94)])
    >>> print(summary.mean, summary.standard_deviation, summary.interval)
    0.920 0.020 0.870 to 0.970
    """
    num_seeds = len(scores)
    values = np.array([score.value for score in scores if score.value is not None])
    reason = "no seeds" if num_seeds == 0 else ""
    if len(values) < num_seeds:
        first = next(score.reason for score in scores if score.value is None)
        missing = num_seeds - len(values)
        reason = first if missing == num_seeds else f"in {missing} of {num_seeds} seeds: {first}"
    elif not np.isfinite(values).all():
        reason = "infinite for at least one seed"
    if reason:
        none = Score(None, reason)
        return OverSeeds(none, none, no_interval(reason, level), num_seeds)
    mean = float(values.mean())
    if num_seeds == 1:
        reason = "one seed"
        return OverSeeds(Score(mean), Score(None, reason), no_interval(reason, level), 1)
    deviation = float(values.std(ddof=1))
    reach = float(_t_quantile(np.float64(num_seeds - 1), level)) * deviation / num_seeds**0.5
    least, most = BOUNDS[scale]
    interval = Interval(max(mean - reach, least), min(mean + reach, most), level)
    return OverSeeds(Score(mean), Score(deviation), interval, num_seeds)


def over_episodes(score: Weighable, level: float = 0.95) -> Interval:
    """Where the mean over these runs would lie with all possible episodes.

    >>> from goalward.metrics.uncertainty.weighing import FrameMean
    >>> hits, frames = np.array([[9.0, 8, 10, 3, 10, 7]]), np.full(6, 10.0)
    >>> print(over_episodes(FrameMean(hits, frames, scale="share")))
    0.414 to 0.949
    """
    return _interval(score, with_seeds=False, level=level)


def over_seeds_and_episodes(score: Weighable, level: float = 0.95) -> Interval:
    """Where the score would lie with all possible seeds and all possible episodes.

    Seeds and episodes are crossed: every run is scored on every episode. The variance is that
    over seeds plus that over episodes less their interaction, which both contain; the degrees of
    freedom are Satterthwaite's. With one run this is `over_episodes`, and says nothing of seeds.
    """
    return _interval(score, with_seeds=True, level=level)


def standard_error(score: Weighable) -> Score:
    """The standard error of the mean over runs, clustered by episode (jackknife)."""
    reason = no_interval_because(score)
    if reason:
        return Score(None, reason)
    return Score(float(_variance(score, with_seeds=False)[1]) ** 0.5)


def zero_test(score: Weighable) -> ZeroTest:
    """A t-test that the score over all possible seeds and episodes is zero, two-sided.

    For differences: its p value is at most 0.05 where 0 lies outside the 95 % interval of
    `over_seeds_and_episodes`.

    >>> from goalward.metrics.uncertainty.weighing import FrameMean
    >>> differences = FrameMean(np.array([[1.0, 2, 3]]), np.ones(3), scale="line")
    >>> found = zero_test(differences)        # 2 / (1 / sqrt(3)), 2 degrees of freedom
    >>> round(found.statistic, 3), round(found.p_value, 4)
    (3.464, 0.0742)
    """
    reason = no_interval_because(score)
    if reason:
        return ZeroTest(None, None, reason)
    estimate, variance, freedom = _variance(score, with_seeds=True)
    if variance == 0:
        return ZeroTest(None, float(estimate == 0), "neither seeds nor episodes vary")
    statistic = float(estimate / np.sqrt(variance))
    return ZeroTest(statistic, float(2 * special.stdtr(freedom, -abs(statistic))))


def limits(
    score: Weighable, *, with_seeds: bool, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Both ends of an interval for scores that lead with further axes: (...) each."""
    low, high = _jackknife_limits(score, with_seeds, level)
    imagined = score.imagined()
    if imagined is not None:
        other_low, other_high = _jackknife_limits(imagined, with_seeds, level)
        low, high = np.minimum(low, other_low), np.maximum(high, other_high)
    return low, high


def _interval(score: Weighable, *, with_seeds: bool, level: float) -> Interval:
    reason = no_interval_because(score)
    if reason:
        return no_interval(reason, level)
    low, high = limits(score, with_seeds=with_seeds, level=level)
    return Interval(float(low), float(high), level)


def no_interval_because(score: Weighable) -> str:
    """Why there is no interval over episodes; empty where there is one."""
    for reason in score.reasons:
        if reason:
            return reason
    return ONE_EPISODE if (np.bincount(score.strata) < 2).any() else ""


def _jackknife_limits(
    score: Weighable, with_seeds: bool, level: float
) -> tuple[FloatArray, FloatArray]:
    estimate, variance, freedom = _variance(score, with_seeds)
    reach = _t_quantile(freedom, level) * np.sqrt(variance)
    low, high = _on_scale(estimate, reach, score.scale)
    certain = variance == 0
    return np.where(certain, estimate, low), np.where(certain, estimate, high)


def _variance(score: Weighable, with_seeds: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The mean over runs, its variance, and the variance's degrees of freedom: (...) each."""
    strata = score.strata
    sizes = np.bincount(strata).astype(np.float64)
    member = (strata[:, None] == np.arange(len(sizes))).astype(np.float64)
    run_scores = score.weighed(np.ones((1, len(strata))))[..., 0]
    without = score.weighed(1.0 - np.eye(len(strata)))
    # What each episode adds to the score, times the number of episodes of its kind.
    adds = ((without @ member / sizes)[..., strata] - without) * (sizes[strata] - 1)

    by_stratum = (adds.mean(axis=-2) ** 2) @ member / (sizes * (sizes - 1))
    variance = by_stratum.sum(axis=-1)
    spread = (by_stratum**2 / (sizes - 1)).sum(axis=-1)
    num_runs = run_scores.shape[-1]
    if with_seeds and num_runs > 1:
        by_seed = run_scores.var(axis=-1, ddof=1) / num_runs
        own = adds - adds.mean(axis=-2, keepdims=True)
        pairs = (num_runs - 1) * num_runs * sizes * (sizes - 1)
        interaction = ((own**2).sum(axis=-2) @ member / pairs).sum(axis=-1)
        total = np.maximum(variance + by_seed - interaction, np.maximum(variance, by_seed))
        spread = spread + by_seed**2 / (num_runs - 1)
        variance = total
    freedom = np.divide(variance**2, spread, out=np.ones_like(variance), where=spread > 0)
    return run_scores.mean(axis=-1), variance, freedom


def _t_quantile(freedom: FloatArray | np.float64, level: float) -> FloatArray:
    return np.asarray(special.stdtrit(freedom, (1 + level) / 2), dtype=np.float64)


def _on_scale(
    estimate: FloatArray, reach: FloatArray, scale: Scale
) -> tuple[FloatArray, FloatArray]:
    """`estimate` -+ `reach`, taken on the scale where the score has no bounds."""
    if scale == "line":
        return estimate - reach, estimate + reach
    # A correlation is a share stretched to (-1, 1): artanh(r) is half the log-odds of (1 + r) / 2.
    stretched = scale == "correlation"
    share = (estimate + 1) / 2 if stretched else estimate
    reach = reach / 2 if stretched else reach
    edge = np.finfo(np.float64).eps
    inside = np.clip(share, edge, 1 - edge)
    odds, reach = special.logit(inside), reach / (inside * (1 - inside))
    low, high = special.expit(odds - reach), special.expit(odds + reach)
    return (2 * low - 1, 2 * high - 1) if stretched else (low, high)

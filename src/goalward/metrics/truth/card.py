"""How far each method is from the truth, and which methods are nearer than others.

Methods predict values on scales of their own, but steps are steps everywhere: predicted steps k
become 1 - 2 g^k with one discount g for all, as the truth E[1 - 2 g^K] has it. Seeds are one
answer: what is judged is the mean over them, which is what users are shown.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from goalward.metrics.score import Interval, Score
from goalward.metrics.scores.calibration import Calibration, calibration
from goalward.metrics.scores.card import CardRow
from goalward.metrics.truth.clock_end import ClockEndTruth, clock_end_truth
from goalward.metrics.truth.correlation import pearson, spearman
from goalward.metrics.truth.errors import TruthScores, truth_scores
from goalward.metrics.truth.frame_truth import FrameTruth, TrueNumbers
from goalward.metrics.truth.known_frames import ALL, KnownFrames
from goalward.metrics.truth.paired_tests import paired_tests
from goalward.metrics.uncertainty.intervals import over_episodes
from goalward.metrics.uncertainty.significance import MethodTests
from goalward.metrics.uncertainty.weighing import mean_by_episode
from goalward.rollouts.endings import FloatArray
from goalward.targets.liveness import liveness_value
from goalward.values.chances import ChanceTable
from goalward.values.table import ValueTable

# A normal number of standard deviation 1 is this far from 0 on average.
_MEAN_SIZE_OF_NOISE = math.sqrt(2 / math.pi)


@dataclass(frozen=True, eq=False)
class Closeness:
    """How close one method is to the truth on some frames.

    `value` and `within` (steps -> scores of the chance to succeed in as many) are biases and mean
    absolute errors; `root_mean_square` is that of the value's error without the share that is the
    truth's own sampling error; `spearman` and `pearson` are correlations with the true value.
    """

    value: TruthScores
    within: Mapping[int, TruthScores]
    root_mean_square: Score
    spearman: CardRow
    pearson: CardRow


@dataclass(frozen=True, eq=False)
class GroupTruth:
    """What is true of `num_frames` frames of `num_episodes` episodes, and how well that is known.

    `noise` is the mean absolute error that a perfect prediction would have, because the truth is
    a mean over few futures; `noise_within` the same for the chance to succeed in time. `by_cap`
    is the most that futures cut off at the cap can have raised the mean value.
    """

    num_frames: int
    num_episodes: int
    value: Score
    """Their mean true value."""
    more_time_success: Score
    """Share of all futures that reach the goal before the cap."""
    more_time_interval: Interval
    """Of that share, by episodes."""
    noise: Score
    noise_within: Mapping[int, Score]
    by_cap: Score


@dataclass(frozen=True, eq=False)
class MethodTruth:
    """One method against the truth: `by_group` of frames, its calibration, and frame by frame.

    `predicted` is the mean value over seeds, (frames,), which all errors are of. Chances are the
    mean over seeds and their networks. `brier` is the mean squared error of the chance to succeed
    within the standard horizon against every single future (1 or 0), `calibration` against the
    share of them; `brier_interval` is by episodes.
    """

    by_group: Mapping[str, Closeness]
    calibration: Calibration
    predicted: FloatArray
    brier: Score
    brier_interval: Interval


@dataclass(frozen=True, eq=False)
class TruthCard:
    """All methods against the truth.

    `tests` (group -> tests) compare the absolute errors of value in pairs, on the same frames,
    over episodes. Of `horizons` all are within what branches were run for, and so is
    `standard_horizon`, the one calibration is about. `base_rate_brier` is the Brier score of who
    says everywhere the share of all futures that succeed in that time. `clock_end` is None where no
    last frame of a time-out was measured.
    """

    discount: float
    """Of the scale of values."""
    standard_horizon: int
    horizons: tuple[int, ...]
    cap: int
    """Steps after which a future was given up."""
    num_branches: tuple[int, int]
    """The fewest and the most futures of a frame."""
    known: KnownFrames
    """The frames, where they lie, and what became of their futures."""
    true_value: TrueNumbers
    """Of every frame the mean value of its futures."""
    groups: Mapping[str, GroupTruth]
    """Name of a group of frames (all, by outcome) -> what is true of it."""
    methods: Mapping[str, MethodTruth]
    """Method -> how close it is."""
    tests: Mapping[str, MethodTests]
    base_rate_brier: Score
    clock_end: ClockEndTruth | None = None

    def closest(self) -> tuple[str, ...]:
        """The methods by their mean absolute error of value on all frames, the least first."""
        errors = {name: found.by_group[ALL].value.absolute for name, found in self.methods.items()}
        return tuple(sorted(errors, key=lambda name: errors[name].mean.value or 0.0))


def truth_card(
    values: ValueTable,
    chances: ChanceTable,
    known: KnownFrames,
    *,
    discount: float,
    standard_horizon: int,
) -> TruthCard:
    """Compare every method with the truth on the frames where it is known."""
    if known.num_frames == 0:
        raise ValueError("no frame has a known truth")
    truth, groups = known.truth, known.groups()
    standard_horizon = min(standard_horizon, truth.cap)
    horizons = _horizons(standard_horizon, truth.cap)
    true_value = truth.true_value(discount)
    true_within = {horizon: truth.success_within(horizon) for horizon in horizons}
    predicted = {
        method: liveness_value(
            np.asarray(values.steps(method), dtype=np.float64)[:, known.position], discount
        ).mean(axis=0)
        for method in values.methods
    }
    sizes = {method: np.abs(found - true_value.mean) for method, found in predicted.items()}
    return TruthCard(
        discount=discount,
        standard_horizon=standard_horizon,
        horizons=horizons,
        cap=truth.cap,
        num_branches=(int(truth.num_branches.min()), int(truth.num_branches.max())),
        known=known,
        true_value=true_value,
        groups={
            name: _group_truth(known, chosen, discount, true_value, true_within)
            for name, chosen in groups.items()
        },
        methods={
            method: _method_truth(
                predicted[method],
                {n: chances.within_steps(method, n)[known.position] for n in horizons},
                known,
                true_value,
                true_within,
                standard_horizon,
            )
            for method in values.methods
        },
        tests={
            name: paired_tests(
                {method: size[chosen] for method, size in sizes.items()}, known.episode[chosen]
            )
            for name, chosen in groups.items()
        },
        base_rate_brier=_base_rate_brier(truth, standard_horizon),
        clock_end=clock_end_truth(chances, known),
    )


def chance_steps(standard_horizon: int) -> tuple[int, ...]:
    """Numbers of steps that chances should be told at, as the truth is compared at them."""
    return _horizons(standard_horizon, cap=2 * standard_horizon)


def _method_truth(
    predicted: FloatArray,
    chance: Mapping[int, FloatArray],
    known: KnownFrames,
    true_value: TrueNumbers,
    true_within: Mapping[int, TrueNumbers],
    standard_horizon: int,
) -> MethodTruth:
    """What a method says of the known frames, values and chances by steps, against the truth."""
    by_group: dict[str, Closeness] = {}
    for name, chosen in known.groups().items():
        episode = known.episode[chosen]
        value, true = predicted[chosen], true_value.mean[chosen]
        by_group[name] = Closeness(
            value=truth_scores(value, true, episode),
            within={
                horizon: truth_scores(found[chosen], true_within[horizon].mean[chosen], episode)
                for horizon, found in chance.items()
            },
            root_mean_square=_without_noise(value - true, true_value.standard_error[chosen]),
            spearman=spearman(value[None], true, episode),
            pearson=pearson(value[None], true, episode),
        )
    errors = _branch_errors(chance[standard_horizon], known.truth, standard_horizon)
    return MethodTruth(
        by_group=by_group,
        calibration=calibration(
            chance[standard_horizon], true_within[standard_horizon].mean, known.episode
        ),
        predicted=predicted,
        brier=Score(float(errors.mean())),
        brier_interval=over_episodes(mean_by_episode(errors, known.episode, scale="share")),
    )


def _branch_errors(chance: FloatArray, truth: FrameTruth, num_steps: int) -> FloatArray:
    """(chance - whether a future is there by then)^2, the mean over each frame's: (frames,)."""
    share = truth.success_within(num_steps).mean
    # Of ones and zeros with this mean.
    return (chance - share) ** 2 + share * (1 - share)


def _base_rate_brier(truth: FrameTruth, num_steps: int) -> Score:
    share = truth.success_within(num_steps).mean
    everywhere = np.full(len(share), share.mean())
    return Score(float(_branch_errors(everywhere, truth, num_steps).mean()))


def _horizons(standard_horizon: int, cap: int) -> tuple[int, ...]:
    """Half the standard horizon, that, twice that, and the cap: those that branches reach.

    >>> _horizons(100, 500), _horizons(80, 80)
    ((50, 100, 200, 500), (40, 80))
    """
    wanted = (max(standard_horizon // 2, 1), standard_horizon, 2 * standard_horizon, cap)
    return tuple(sorted({steps for steps in wanted if steps <= cap}))


def _without_noise(error: FloatArray, standard_error: FloatArray) -> Score:
    """The root of (mean squared error - mean variance of the truth), 0 if that is below 0."""
    if np.isnan(standard_error).any():
        return Score(None, "a frame has one future only")
    return Score(math.sqrt(max(float((error**2).mean() - (standard_error**2).mean()), 0.0)))


def _group_truth(
    known: KnownFrames,
    chosen: np.ndarray,
    discount: float,
    true_value: TrueNumbers,
    true_within: Mapping[int, TrueNumbers],
) -> GroupTruth:
    truth, episode = known.truth.select(chosen), known.episode[chosen]
    there = truth.more_time_success().mean
    return GroupTruth(
        num_frames=truth.num_frames,
        num_episodes=len(np.unique(episode)),
        value=Score(float(true_value.mean[chosen].mean())),
        more_time_success=Score(float(there.mean())),
        more_time_interval=over_episodes(mean_by_episode(there, episode, scale="share")),
        noise=_noise(true_value.standard_error[chosen]),
        noise_within={
            horizon: _noise(found.standard_error[chosen]) for horizon, found in true_within.items()
        },
        by_cap=Score(float(truth.cap_error(discount).mean())),
    )


def _noise(standard_error: FloatArray) -> Score:
    if np.isnan(standard_error).any():
        return Score(None, "a frame has one future only")
    return Score(_MEAN_SIZE_OF_NOISE * float(standard_error.mean()))

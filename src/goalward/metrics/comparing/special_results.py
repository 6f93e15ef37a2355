"""What a comparison found that only some tables can tell or only some readers ask for."""

from collections.abc import Mapping
from dataclasses import dataclass

Limits = tuple[float, float]


@dataclass(frozen=True)
class PolicyScore:
    """The mean score of one policy, by task with the same weights as its rate.

    Policies that share a letter could not be told apart by their scores.
    """

    policy: str
    mean: float
    interval: Limits
    letters: str


@dataclass(frozen=True)
class PairScores:
    """Mean scores of two policies; the difference is second minus first.

    `settled_at` and `settled_for` are those of the watching test of scores, None where it is not
    settled or nobody knows the order of rollouts.
    """

    first: str
    second: str
    first_mean: float
    second_mean: float
    difference: float
    interval: Limits
    test: str
    p_value: float
    adjusted_p_value: float
    better: str | None
    e_value: float | None
    settled_at: int | None
    settled_for: str | None


@dataclass(frozen=True)
class ScoreComparison:
    """Partial credit: a mean score for every policy, and every pair."""

    policies: tuple[PolicyScore, ...]
    pairs: tuple[PairScores, ...]


@dataclass(frozen=True)
class PolicyBelief:
    """What to believe of a policy's rate; `density` is over an even grid of rates from 0 to 1."""

    policy: str
    rate: float
    interval: Limits
    density: tuple[float, ...]


@dataclass(frozen=True)
class PairBelief:
    """How likely the second policy is better, and by how much: second minus first."""

    first: str
    second: str
    second_better: float
    difference: float
    interval: Limits
    second_better_by_task: Mapping[str, float]


@dataclass(frozen=True)
class PosteriorComparison:
    prior: str
    policies: tuple[PolicyBelief, ...]
    pairs: tuple[PairBelief, ...]


@dataclass(frozen=True)
class Regression:
    """A checkpoint that is worse than the one before it; p by Holm over all neighbours."""

    before: str
    after: str
    difference: float
    adjusted_p_value: float


@dataclass(frozen=True)
class Checkpoints:
    """Policies that are checkpoints of one training, in order.

    `change` is how far the straight line through the rates climbs from the first checkpoint to the
    last. `as_good` are the best one and all that cannot be told from it: with the probability
    `level` the truly best one is among them. `by_scores`: all of this is about mean scores, as
    nothing else is known.
    """

    order: tuple[str, ...]
    steps: tuple[float, ...]
    change: float
    change_interval: Limits
    best: str
    as_good: tuple[str, ...]
    regressions: tuple[Regression, ...]
    by_scores: bool


@dataclass(frozen=True)
class PolicyPrediction:
    """A rate from few labelled and many unlabelled rollouts, and from the labelled ones alone."""

    policy: str
    num_labelled: int
    num_unlabelled: int
    rate: float
    interval: Limits
    labelled_rate: float
    labelled_interval: Limits
    trust: float


@dataclass(frozen=True)
class PairPrediction:
    """Second minus first; `interval` is for this pair alone.

    `better` is who wins by the interval that allows for all pairs at once (Bonferroni).
    """

    first: str
    second: str
    difference: float
    interval: Limits
    better: str | None


@dataclass(frozen=True)
class PredictedComparison:
    policies: tuple[PolicyPrediction, ...]
    pairs: tuple[PairPrediction, ...]

"""What a comparison of policies found: numbers about each policy and about each pair of them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from goalward.metrics.comparing.sample_size import UntilSettled

Limits = tuple[float, float]


@dataclass(frozen=True)
class PolicySummary:
    """One policy on its own. `rate_interval` is Wilson's, `exact_rate_interval` Clopper-Pearson's.

    Policies that share a letter could not be told apart. `mean_steps` is the restricted mean up to
    the horizon of the comparison; None where the table has no steps. `tasks` has successes and
    episodes by task.
    """

    policy: str
    episodes: int
    successes: int
    time_outs: int
    failures: int
    rate: float
    rate_interval: Limits
    exact_rate_interval: Limits
    letters: str
    mean_steps: float | None
    mean_steps_interval: Limits | None
    tasks: Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class WatchedTest:
    """The test that may be looked at after every rollout: see `sequential.py`.

    It is settled where the e-value reached the wanted one, which grows with the number of pairs of
    policies (Bonferroni). `interval` is for this pair alone.
    """

    num_pairs: int
    e_value: float
    wanted_e_value: float
    p_value: float
    settled_at: int | None
    interval: Limits


@dataclass(frozen=True)
class StepsComparison:
    """Restricted mean steps, their difference, second minus first, and the log-rank test."""

    first_mean: float
    second_mean: float
    difference: float
    interval: Limits
    log_rank_p_value: float
    adjusted_log_rank_p_value: float


@dataclass(frozen=True)
class PairComparison:
    """Two policies. Rates are weighted by task; differences are second minus first.

    `adjusted_p_value` allows for the number of pairs of policies (Holm); `better` is the policy
    that wins by it, None if that cannot be told. `rollouts_for_power` is how many rollouts of each
    a new comparison needs to find the present difference in four of five cases, `until_settled`
    how many more the watched test needs; None where one is better or no difference is seen.
    `watched` is None where rows were sorted by outcome, which hides how rollouts came in.
    """

    first: str
    second: str
    first_rate: float
    second_rate: float
    difference: float
    interval: Limits
    interval_method: str
    test: str
    p_value: float
    adjusted_p_value: float
    better: str | None
    only_first: int | None
    only_second: int | None
    watched: WatchedTest | None
    rollouts_for_power: int | None
    until_settled: UntilSettled | None
    steps: StepsComparison | None


@dataclass(frozen=True)
class Comparison:
    """Every policy, every pair of policies, and what had to be left out or assumed."""

    level: float
    paired: bool
    num_matched: int
    horizon: int | None
    policies: tuple[PolicySummary, ...]
    pairs: tuple[PairComparison, ...]
    notes: tuple[str, ...]

    @property
    def best_first(self) -> list[PolicySummary]:
        return sorted(self.policies, key=lambda policy: -policy.rate)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

"""What a comparison of policies found: numbers about each policy and about each pair of them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from goalward.errors import GoalwardError
from goalward.metrics.comparing.sample_size import UntilSettled
from goalward.metrics.comparing.special_results import (
    Checkpoints,
    Limits,
    PosteriorComparison,
    PredictedComparison,
    ScoreComparison,
)
from goalward.metrics.uncertainty.equal_rates import EqualRates
from goalward.rollouts.findings import some_of


@dataclass(frozen=True)
class PolicySummary:
    """One policy on its own.

    `rate` is the mean over the tasks that all policies ran, by weights that are the same for all
    (`tasks/rates.py`), with Wilson's interval; over shared initial states where these are compared.
    It is what sentences, letters and figures speak of. `raw_rate` is successes over episodes,
    whatever the tasks, with Clopper and Pearson's interval. Policies that share a letter could not
    be told apart. `mean_steps` is the restricted mean up to the horizon of the comparison; None
    where the table has no steps. `tasks` has successes and episodes by task.
    """

    policy: str
    episodes: int
    successes: int
    time_outs: int
    failures: int
    rate: float
    rate_interval: Limits
    raw_rate: float
    raw_rate_interval: Limits
    letters: str
    mean_steps: float | None
    mean_steps_interval: Limits | None
    tasks: Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class WatchedTest:
    """The test that may be looked at after every rollout: see `sequential.py`.

    It was settled where the e-value first reached the wanted one, which grows with the number of
    pairs of policies (Bonferroni), for the policy that was ahead then. `turned_at` is where it was
    settled for the other one, too: then something changed while rollouts came in. `stands` is
    whether the e-value is still as large, for the same policy. `interval` is for this pair alone.
    """

    num_pairs: int
    e_value: float
    wanted_e_value: float
    p_value: float
    settled_at: int | None
    settled_for: str | None
    turned_at: int | None
    stands: bool
    interval: Limits


@dataclass(frozen=True)
class BudgetTest:
    """The test that may be looked at after every rollout up to a known end: see `budget.py`.

    `lead` is how many more pairs the second won alone than the first when it was settled or else
    now, `wanted_lead` how many it takes then; None where no lead is enough yet. `chance` is that of
    being settled by the end if the present rates hold.
    """

    budget: int
    num_pairs: int
    lead: int
    wanted_lead: int | None
    settled_at: int | None
    settled_for: str | None
    chance: float | None


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
class TaskVerdict:
    """Two policies in one task: (successes, episodes) of each, second minus first in rates.

    `adjusted_p_value` allows for all tasks of all pairs (Holm); `better` is who wins by it.
    """

    task: str
    first: tuple[int, int]
    second: tuple[int, int]
    difference: float
    p_value: float
    adjusted_p_value: float
    better: str | None


@dataclass(frozen=True)
class PairComparison:
    """Two policies. Rates are weighted by task; differences are second minus first.

    `adjusted_p_value` allows for the number of pairs of policies (Holm); `better` is the policy
    that wins by it, or by the test of a budget where there is one; None if that cannot be told.
    `rollouts_for_power` is how many rollouts of each a new comparison needs to find the present
    difference in four of five cases, `until_settled` how many more the watched test needs; None
    where one is better, no difference is seen, or too few rollouts are there to say. `watched` is
    None where nobody knows in which order rollouts came in. `own_base`: the rates of this pair are
    over other episodes than those of the policies, `num_pairs` shared starts or tasks that only
    some policies ran. `tasks` are the tasks of both where there are several, those that tell most
    first; `equal_effects` is whether the difference could be the same in all of them.
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
    paired: bool
    num_pairs: int
    own_base: bool
    only_first: int | None
    only_second: int | None
    watched: WatchedTest | None
    budget: BudgetTest | None
    rollouts_for_power: int | None
    until_settled: UntilSettled | None
    too_few: bool
    steps: StepsComparison | None
    tasks: tuple[TaskVerdict, ...]
    equal_effects: EqualRates | None


@dataclass(frozen=True)
class Comparison:
    """Every policy, every pair of policies, and what had to be left out or assumed.

    `weighted` is whether tasks were weighted, so that rates are not the raw ones. `scores` is there
    where every rollout has partial credit; `scores_only` where nothing else is known, so that it
    is they who decide, and successes are the rollouts with full credit. `predicted` is there where
    some rollouts have a prediction instead of an outcome, `posterior` and `checkpoints` where they
    were asked for.
    """

    level: float
    paired: bool
    num_matched: int
    horizon: int | None
    weighted: bool
    budget: int | None
    policies: tuple[PolicySummary, ...]
    pairs: tuple[PairComparison, ...]
    notes: tuple[str, ...]
    scores: ScoreComparison | None = None
    posterior: PosteriorComparison | None = None
    checkpoints: Checkpoints | None = None
    predicted: PredictedComparison | None = None
    scores_only: bool = False

    def __repr__(self) -> str:
        told = ", ".join(
            f"{one.policy} {100 * one.rate:.0f} % of {one.episodes} ({one.letters})"
            for one in self.best_first
        )
        return f"Comparison({told})"

    @property
    def best_first(self) -> list[PolicySummary]:
        """Policies by their success rate, or by their mean score where nothing else is known."""
        worth = {policy.policy: policy.rate for policy in self.policies}
        if self.scores_only and self.scores is not None:
            worth = {policy.policy: policy.mean for policy in self.scores.policies}
        return sorted(self.policies, key=lambda policy: -worth[policy.policy])

    @property
    def rates_are_raw(self) -> bool:
        """Whether every policy's rate is its successes over its episodes."""
        return all(abs(policy.rate - policy.raw_rate) < 1e-12 for policy in self.policies)

    def policy(self, name: str) -> PolicySummary:
        for policy in self.policies:
            if policy.policy == name:
                return policy
        raise GoalwardError(
            f"no policy {name!r}; there are: {some_of([p.policy for p in self.policies])}"
        )

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain dictionaries and lists, as `comparison.json` holds it."""
        return asdict(self)

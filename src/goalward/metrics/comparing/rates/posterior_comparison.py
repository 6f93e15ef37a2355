"""What to believe of all policies and of every two."""

from itertools import combinations

from goalward.metrics.comparing.base import Base
from goalward.metrics.comparing.rates.posterior import compare_rates, density, rate_posterior
from goalward.metrics.comparing.special_results import PairBelief, PolicyBelief, PosteriorComparison
from goalward.metrics.comparing.tables.outcome_table import OutcomeTable

_ONE_TASK = "before the first rollout every rate is as likely as every other: Beta(1, 1)"
_SEVERAL = (
    "before the first rollout every mean rate is as likely as every other, and so is every degree "
    "to which tasks differ; tasks of a policy borrow from each other (beta-binomial, partially "
    "pooled)"
)


def posterior_of(
    table: OutcomeTable, base: Base, level: float, notes: list[str]
) -> PosteriorComparison | None:
    """Over the tasks that all policies ran; None, with a note, where there is none."""
    if base.totals.min() == 0:
        notes.append("no posterior: no task was run by all policies")
        return None
    if base.shared_starts:
        notes.append("the posterior counts rollouts as independent, not as pairs")
    found = [
        rate_posterior(policy.policy, x.tolist(), n.tolist(), base.weights)
        for policy, x, n in zip(table.policies, base.successes, base.totals, strict=True)
    ]
    pairs: list[PairBelief] = []
    for first, second in combinations(found, 2):
        belief = compare_rates(first, second, level)
        pairs.append(
            PairBelief(
                first=first.policy,
                second=second.policy,
                second_better=belief.second_better,
                difference=belief.difference,
                interval=belief.interval,
                second_better_by_task={
                    task: one.second_better
                    for task, one in zip(base.tasks, belief.tasks, strict=True)
                },
            )
        )
    return PosteriorComparison(
        prior=_ONE_TASK if len(base.tasks) == 1 else _SEVERAL,
        policies=tuple(
            PolicyBelief(
                policy=one.policy,
                rate=float(one.mean.mean()),
                interval=one.interval(level),
                density=tuple(density(one.mean)[1].tolist()),
            )
            for one in found
        ),
        pairs=tuple(pairs),
    )

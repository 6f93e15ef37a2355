"""Policies of which few rollouts are labelled and many have a prediction only."""

from itertools import combinations

import numpy as np

from goalward.metrics.comparing.special_results import (
    Limits,
    PairPrediction,
    PolicyPrediction,
    PredictedComparison,
)
from goalward.metrics.comparing.tables.outcome_table import OutcomeTable, PolicyOutcomes
from goalward.metrics.comparing.unlabelled_rollouts.mean import (
    PredictedMean,
    predicted_difference,
    predicted_mean,
)
from goalward.metrics.uncertainty.proportions import ConfidenceLimits
from goalward.seeds import generator


def compare_predicted(
    table: OutcomeTable, level: float, notes: list[str]
) -> PredictedComparison | None:
    """Rates and differences helped by predictions; None where no policy has unlabelled rollouts.

    Rates are raw ones, whatever the tasks: labelled and unlabelled rollouts are of one mixture.
    """
    if not any(policy.unlabelled for policy in table.policies):
        return None
    lacking = [p.policy for p in table.policies if not (p.unlabelled and p.has_predictions)]
    if lacking:
        notes.append(
            "unlabelled rollouts are not used: wanted some of every policy and a prediction of "
            f"every rollout, which {lacking[0]} lacks"
        )
        return None
    found = [_mean(policy, level) for policy in table.policies]
    twos = list(combinations(range(len(found)), 2))
    # What decides allows for the number of pairs; with one pair it is the same interval.
    strict = found
    if len(twos) > 1:
        strict = [_mean(policy, 1 - (1 - level) / len(twos)) for policy in table.policies]
    policies = tuple(
        PolicyPrediction(
            policy=policy.policy,
            num_labelled=len(policy.episodes),
            num_unlabelled=len(policy.unlabelled),
            rate=float(one.mean),
            interval=_limits(one.interval),
            labelled_rate=float(one.labelled_mean),
            labelled_interval=_limits(one.labelled_interval),
            trust=float(one.trust),
        )
        for policy, one in zip(table.policies, found, strict=True)
    )
    pairs: list[PairPrediction] = []
    for i, j in twos:
        difference, limits = predicted_difference(found[i], found[j])
        low, high = _limits(predicted_difference(strict[i], strict[j])[1])
        names = policies[i].policy, policies[j].policy
        better = names[low > 0] if low > 0 or high < 0 else None
        pairs.append(PairPrediction(*names, float(difference), _limits(limits), better))
    return PredictedComparison(policies, tuple(pairs))


def _mean(policy: PolicyOutcomes, level: float) -> PredictedMean:
    # Parts are cross-fitted by their place: rows may stand in any order, so they are shuffled.
    order = generator(0, "labelled", policy.policy).permutation(len(policy.episodes))
    predictions = np.array([episode.prediction for episode in policy.episodes], dtype=np.float64)
    labels = policy.succeeded.astype(np.float64)
    return predicted_mean(labels[order], predictions[order], policy.unlabelled, level)


def _limits(interval: ConfidenceLimits) -> Limits:
    return float(interval.lower), float(interval.upper)

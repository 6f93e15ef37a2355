"""Which of several policies is better, and how sure that is, from the outcomes of episodes."""

from collections.abc import Sequence
from dataclasses import replace

from goalward.errors import GoalwardError
from goalward.metrics.comparing import sample_size, sequential
from goalward.metrics.comparing.exact_tests import (
    boschloo_test,
    holm,
    mcnemar_test,
    stratified_test,
)
from goalward.metrics.comparing.outcome_table import OutcomeTable, PolicyOutcomes
from goalward.metrics.comparing.pairing import (
    Meeting,
    decide_pairing,
    matched_episodes,
    meetings_by_start,
    meetings_by_task,
)
from goalward.metrics.comparing.result import (
    Comparison,
    Limits,
    PairComparison,
    PolicySummary,
    WatchedTest,
)
from goalward.metrics.comparing.steps_comparison import compare_steps, mean_steps, shared_horizon
from goalward.metrics.uncertainty import proportions
from goalward.metrics.uncertainty.letters import compact_letters
from goalward.rollouts.episode import Outcome


def compare(table: OutcomeTable, *, level: float = 0.95, paired: bool | None = None) -> Comparison:
    """Success rates and steps of every policy and every pair of policies.

    `paired=None`: paired if all policies started from the same initial states. `paired=True`
    compares the initial states that all share and leaves out the others.
    """
    if not 0.5 <= level < 1:
        raise GoalwardError(f"level must be at least 0.5 and below 1, got {level:g}")
    notes: list[str] = []
    matched = matched_episodes(table)
    paired = decide_pairing(table, matched, paired, notes)
    horizon = shared_horizon(table, notes)
    meetings = meetings_by_start(table, matched) if paired else meetings_by_task(table, notes)
    alpha = (1 - level) / len(meetings)
    pairs = [_compared(meeting, level, horizon, notes) for meeting in meetings]
    pairs = [
        _with_sample_size(pair, meeting, alpha)
        for pair, meeting in zip(_adjusted(pairs, level), meetings, strict=True)
    ]
    if _in_order(table, notes):
        pairs = [
            _with_watched_test(pair, meeting, level, alpha)
            for pair, meeting in zip(pairs, meetings, strict=True)
        ]
    letters = _letters(table, pairs)
    return Comparison(
        level=level,
        paired=paired,
        num_matched=len(matched) if paired else 0,
        horizon=horizon,
        policies=tuple(_summary(p, level, horizon, letters[p.policy]) for p in table.policies),
        pairs=tuple(pairs),
        notes=tuple(dict.fromkeys(notes)),
    )


def _compared(
    meeting: Meeting, level: float, horizon: int | None, notes: list[str]
) -> PairComparison:
    """One pair as if it were the only one."""
    (x1, x2), (n1, n2) = meeting.counts()
    first, second, weights = meeting.rates()
    rates = [float((weights * by_task).sum()) for by_task in (first, second)]
    # Weights leave a rounding error where the rates are equal.
    difference = 0.0 if abs(rates[1] - rates[0]) < 1e-12 else rates[1] - rates[0]
    losses, wins = meeting.won_alone
    if meeting.paired:
        limits = proportions.paired_difference(losses, wins, len(meeting.together), level)
        method, test, p_value = "Tango", "McNemar, exact", mcnemar_test(losses, wins)
    elif len(n1) == 1:
        limits = proportions.difference(x1[0], n1[0], x2[0], n2[0], level)
        method, test = "Newcombe", "Boschloo, exact"
        p_value = boschloo_test(x1[0], n1[0], x2[0], n2[0])
    else:
        limits = proportions.difference_by_task(x1, n1, x2, n2, level)
        method, test = "Klingenberg, by task", "Cochran-Mantel-Haenszel by task, exact"
        p_value = stratified_test(x1, n1, x2, n2)
    return PairComparison(
        first=meeting.first,
        second=meeting.second,
        first_rate=rates[0],
        second_rate=rates[1],
        difference=difference,
        interval=_limits(limits),
        interval_method=method,
        test=test,
        p_value=p_value,
        adjusted_p_value=p_value,
        better=None,
        only_first=losses if meeting.paired else None,
        only_second=wins if meeting.paired else None,
        watched=None,
        rollouts_for_power=None,
        until_settled=None,
        steps=compare_steps(meeting, level, horizon, notes),
    )


def _adjusted(pairs: Sequence[PairComparison], level: float) -> list[PairComparison]:
    """With p-values for all pairs at once, and with the better policy where there is one."""
    rate_p_values = holm([pair.p_value for pair in pairs])
    steps_p_values = iter(holm([pair.steps.log_rank_p_value for pair in pairs if pair.steps]))
    found: list[PairComparison] = []
    for pair, rate in zip(pairs, rate_p_values, strict=True):
        winner = pair.second if pair.difference > 0 else pair.first
        steps = pair.steps and replace(pair.steps, adjusted_log_rank_p_value=next(steps_p_values))
        found.append(
            replace(
                pair,
                adjusted_p_value=rate,
                better=winner if rate <= 1 - level and pair.difference != 0 else None,
                steps=steps,
            )
        )
    return found


def _with_sample_size(pair: PairComparison, meeting: Meeting, alpha: float) -> PairComparison:
    """With what would settle it at `alpha`, which Holm asks of the clearest pair at most."""
    if pair.better is not None or pair.difference == 0:
        return pair
    if meeting.paired:
        losses, wins = (count / len(meeting.together) for count in meeting.won_alone)
        found = sample_size.pairs_for_power(losses, wins, alpha=alpha)
    else:
        found = sample_size.rollouts_for_power(*meeting.rates(), alpha=alpha)
    return replace(pair, rollouts_for_power=found)


def _with_watched_test(
    pair: PairComparison, meeting: Meeting, level: float, alpha: float
) -> PairComparison:
    """With the test that may be looked at all the time; `alpha` is its error."""
    seen = sequential.looks(*zip(*meeting.succeeded, strict=True), level=level)
    watched = WatchedTest(
        num_pairs=seen.num_pairs,
        e_value=seen.e_value,
        wanted_e_value=1 / alpha,
        p_value=seen.p_value,
        settled_at=seen.settled_at(alpha),
        interval=_limits(seen.interval()),
    )
    if pair.better is not None or pair.difference == 0:
        return replace(pair, watched=watched)
    losses, wins = meeting.won_alone
    shares = losses / seen.num_pairs, wins / seen.num_pairs
    if not meeting.paired:
        # Who met whom is chance; what the rates say about it is not.
        first, second, weights = meeting.rates()
        shares = (
            float((weights * first * (1 - second)).sum()),
            float((weights * second * (1 - first)).sum()),
        )
    more = sample_size.until_settled(*shares, wins=wins, losses=losses, alpha=alpha)
    return replace(pair, watched=watched, until_settled=more)


def _in_order(table: OutcomeTable, notes: list[str]) -> bool:
    """Whether rows may stand in the order in which they were run.

    Rows sorted by outcome would pair successes with successes, and someone who looks would seem to
    see a difference where there is none.
    """
    for policy in table.policies:
        if policy.sorted_by_outcome:
            notes.append(
                f"the rows of {policy.policy} are sorted by outcome; the test that allows for "
                "looking after every rollout needs them in the order in which they were run"
            )
            return False
    return True


def _summary(
    policy: PolicyOutcomes, level: float, horizon: int | None, letters: str
) -> PolicySummary:
    ended = [episode.outcome for episode in policy.episodes]
    successes, total = policy.num_successes, len(ended)
    mean, interval = (None, None) if horizon is None else mean_steps(policy, level, horizon)
    return PolicySummary(
        policy=policy.policy,
        episodes=total,
        successes=successes,
        time_outs=ended.count(Outcome.TIME_OUT),
        failures=ended.count(Outcome.FAILURE),
        rate=successes / total,
        rate_interval=_limits(proportions.wilson(successes, total, level)),
        exact_rate_interval=_limits(proportions.clopper_pearson(successes, total, level)),
        letters=letters,
        mean_steps=mean,
        mean_steps_interval=interval,
        tasks={task: policy.counts(task) for task in policy.tasks},
    )


def _letters(table: OutcomeTable, pairs: Sequence[PairComparison]) -> dict[str, str]:
    told_apart = {frozenset((pair.first, pair.second)) for pair in pairs if pair.better}
    best_first = sorted(table.policies, key=lambda p: -p.num_successes / len(p.episodes))
    names = [policy.policy for policy in best_first]
    return compact_letters(names, told_apart)


def _limits(interval: proportions.ConfidenceLimits) -> Limits:
    return float(interval.lower), float(interval.upper)

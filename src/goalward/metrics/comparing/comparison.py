"""Which of several policies is better, and how sure that is, from the outcomes of episodes."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from goalward.errors import GoalwardError, argument
from goalward.metrics.comparing import sample_size
from goalward.metrics.comparing.base import Base, base_of
from goalward.metrics.comparing.checkpoints import checkpoints_of
from goalward.metrics.comparing.met import Met, met_over
from goalward.metrics.comparing.pairing import (
    decide_pairing,
    meeting_by_start,
    meeting_by_task,
    starts_of,
)
from goalward.metrics.comparing.partial_credit.comparison import compare_scores, scores_met
from goalward.metrics.comparing.rates.boschloo import boschloo_tests
from goalward.metrics.comparing.rates.exact_tests import holm, mcnemar_test, stratified_test
from goalward.metrics.comparing.rates.posterior_comparison import posterior_of
from goalward.metrics.comparing.result import Comparison, Limits, PairComparison, PolicySummary
from goalward.metrics.comparing.special_results import Checkpoints, ScoreComparison
from goalward.metrics.comparing.steps.comparison import StepTimes, shared_horizon
from goalward.metrics.comparing.tables.outcome_table import OutcomeTable, PolicyOutcomes
from goalward.metrics.comparing.tasks.verdicts import task_verdicts
from goalward.metrics.comparing.unlabelled_rollouts.comparison import compare_predicted
from goalward.metrics.comparing.watching.verdicts import (
    budget_test,
    in_order,
    watched_intervals,
    watched_test,
)
from goalward.metrics.uncertainty import proportions
from goalward.metrics.uncertainty.letters import compact_letters
from goalward.progress import OnProgress, unheard
from goalward.rollouts.episode import Outcome

BOSCHLOO = "Boschloo, exact"
# What is said of how likely a budget will do takes half a second a pair.
_FEW_PAIRS = 6


def compare(
    table: OutcomeTable,
    *,
    level: float = 0.95,
    paired: bool | None = None,
    budget: int | None = None,
    ordered: bool = False,
    posterior: bool = False,
    on_progress: OnProgress = unheard,
) -> Comparison:
    """Success rates and steps of every policy and every pair of policies.

    `paired=None`: two policies are paired if both started from the same initial states.
    `paired=True` compares the initial states that two share and leaves out the others. `budget`:
    rollouts are watched as they come in and end with so many of each, over which the error is
    spent. `ordered`: policies are checkpoints of one training. `posterior`: also how likely each is
    better than each other.
    """
    check_level(level)
    notes = list(table.notes)
    if budget is not None:
        _check_budget(budget, table, notes)
    starts = starts_of(table)
    by_start = decide_pairing(table, starts, paired, notes)
    base = base_of(table, starts, by_start, notes)
    horizon = shared_horizon(table, notes)
    times = None if horizon is None else StepTimes(table, horizon)
    known_order = in_order(table, notes)
    if budget is not None and not known_order:
        raise GoalwardError(f"{argument('budget', budget)}: {notes[-1]}")
    twos = list(combinations(range(len(table.policies)), 2))
    alpha = (1 - level) / len(twos)
    with_scores = all(policy.has_scores for policy in table.policies)
    met: list[Met] = []
    for number, ((i, j), alike) in enumerate(zip(twos, by_start, strict=True)):
        meeting = (
            meeting_by_start(table, starts, i, j)
            if alike and starts is not None
            else meeting_by_task(table.policies[i], table.policies[j], notes)
        )
        found = met_over(meeting, (i, j), base, level)
        watched = watched_test(meeting, level, alpha) if known_order else None
        test = None
        if budget is not None:
            test = budget_test(meeting, budget, alpha, with_chance=len(twos) <= _FEW_PAIRS)
        steps = None if times is None else times.compare(meeting, (i, j), level, notes)
        scores = scores_met(meeting, base, level, known_order) if with_scores else None
        met.append(replace(found, watched=watched, budget=test, steps=steps, scores=scores))
        on_progress(number + 1, 3 * len(twos))
    num = len(twos)
    pairs = _tested(met, level, lambda done, of: on_progress(num + num * done // of, 3 * num))
    for number, one in enumerate(met):
        pairs[number] = _with_sample_size(pairs[number], one, alpha, known_order)
        on_progress(2 * num + number + 1, 3 * num)
    letters = _letters(table, base, pairs)
    scores = compare_scores(table, base, [one.scores for one in met if one.scores], level)
    return Comparison(
        level=level,
        paired=all(by_start),
        num_matched=len(base.rows[0]) if base.shared_starts else 0,
        horizon=horizon,
        weighted=base.weighted,
        budget=budget,
        policies=tuple(
            _summary(number, policy, base, times, level, letters[policy.policy])
            for number, policy in enumerate(table.policies)
        ),
        pairs=tuple(pairs),
        scores=scores,
        scores_only=table.scores_only,
        posterior=posterior_of(table, base, level, notes) if posterior else None,
        checkpoints=_checkpoints(table, base, pairs, scores, level) if ordered else None,
        predicted=compare_predicted(table, level, notes),
        notes=tuple(dict.fromkeys(notes)),
    )


def check_level(level: float) -> None:
    """An error where nobody would want to be so sure."""
    if isinstance(level, str) or not 0.5 <= level < 1:
        raise GoalwardError(f"{argument('level', level)}: must be at least 0.5 and below 1")


def _check_budget(budget: object, table: OutcomeTable, notes: list[str]) -> None:
    most, given = sample_size.MOST_ROLLOUTS, argument("budget", budget)
    if not isinstance(budget, int) or not 1 <= budget <= most:
        raise GoalwardError(f"{given}: must be from 1 to {most:,} rollouts of each policy")
    if table.scores_only:
        raise GoalwardError(
            f"{given}: wanted a column success or outcome; scores alone are watched without a "
            "known end"
        )
    for policy in table.policies:
        if len(policy.episodes) > budget:
            notes.append(
                f"{policy.policy} has {len(policy.episodes)} rollouts and the budget is {budget}: "
                f"the test looks at the first {budget}, rates and intervals at all"
            )


def _tested(met: Sequence[Met], level: float, on_progress: OnProgress) -> list[PairComparison]:
    """Every pair, with p-values for all pairs at once and with who is better, if anybody is."""
    p_values = _p_values(met, on_progress)
    adjusted = holm([p for _, p in p_values])
    steps = iter(holm([one.steps.log_rank_p_value for one in met if one.steps is not None]))
    by_task = task_verdicts([one.counts for one in met], level)
    watched = watched_intervals([(*one.won_alone, one.num_pairs) for one in met], level)
    found: list[PairComparison] = []
    for number, (one, (test, p_value)) in enumerate(zip(met, p_values, strict=True)):
        difference = one.rates[1] - one.rates[0]
        # Weights leave a rounding error where the rates are equal.
        difference = 0.0 if abs(difference) < 1e-12 else difference
        verdicts, equal_effects = by_task[number]
        pair = PairComparison(
            first=one.counts.first,
            second=one.counts.second,
            first_rate=one.rates[0],
            second_rate=one.rates[1],
            difference=difference,
            interval=one.interval,
            interval_method=one.interval_method,
            test=test,
            p_value=p_value,
            adjusted_p_value=adjusted[number],
            better=None,
            paired=one.paired,
            num_pairs=one.num_pairs,
            own_base=one.own_base,
            only_first=one.won_alone[0] if one.paired else None,
            only_second=one.won_alone[1] if one.paired else None,
            watched=one.watched and replace(one.watched, interval=watched[number]),
            budget=one.budget,
            rollouts_for_power=None,
            until_settled=None,
            too_few=min(map(sum, one.counts.totals)) < sample_size.LEAST_ROLLOUTS,
            steps=one.steps and replace(one.steps, adjusted_log_rank_p_value=next(steps)),
            tasks=verdicts,
            equal_effects=equal_effects,
        )
        found.append(replace(pair, better=_better(pair, one, level)))
    return found


def _p_values(met: Sequence[Met], on_progress: OnProgress) -> list[tuple[str, float]]:
    """The exact test that fits each pair, and its p-value."""
    simple = [one for one in met if not one.paired and len(one.counts.tasks) == 1]
    tables = [(o.counts.successes, o.counts.totals) for o in simple]
    columns = [(x[0][0], n[0][0], x[1][0], n[1][0]) for x, n in tables]
    x1, n1, x2, n2 = np.array(columns, dtype=np.int64).reshape(-1, 4).T
    alone = iter(boschloo_tests(x1, n1, x2, n2, on_progress).tolist() if columns else [])
    found: list[tuple[str, float]] = []
    for one in met:
        successes, totals = one.counts.successes, one.counts.totals
        if one.paired:
            found.append(("McNemar, exact", mcnemar_test(*one.won_alone)))
        elif len(one.counts.tasks) == 1:
            found.append((BOSCHLOO, next(alone)))
        else:
            p_value = stratified_test(successes[0], totals[0], successes[1], totals[1])
            found.append(("Cochran-Mantel-Haenszel by task, exact", p_value))
    return found


def _better(pair: PairComparison, one: Met, level: float) -> str | None:
    """Who wins; nobody where the test by task leans the other way than the common weights."""
    if pair.budget is not None:
        return pair.budget.settled_for
    first, second, weights = one.by_task
    leaning = float((weights * (second - first)).sum())
    if pair.adjusted_p_value > 1 - level or pair.difference * leaning <= 0:
        return None
    return pair.second if pair.difference > 0 else pair.first


def _with_sample_size(
    pair: PairComparison, one: Met, alpha: float, known_order: bool
) -> PairComparison:
    """With what would settle it at `alpha`, which Holm asks of the clearest pair at most."""
    if pair.better is not None or pair.difference == 0 or pair.too_few:
        return pair
    first, second, weights = one.by_task
    losses, wins = one.won_alone
    if one.paired:
        shares = losses / one.num_pairs, wins / one.num_pairs
        anew = sample_size.pairs_for_power(*shares, alpha=alpha)
    else:
        # Who met whom is chance; what the rates say about it is not.
        shares = (
            float((weights * first * (1 - second)).sum()),
            float((weights * second * (1 - first)).sum()),
        )
        anew = sample_size.rollouts_for_power(first, second, weights, alpha=alpha)
    more = None
    if known_order and pair.budget is None:
        more = sample_size.until_settled(*shares, wins=wins, losses=losses, alpha=alpha)
    return replace(pair, rollouts_for_power=anew, until_settled=more)


def _summary(
    number: int,
    policy: PolicyOutcomes,
    base: Base,
    times: StepTimes | None,
    level: float,
    letters: str,
) -> PolicySummary:
    ended = [episode.outcome for episode in policy.episodes]
    successes, total = policy.num_successes, len(ended)
    mean, interval = (None, None)
    if times is not None:
        mean, interval = times.mean(number, base.rows[number], level)
    return PolicySummary(
        policy=policy.policy,
        episodes=total,
        successes=successes,
        time_outs=ended.count(Outcome.TIME_OUT),
        failures=ended.count(Outcome.FAILURE),
        rate=base.rates[number].rate,
        rate_interval=_limits(base.rates[number].interval(level)),
        raw_rate=successes / total,
        raw_rate_interval=_limits(proportions.clopper_pearson(successes, total, level)),
        letters=letters,
        mean_steps=mean,
        mean_steps_interval=interval,
        tasks={task: policy.counts(task) for task in policy.tasks},
    )


def _letters(table: OutcomeTable, base: Base, pairs: Sequence[PairComparison]) -> dict[str, str]:
    told_apart = {frozenset((pair.first, pair.second)) for pair in pairs if pair.better}
    names = [policy.policy for policy in table.policies]
    rate = {name: rate.rate for name, rate in zip(names, base.rates, strict=True)}
    return compact_letters(sorted(names, key=lambda name: -rate[name]), told_apart)


def _checkpoints(
    table: OutcomeTable,
    base: Base,
    pairs: Sequence[PairComparison],
    scores: ScoreComparison | None,
    level: float,
) -> Checkpoints:
    """By success rates, or by scores where nothing else is known."""
    if table.scores_only and scores is not None:
        means = [one.mean for one in scores.policies]
        limits = [one.interval for one in scores.policies]
        return checkpoints_of(table, means, limits, scores.pairs, level)
    limits = [_limits(rate.interval(level)) for rate in base.rates]
    return checkpoints_of(table, [rate.rate for rate in base.rates], limits, pairs, level)


def _limits(interval: proportions.ConfidenceLimits) -> Limits:
    return float(interval.lower), float(interval.upper)

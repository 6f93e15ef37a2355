"""How many steps policies need to succeed, compared up to a horizon that all of them share."""

# SciPy ships no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from collections.abc import Sequence

from scipy import stats

from goalward.metrics.comparing import time_to_success
from goalward.metrics.comparing.outcome_table import EpisodeOutcome, OutcomeTable, PolicyOutcomes
from goalward.metrics.comparing.pairing import Meeting
from goalward.metrics.comparing.result import Limits, StepsComparison
from goalward.rollouts.episode import Outcome
from goalward.rollouts.findings import some_of


def shared_horizon(table: OutcomeTable, notes: list[str]) -> int | None:
    """Up to which step all policies can be compared; None where a policy has no steps."""
    without = [policy.policy for policy in table.policies if not policy.has_steps]
    if without:
        notes.append(f"steps are not compared: no column steps for {some_of(without, most=3)}")
        return None
    horizon = time_to_success.longest_horizon(
        [([e.outcome for e in p.episodes], _step_counts(p.episodes)) for p in table.policies]
    )
    for policy in table.policies:
        early = sum(
            e.outcome is Outcome.TIME_OUT and e.steps is not None and e.steps < horizon
            for e in policy.episodes
        )
        if early:
            notes.append(
                f"{policy.policy}: {early} of its time-outs came before step {horizon}; if these "
                "episodes failed for good, say so in a column outcome or time_out"
            )
    return horizon


def success_curves(table: OutcomeTable, horizon: int) -> dict[str, time_to_success.SuccessCurve]:
    """Share of each policy's episodes that have succeeded, by steps."""
    return {
        policy.policy: time_to_success.success_curve(_times(policy.episodes, horizon))
        for policy in table.policies
    }


def mean_steps(policy: PolicyOutcomes, level: float, horizon: int) -> tuple[float, Limits | None]:
    """The restricted mean of one policy's steps, and its t interval where there is any spread."""
    found = time_to_success.restricted_mean(_times(policy.episodes, horizon))
    if not found.standard_error > 0:
        return found.mean, None
    freedom = len(policy.episodes) - 1
    half_width = float(stats.t.ppf((1 + level) / 2, freedom)) * found.standard_error
    limits = max(0.0, found.mean - half_width), min(float(horizon), found.mean + half_width)
    return found.mean, limits


def compare_steps(
    meeting: Meeting, level: float, horizon: int | None, notes: list[str]
) -> StepsComparison | None:
    """Which of two policies needs fewer steps; None where that cannot be compared."""
    if horizon is None:
        return None
    _, (n1, n2) = meeting.counts()
    if any(a * sum(n2) != b * sum(n1) for a, b in zip(n1, n2, strict=True)):
        notes.append(
            f"steps of {meeting.first} and {meeting.second} are not compared: their rollouts "
            "are spread differently over the tasks"
        )
        return None
    times = [_times(episodes, horizon) for episodes in meeting.episodes]
    means = [time_to_success.restricted_mean(one) for one in times]
    found = time_to_success.restricted_mean_difference(*means, paired=meeting.paired, level=level)
    p_value = time_to_success.log_rank(*times)
    if found is None or p_value is None:
        return None
    return StepsComparison(
        first_mean=means[0].mean,
        second_mean=means[1].mean,
        difference=found.difference,
        interval=(found.lower, found.upper),
        log_rank_p_value=p_value,
        adjusted_log_rank_p_value=p_value,
    )


def _times(episodes: Sequence[EpisodeOutcome], horizon: int) -> time_to_success.SuccessTimes:
    ended = [episode.outcome for episode in episodes]
    return time_to_success.success_times(ended, _step_counts(episodes), horizon)


def _step_counts(episodes: Sequence[EpisodeOutcome]) -> list[int]:
    return [episode.steps for episode in episodes if episode.steps is not None]

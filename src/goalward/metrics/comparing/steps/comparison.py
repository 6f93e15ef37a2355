"""How many steps policies need to succeed, compared up to a horizon that all of them share."""

# SciPy ships no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from dataclasses import replace

from scipy import special

from goalward.metrics.comparing.pairing import Meeting
from goalward.metrics.comparing.result import Limits, StepsComparison
from goalward.metrics.comparing.steps import time_to_success
from goalward.metrics.comparing.steps.time_to_success import RestrictedMean, SuccessTimes
from goalward.metrics.comparing.tables.outcome_table import OutcomeTable, PolicyOutcomes
from goalward.rollouts.endings import IndexArray
from goalward.rollouts.episode import Outcome
from goalward.rollouts.findings import some_of


def shared_horizon(table: OutcomeTable, notes: list[str]) -> int | None:
    """Up to which step all policies can be compared; None where a policy has no steps."""
    without = [policy.policy for policy in table.policies if not policy.has_steps]
    if without:
        notes.append(f"steps are not compared: no column steps for {some_of(without, most=3)}")
        return None
    horizon = time_to_success.longest_horizon(
        [([e.outcome for e in p.episodes], _step_counts(p)) for p in table.policies]
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
        policy.policy: time_to_success.success_curve(_times(policy, horizon))
        for policy in table.policies
    }


class StepTimes:
    """The steps of every policy, each looked at once however many others it is compared with."""

    def __init__(self, table: OutcomeTable, horizon: int):
        self._times = [_times(policy, horizon) for policy in table.policies]
        self._means = [time_to_success.restricted_mean(times) for times in self._times]
        self._horizon = horizon

    def mean(self, number: int, rows: IndexArray, level: float) -> tuple[float, Limits | None]:
        """The restricted mean of a policy's steps, and its t interval where there is any spread."""
        found = self._mean(number, rows)
        if not found.standard_error > 0:
            return found.mean, None
        half_width = float(special.stdtrit(len(rows) - 1, (1 + level) / 2)) * found.standard_error
        limits = max(0.0, found.mean - half_width), found.mean + half_width
        return found.mean, (limits[0], min(float(self._horizon), limits[1]))

    def compare(
        self, meeting: Meeting, numbers: tuple[int, int], level: float, notes: list[str]
    ) -> StepsComparison | None:
        """Which of two policies needs fewer steps; None where that cannot be compared."""
        _, (n1, n2) = meeting.counts()
        if any(a * sum(n2) != b * sum(n1) for a, b in zip(n1, n2, strict=True)):
            notes.append(
                f"steps of {meeting.first.policy} and {meeting.second.policy} are not compared: "
                "their rollouts are spread differently over the tasks"
            )
            return None
        sides = list(zip(numbers, meeting.rows, strict=True))
        means = [self._mean(number, rows) for number, rows in sides]
        found = time_to_success.restricted_mean_difference(
            *means, paired=meeting.paired, level=level
        )
        p_value = time_to_success.log_rank(*(self._times[i].of(rows) for i, rows in sides))
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

    def _mean(self, number: int, rows: IndexArray) -> RestrictedMean:
        whole = self._means[number]
        if len(rows) == len(whole.influence):
            return replace(whole, influence=whole.influence[rows])
        return time_to_success.restricted_mean(self._times[number].of(rows))


def _times(policy: PolicyOutcomes, horizon: int) -> SuccessTimes:
    ended = [episode.outcome for episode in policy.episodes]
    return time_to_success.success_times(ended, _step_counts(policy), horizon)


def _step_counts(policy: PolicyOutcomes) -> list[int]:
    return [episode.steps for episode in policy.episodes if episode.steps is not None]

"""What to do after an evaluation, as data: at most three steps that follow from the run."""

import shlex
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from goalward.errors import argument, command_line, speaking_of_flags
from goalward.metrics.more_rollouts import rollouts_for_rate, rollouts_for_trust
from goalward.metrics.time_out_answer import Saying
from goalward.metrics.trust import Grade
from goalward.runs.auditing.label_findings import label_findings, looked_at

if TYPE_CHECKING:
    from goalward.runs.run import Run

MOST_STEPS = 3
# So few labels are looked through in minutes, all of them.
FEW_EPISODES = 20
# So likely to be wrong is a label that values which know something contradict outright; what the
# audit lists from a third of that on is for who asks.
_CONTRADICTED = 0.3
# Of all episodes: so many more successes are worth waiting for.
_WORTH_WAITING = 0.1
# Of the episodes there are: nobody records so many times more to check values.
MANY_TIMES = 5


class StepKind(StrEnum):
    """What is to be done, and what it is good for."""

    CHECK_LABELS = "check_labels"
    RECORD_SUCCESSES = "record_successes"
    MORE_ROLLOUTS = "more_rollouts"
    LONGER_CLOCK = "longer_clock"
    MORE_EFFORT = "more_effort"
    WATCH = "watch"
    COMPARE = "compare"


@dataclass(frozen=True)
class NextStep:
    """One thing to do; `command` can be copied into a terminal, and is empty where there is none.

    `number` counts what the kind is about: rollouts for a success rate within 10 points, steps of
    a longer clock. `for_trust` are rollouts after which one could tell whether values know
    anything. `episodes` are ids, the first to look at first, `frame` where to look in that one.
    """

    kind: StepKind
    number: int | None = None
    for_trust: int | None = None
    episodes: tuple[str, ...] = ()
    frame: int | None = None
    command: str = ""


def next_steps(run: "Run") -> tuple[NextStep, ...]:
    """The most useful first: what stands in the way of an answer, then what refines it."""
    found = [
        _check_labels(run),
        _record_successes(run),
        _more_rollouts(run),
        _longer_clock(run),
        _more_effort(run),
        _watch(run),
        _compare(run),
    ]
    return tuple(step for step in found if step is not None)[:MOST_STEPS]


def _check_labels(run: "Run") -> NextStep | None:
    """Labels that good values contradict; where values are none, all of a few."""
    doubted = run.trust.grade not in (Grade.GOOD, Grade.FAIR)
    if doubted and len(run.episodes) <= FEW_EPISODES:
        ids = tuple(episode.id for episode in run.episodes)
        return NextStep(StepKind.CHECK_LABELS, episodes=ids, command=_command("view", run))
    ids = () if doubted else contradicted(run)
    if not ids:
        return None
    return NextStep(StepKind.CHECK_LABELS, episodes=ids, command=_command("audit", run))


def contradicted(run: "Run") -> tuple[str, ...]:
    """Episodes whose label is quite likely wrong, as the audit has it; the surest first."""
    found = label_findings(run, looked_at(run).doubts, least=_CONTRADICTED)
    return tuple(one.episode for one in sorted(found, key=lambda one: -one.sure))


def _record_successes(run: "Run") -> NextStep | None:
    if run.scores.policy.success.count:
        return None
    return NextStep(StepKind.RECORD_SUCCESSES, command=_made_by(run))


def _more_rollouts(run: "Run") -> NextStep | None:
    """Until the rate is known within 10 points, and until values can be checked where they were
    not."""
    success = run.scores.policy.success
    for_rate = rollouts_for_rate(success)
    is_checked = run.trust.grade in (Grade.GOOD, Grade.FAIR, Grade.CONTRADICTED)
    for_trust = None if is_checked else rollouts_for_trust(run.trust, success)
    # Values that need so many more are nearly a coin: better ones are wanted, not more rollouts.
    if for_trust is not None and for_trust > MANY_TIMES * success.total:
        for_trust = None
    if not for_rate and not for_trust:
        return None
    return NextStep(
        StepKind.MORE_ROLLOUTS,
        number=for_rate or None,
        for_trust=for_trust or None,
        command=_made_by(run),
    )


def _longer_clock(run: "Run") -> NextStep | None:
    """Where a good part of the episodes is expected, or was measured, to succeed with more time."""
    answer, policy = run.time_outs, run.scores.policy
    if answer.saying not in (Saying.EXPECTED, Saying.MEASURED) or answer.share.value is None:
        return None
    number = answer.share.value * policy.num_time_out
    if round(number) < 1 or number < _WORTH_WAITING * policy.success.total:
        return None
    longest = max(one.num_steps for one in policy.more_time.late)
    command = _command("episodes", run, outcome="time_out", sort="chance")
    return NextStep(StepKind.LONGER_CLOCK, number=2 * longest, command=command)


def _more_effort(run: "Run") -> NextStep | None:
    """Where a first look could not tell, a longer one may."""
    evaluation = run.settings.evaluation
    # Of values of another run nothing was trained here: an effort would be refused.
    is_quick = evaluation.effort == "quick" and not evaluation.values_from
    if run.trust.grade not in (Grade.WEAK, Grade.NONE) or not is_quick:
        return None
    if not run.settings.made_by.command:
        return None
    words = shlex.split(_made_by(run))
    if not words:
        return NextStep(StepKind.MORE_EFFORT)
    with speaking_of_flags():
        flag, longer = shlex.split(argument("effort", "normal"))
    if flag in words:
        at = words.index(flag)
        words = words[:at] + words[at + 2 :]
    return NextStep(StepKind.MORE_EFFORT, command=shlex.join([*words, flag, longer]))


def _watch(run: "Run") -> NextStep | None:
    watched, succeeded = run.scores.policy.watch_first, run.scores.policy.success.count
    # Values that saw no success cannot say where to look.
    if not watched or not succeeded:
        return None
    ids = tuple(run.episodes[one.episode].id for one in watched)
    return NextStep(
        StepKind.WATCH, episodes=ids, frame=watched[0].frame, command=_command("view", run)
    )


def _compare(run: "Run") -> NextStep | None:
    return NextStep(StepKind.COMPARE, command=f"{_command('compare', run)} OTHER_RUN")


def _made_by(run: "Run") -> str:
    """The line of a shell that made the run, to be typed again; none where Python was called."""
    given = run.settings.made_by.command
    return given if given.startswith("goalward ") else ""


def _command(verb: str, run: "Run", **options: str) -> str:
    return command_line(verb, run.folder.path, **options)

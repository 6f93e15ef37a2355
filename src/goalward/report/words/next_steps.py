"""What to do now, in words: one sentence for each step that follows from a run."""

from goalward.errors import argument
from goalward.metrics.time_out_answer import Saying
from goalward.report.words.blocks import (
    Block,
    Bullets,
    Spans,
    code,
    em,
    listed,
    spans,
    strong,
)
from goalward.rollouts.episode import Outcome
from goalward.rollouts.findings import counted
from goalward.runs.next_steps import NextStep, StepKind
from goalward.runs.run import Run

_MOST_NAMED = 5


def next_step_words(step: NextStep, run: Run) -> Spans:
    """What to do, and what it is good for."""
    match step.kind:
        case StepKind.CHECK_LABELS:
            return _labels_words(step, run)
        case StepKind.RECORD_SUCCESSES:
            return spans(
                strong("Add rollouts that succeed"),
                ": nothing succeeded here, and values learn from successes. Demonstrations count.",
            )
        case StepKind.MORE_ROLLOUTS:
            return _rollouts_words(step, run)
        case StepKind.LONGER_CLOCK:
            return spans(
                strong(f"Let the policy run for {step.number:,} steps"),
                f", twice its clock, in some rollouts: {_late_words(run)}.",
            )
        case StepKind.MORE_EFFORT:
            return spans(
                strong("Train for longer"),
                ": this was a first look (",
                code(argument("effort", "quick")),
                "), and its values are not good enough to rely on.",
            )
        case StepKind.WATCH:
            return spans(
                strong(f"Watch {counted(step.episodes)}"),
                " with the largest setbacks, the longest stalls and the nearest misses: ",
                _named(step),
                ".",
            )
        case StepKind.COMPARE:
            return spans(strong("Compare"), " with another policy or checkpoint.")


def _labels_words(step: NextStep, run: Run) -> Spans:
    if len(step.episodes) == len(run.episodes):
        return spans(
            strong(f"Look through all {counted(step.episodes)}"),
            ": with so few, one wrong label changes everything, and the values cannot find it.",
        )
    if len(step.episodes) == 1:
        return spans(
            strong("Check the label"),
            " of episode ",
            em(step.episodes[0]),
            _against_its_label(step, run),
        )
    return spans(
        strong(f"Check the labels of {counted(step.episodes)}"),
        ", which say the contrary of what the values see there: ",
        _named(step),
        ".",
    )


def _against_its_label(step: NextStep, run: Run) -> str:
    """What the label of a step's one episode says, and what the values see instead."""
    outcome = next(one.outcome for one in run.episodes if one.id == step.episodes[0])
    if outcome is Outcome.SUCCESS:
        return ": it is labelled a success, but to the values it never came near the goal."
    return f": it is labelled a {outcome.replace('_', '-')}, but to the values it looks done."


def _late_words(run: Run) -> str:
    """How many time-outs more time is good for: as many as the answer says, and no more."""
    answer, num_late = run.time_outs, run.scores.policy.num_time_out
    number = round((answer.share.value or 0.0) * num_late)
    if answer.saying is Saying.MEASURED:
        return f"in a simulator so much time let about {number} of {num_late} time-outs succeed"
    return f"about {number} of the {num_late} time-outs are expected to succeed then"


def _rollouts_words(step: NextStep, run: Run) -> Spans:
    """The larger number first: the smaller one is on its way."""
    wanted = [
        (step.number, "for a success rate within 10 points either way"),
        (step.for_trust, "to tell whether the values know anything"),
    ]
    known = sorted(((n, what) for n, what in wanted if n is not None), key=lambda one: -one[0])
    (most, first), *rest = known
    told = "".join(f"; about {number:,} are enough {what}" for number, what in rest)
    return spans(
        strong(f"Record about {most:,} more rollouts"),
        f" {first}{told}, if the policy goes on like this.",
    )


def _named(step: NextStep) -> Spans:
    return listed([em(name) for name in step.episodes], _MOST_NAMED)


def next_blocks(run: Run) -> list[Block]:
    """The steps as a list; their commands stand on the page, which has room for them."""
    return [Bullets(tuple(next_step_words(step, run) for step in run.next_steps))]

"""The answer in words: how good the policy is, how sure that is, and what to look at first."""

from collections.abc import Sequence

from goalward.metrics.evaluation_scores import EvaluationScores
from goalward.metrics.policy_answers import Rate
from goalward.metrics.score import Interval
from goalward.metrics.scores.card import MEANINGS, CardRow
from goalward.metrics.truth.card import TruthCard
from goalward.report.words.tables import escaped_markdown
from goalward.report.words.truth import truth_lines, wrong_of_time_outs
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.findings import counted, some_of
from goalward.values.events import EventKind

# The AUROC of values that know nothing.
_CHANCE = 0.5
_EVENT_WORDS = (
    (EventKind.SETBACK, "setback", "setbacks"),
    (EventKind.RECOVERY, "recovery", "recoveries"),
    (EventKind.STALL, "stall", "stalls"),
    (EventKind.NO_RETURN, "point of no return", "points of no return"),
)
_SHOWN = ("success", "failure", "composite", "composite_at_threshold", "frame_auroc", "spearman")


def summary(
    scores: EvaluationScores, rollouts: Rollouts, policy: str, truth: TruthCard | None = None
) -> str:
    """The summary of an evaluation in Markdown."""
    against_truth = (
        [] if truth is None else ["## How far the values are from the truth", *truth_lines(truth)]
    )
    parts = [
        f"# {escaped_markdown(policy)}",
        *_policy_lines(scores, rollouts, truth),
        "## Watch these first",
        *_watch_lines(scores, rollouts),
        "## How far the values can be trusted",
        *_trust_lines(scores),
        *against_truth,
        "## How it was done",
        *_method_lines(scores, rollouts),
    ]
    return "\n\n".join(parts) + "\n"


def percent(value: float | None) -> str:
    """
    >>> percent(0.4567), percent(None)
    ('46 %', 'unknown')
    """
    return "unknown" if value is None else f"{100 * value:.0f} %"


def _span(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return f"no interval: {interval.reason}"
    return (
        f"{100 * interval.level:.0f} % interval {percent(interval.low)} to {percent(interval.high)}"
    )


def _rate(rate: Rate) -> str:
    return f"{percent(rate.value)} ({rate.count} of {rate.total}; {_span(rate.interval)})"


def _policy_lines(
    scores: EvaluationScores, rollouts: Rollouts, truth: TruthCard | None
) -> list[str]:
    policy = scores.policy
    lines = [f"**Success rate** {_rate(policy.success)}."]
    ended = f"{policy.num_time_out} timed out, {policy.num_failure} failed early."
    lines[0] += f" {ended[0].upper()}{ended[1:]}"
    if rollouts.left_out:
        lines[0] += f" Not counted: {counted(rollouts.left_out)} that could not be trusted (below)."
    if policy.steps.median.value is None:
        lines.append(f"**Steps to success** are not known: {policy.steps.median.reason}.")
    else:
        lines.append(
            f"**Steps to success**: half of the successes took {policy.steps.median.value:.0f} or "
            f"fewer, the middle half {policy.steps.quarter.value:.0f} to "
            f"{policy.steps.three_quarters.value:.0f}."
        )
    lines += _time_out_lines(scores, rollouts, truth)
    if len(rollouts.tasks) > 1:
        lines.append(
            f"The episodes attempt {len(rollouts.tasks)} tasks; the rates are over all of them. "
            "Every task has value functions of its own."
        )
    return lines


def _time_out_lines(
    scores: EvaluationScores, rollouts: Rollouts, truth: TruthCard | None
) -> list[str]:
    policy = scores.policy
    if policy.num_time_out == 0:
        return ["No episode timed out, so more time would change nothing."]
    if policy.success.count == 0:
        return [
            "No episode succeeded: no value can say whether those that timed out were on their way."
        ]
    late = policy.time_outs
    if late.on_their_way.total == 0:
        return ["No timed-out episode was held out; more episodes or `--folds` would help."]
    stuck = late.on_their_way.total - late.on_their_way.count
    lines = [
        f"**Timed-out episodes**: of {late.on_their_way.total} held out, the value calls "
        f"{late.on_their_way.count} *on their way* (at most {scores.standard_horizon} steps to go "
        f"at the end) and {stuck} *stuck*; share on their way {_rate(late.on_their_way)}."
        + _named_time_outs(scores, rollouts)
    ]
    doubt = doubt_of_values(scores, truth)
    more = policy.more_time
    if more.value.value is not None:
        lines.append(
            f"**With twice the time** the success rate would be about {percent(more.value.value)} "
            f"({_span(more.interval)}, if the values are right): {late.in_time.count} of "
            f"{late.in_time.total} look no further than {scores.time_limit} more steps from the "
            "goal."
        )
    if doubt:
        lines.append(doubt)
    return lines


def _named_time_outs(scores: EvaluationScores, rollouts: Rollouts) -> str:
    """Which of them are on their way and which stuck, nearest first."""
    late = scores.policy.time_outs
    ends = sorted(zip(late.steps_to_go, late.episodes, strict=True))
    kinds = {
        "On their way": [i for steps, i in ends if steps <= scores.standard_horizon],
        "Stuck": [i for steps, i in ends if steps > scores.standard_horizon],
    }
    return "".join(
        f" {kind}: {some_of([escaped_markdown(rollouts[i].id) for i in positions], most=10)}."
        for kind, positions in kinds.items()
        if positions
    )


def doubt_of_values(scores: EvaluationScores, truth: TruthCard | None = None) -> str:
    """Why nobody should rely on what the values say of time-outs; empty if they may.

    Values that cannot be shown to tell successes from other episodes say nothing of the future of
    a time-out, however small their interval. Nor should values that the truth contradicts.
    """
    first = scores.methods[0]
    row = scores.cards[first]["frame_auroc"]
    mean, interval = row.over_seeds.mean, row.interval
    if mean.value is None:
        why = f"that cannot be checked ({mean.reason} among the held-out episodes)"
    elif interval.low is None:
        why = f"that cannot be checked with {scores.num_held_out} held-out episodes"
    elif interval.low <= _CHANCE:
        why = (
            "on held-out episodes they may tell successes from the others no better than a coin "
            f"(AUROC {_row(row)}; a coin has 0.50)"
        )
    else:
        why = "" if truth is None else wrong_of_time_outs(truth, first)
    return f"**Do not rely on what the values of `{first}` say here**: {why}." if why else ""


def _watch_lines(scores: EvaluationScores, rollouts: Rollouts) -> list[str]:
    if scores.policy.success.count == 0:
        return ["No episode succeeded, so values cannot say where to look."]
    lines = [
        f"- episode {escaped_markdown(rollouts[found.episode].id)}, frame {found.frame} "
        f"({rollouts[found.episode].outcome}): {found.reason}"
        for found in scores.policy.watch_first
    ]
    return ["\n".join(lines) if lines else "No episode stands out.", *_event_lines(scores)]


def _event_lines(scores: EvaluationScores) -> list[str]:
    """How many events there are of each kind; nothing where there are none but goals."""
    found = [event.kind for events in scores.policy.events for event in events]
    told = [
        f"{found.count(kind)} {words if found.count(kind) == 1 else plural}"
        for kind, words, plural in _EVENT_WORDS
        if kind in found
    ]
    if not told:
        return []
    return [f"In all episodes `{scores.methods[0]}` sees {some_of(told)} (`events.csv`)."]


def _trust_lines(scores: EvaluationScores) -> list[str]:
    """The scores of the first method, in words, and which methods differ from it."""
    first = scores.methods[0]
    card = scores.cards[first]
    lines = [f"Scores of `{first}` on {_episodes(scores.num_held_out)} held out:"]
    lines.append("\n".join(f"- {name}: {_row(card[name])}; {MEANINGS[name]}" for name in _SHOWN))
    if len(scores.methods) > 1:
        lines.append(_comparison(scores, first))
    if scores.one_sided_tasks:
        names = some_of([f"*{escaped_markdown(task)}*" for task in scores.one_sided_tasks], most=3)
        lines.append(
            f"The episodes learned from are all successes or all not in "
            f"{counted(scores.one_sided_tasks, 'task')} ({names}): there the values have nothing "
            "to tell apart."
        )
    return lines


def _row(row: CardRow) -> str:
    mean = row.over_seeds.mean
    if mean.value is None:
        return f"not defined ({mean.reason})"
    interval = row.interval
    if interval.low is None or interval.high is None:
        return f"{mean.value:.2f} (no interval: {interval.reason})"
    return f"{mean.value:.2f} ({interval.low:.2f} to {interval.high:.2f})"


def _comparison(scores: EvaluationScores, first: str) -> str:
    test = scores.tests.get("composite")
    if test is None:
        return (
            "The methods are not compared: that takes at least two seeds, and held-out episodes "
            "with success and without."
        )
    better: list[str] = []
    worse: list[str] = []
    unclear: list[str] = []
    mine = scores.cards[first]["composite"].over_seeds.mean.value or 0.0
    for method in scores.methods[1:]:
        other = scores.cards[method]["composite"].over_seeds.mean.value or 0.0
        if not test.pair(first, method).differs:
            unclear.append(method)
        elif other > mine:
            better.append(method)
        else:
            worse.append(method)
    found = [
        f"{words} {some_of(names)}"
        for names, words in (
            (worse, "better than"),
            (better, "worse than"),
            (unclear, "not told apart from"),
        )
        if names
    ]
    return (
        f"By the composite metric `{first}` is {'; '.join(found)} (Welch tests over "
        f"{scores.num_seeds} seeds, Benjamini-Hochberg). Which method is nearer the truth is "
        "another question: scores against outcomes cannot see it."
    )


def _method_lines(scores: EvaluationScores, rollouts: Rollouts) -> Sequence[str]:
    features = escaped_markdown(rollouts.feature_layout) or "features that were given"
    lines = [
        f"{counted(rollouts)}, {rollouts.num_frames:,} frames; {features}. Methods "
        f"{', '.join(scores.methods)}, {scores.num_seeds} seeds each; "
        f"{_episodes(scores.num_held_out)} held out. The standard horizon is "
        f"{scores.standard_horizon} steps, the longest episode has {scores.time_limit}."
    ]
    if rollouts.left_out:
        left = [
            f"- episode {escaped_markdown(left.episode_id)}: {escaped_markdown(left.reason)}"
            for left in rollouts.left_out
        ]
        lines.append("\n".join(["Left out because they could not be trusted:", "", *left]))
    if rollouts.warnings:
        lines.append(
            "\n".join(f"- warning: {escaped_markdown(text)}" for text in rollouts.warnings)
        )
    return lines


def _episodes(count: int) -> str:
    return counted(range(count))

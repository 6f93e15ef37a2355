"""The answer in words: how good the policy is, how sure that is, and what to look at first."""

from collections.abc import Sequence

from goalward.errors import argument
from goalward.looks import EVENT_LOOKS
from goalward.metrics.more_time import ON_ITS_WAY_FROM, STUCK_UP_TO, Verdict
from goalward.metrics.policy_answers import Rate
from goalward.metrics.score import Interval
from goalward.metrics.scores.card import CardRow
from goalward.metrics.scores.table import scores_shown
from goalward.report.words.blocks import (
    Block,
    Bullets,
    Document,
    Paragraph,
    Section,
    Span,
    Spans,
    code,
    em,
    listed,
    paragraph,
    spans,
    strong,
)
from goalward.report.words.doubt import doubt_words
from goalward.report.words.rendering import markdown
from goalward.report.words.truth import truth_paragraphs
from goalward.rollouts.findings import counted, some_of
from goalward.runs.run import Run
from goalward.values.events import EventKind


def summary(run: Run) -> str:
    """The summary of a run in Markdown."""
    return markdown(summary_document(run))


def summary_document(run: Run) -> Document:
    """The summary of a run as blocks, for whoever shows it."""
    sections = [
        Section("", tuple(_policy_blocks(run)), "policy"),
        Section("Watch these first", tuple(_watch_blocks(run)), "watch"),
        Section("How far the values can be trusted", tuple(_trust_blocks(run)), "trust"),
    ]
    if run.truth is not None:
        title = "How far the values are from the truth"
        sections.append(Section(title, tuple(truth_paragraphs(run.truth)), "truth"))
    sections.append(Section("How it was done", tuple(_method_blocks(run)), "done"))
    return Document(run.policy, tuple(sections))


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


# ---- the policy ---------------------------------------------------------------------------------


def _policy_blocks(run: Run) -> list[Block]:
    policy, left_out = run.scores.policy, run.settings.data.left_out
    rate = f" {_rate(policy.success)}. {policy.num_time_out} timed out, "
    rate += f"{policy.num_failure} failed early."
    if left_out:
        rate += f" Not counted: {counted(left_out)} that could not be trusted (below)."
    blocks: list[Block] = [paragraph(strong("Success rate"), rate, role="answer")]
    steps = policy.steps
    if steps.median.value is None:
        told = f" are not known: {steps.median.reason}."
    else:
        told = (
            f": half of the successes took {steps.median.value:.0f} or fewer, the middle half "
            f"{steps.quarter.value:.0f} to {steps.three_quarters.value:.0f}."
        )
    blocks.append(paragraph(strong("Steps to success"), told, role="answer"))
    blocks += _time_out_blocks(run)
    tasks = {episode.task for episode in run.episodes}
    if len(tasks) > 1:
        blocks.append(
            paragraph(
                f"The episodes attempt {len(tasks)} tasks; the rates are over all of them. "
                "Every task has value functions of its own."
            )
        )
    return blocks


def silence_about_time_outs(run: Run) -> str:
    """Why there is nothing to say of timed-out episodes; empty if there is."""
    policy = run.scores.policy
    if policy.num_time_out == 0:
        return "No episode timed out, so more time would change nothing."
    if policy.success.count == 0:
        return (
            "No episode succeeded: nothing can say whether those that timed out were on their way."
        )
    if not policy.more_time.late:
        more = argument("folds")
        return f"No timed-out episode was held out; more episodes or {more} would help."
    return ""


def _time_out_blocks(run: Run) -> list[Block]:
    silence = silence_about_time_outs(run)
    if silence:
        return [paragraph(silence)]
    return [_twice_block(run), *_curve_blocks(run), _late_block(run), *doubt_paragraphs(run)]


def _twice_block(run: Run) -> Block:
    policy = run.scores.policy
    more, twice = policy.more_time, policy.more_time.twice
    share = twice.share.value or 0.0
    num_held_out = len(more.late)
    judged = ""
    if num_held_out < policy.num_time_out:
        judged = f", judged by the {num_held_out} that were held out"
    disagreeing = [
        spans(code(other.method), f" ({percent(other.share)})")
        for other in more.others
        if other.disagrees
    ]
    others = ()
    if disagreeing:
        others = (" Not so by ", listed(disagreeing), ": their share lies outside that interval.")
    return paragraph(
        strong("With twice the time"),
        f" about {percent(twice.rate.value)} ({_span(twice.rate_interval)}) are expected to "
        f"succeed: of the {policy.num_time_out} that timed out about "
        f"{share * policy.num_time_out:.0f} ({percent(share)}; {_span(twice.share_interval)}), "
        f"each given its own clock again{judged}.",
        *others,
        role="answer",
    )


_EXTRA_WORDS = {0.25: "a quarter more", 0.5: "half more", 2.0: "three times as much"}


def _curve_blocks(run: Run) -> list[Block]:
    """Other amounts of time in one line."""
    told = [
        f"{percent(found.rate.value)} with {_EXTRA_WORDS[found.extra]}"
        for found in run.scores.policy.more_time.curve
        if found.extra in _EXTRA_WORDS
    ]
    ever = run.scores.policy.more_time.curve[-1]
    told.append(f"{percent(ever.rate.value)} ({_span(ever.rate_interval)}) without a clock")
    return [paragraph(f"With other amounts of time: {', '.join(told)}.")]


def _late_block(run: Run) -> Block:
    """How many time-outs have which verdict, and their names; the best chance first."""
    ids = late_ids(run)
    counts = {verdict: len(found) for verdict, found in ids.items()}
    return paragraph(
        strong("Timed-out episodes"),
        f": of {sum(counts.values())} held out, {counts[Verdict.ON_ITS_WAY]} ",
        em("on their way"),
        f" (a chance of at least {percent(ON_ITS_WAY_FROM)} with their own clock again), "
        f"{counts[Verdict.STUCK]} ",
        em("stuck"),
        f" (at most {percent(STUCK_UP_TO)}); {counts[Verdict.CANNOT_TELL]} in between, of which "
        "nobody can tell.",
        *(
            f" {words}: {some_of(ids[verdict], most=10)}."
            for verdict, words in _NAMED.items()
            if ids[verdict]
        ),
        role="answer",
    )


_NAMED = {Verdict.ON_ITS_WAY: "On their way", Verdict.STUCK: "Stuck"}


def late_ids(run: Run) -> dict[Verdict, list[str]]:
    """Ids of the held-out time-outs by verdict, the best chance first."""
    more = run.scores.policy.more_time
    return {
        verdict: [run.episodes[one.episode].id for one in more.called(verdict)]
        for verdict in Verdict
    }


def doubt_paragraphs(run: Run) -> list[Paragraph]:
    """What the values say and should not be relied on for."""
    return [Paragraph(doubt_words(doubt), role="doubt") for doubt in run.doubts]


# ---- where to look ------------------------------------------------------------------------------


def _watch_blocks(run: Run) -> list[Block]:
    if run.scores.policy.success.count == 0:
        return [paragraph("No episode succeeded, so values cannot say where to look.")]
    items = tuple(
        spans(
            f"episode {run.episodes[found.episode].id}, frame {found.frame} "
            f"({run.episodes[found.episode].outcome}): {found.reason}"
        )
        for found in run.scores.policy.watch_first
    )
    first = Bullets(items) if items else paragraph("No episode stands out.")
    return [first, *_event_blocks(run)]


def _event_blocks(run: Run) -> list[Block]:
    """How many events there are of each kind; nothing where there are none but goals."""
    found: list[str] = [event.kind for events in run.events.values() for event in events]
    told = [
        f"{found.count(kind)} {look.word if found.count(kind) == 1 else look.plural}"
        for kind, look in EVENT_LOOKS.items()
        if kind in found and kind != EventKind.GOAL
    ]
    if not told:
        return []
    events = code(run.folder.events.name)
    return [
        paragraph("In all episodes ", code(run.method), f" sees {some_of(told)} (", events, ").")
    ]


# ---- trust --------------------------------------------------------------------------------------


def _trust_blocks(run: Run) -> list[Block]:
    """The scores of the first method, in words, and which methods differ from it."""
    scores, card = run.scores, run.scores.cards[run.method]
    held_out = counted(range(scores.num_held_out))
    blocks: list[Block] = [
        paragraph("Scores of ", code(run.method), f" on {held_out} held out:"),
        Bullets(
            tuple(
                spans(f"{kind.shown}: {row_words(card[name])}; {kind.meaning}")
                for name, kind in scores_shown("summary").items()
            )
        ),
    ]
    if len(scores.methods) > 1:
        blocks.append(Paragraph(_comparison(run)))
    if scores.one_sided_tasks:
        names = listed([em(task) for task in scores.one_sided_tasks], most=3)
        blocks.append(
            paragraph(
                "The episodes learned from are all successes or all not in "
                f"{counted(scores.one_sided_tasks, 'task')} (",
                names,
                "): there the values have nothing to tell apart.",
            )
        )
    return blocks


def row_words(row: CardRow) -> str:
    """A score with its interval, or why there is none."""
    mean, interval = row.over_seeds.mean, row.interval
    if mean.value is None:
        return f"not defined ({mean.reason})"
    if interval.low is None or interval.high is None:
        return f"{mean.value:.2f} (no interval: {interval.reason})"
    return f"{mean.value:.2f} ({interval.low:.2f} to {interval.high:.2f})"


def _comparison(run: Run) -> Spans:
    scores, first = run.scores, run.method
    test = scores.tests.get("composite")
    if test is None:
        return spans(
            "The methods are not compared: that takes at least two seeds, and held-out episodes "
            "with success and without."
        )

    def mean(method: str) -> float:
        return scores.cards[method]["composite"].over_seeds.mean.value or 0.0

    kinds: dict[str, list[str]] = {"better than": [], "worse than": [], "not told apart from": []}
    for method in scores.methods[1:]:
        differs = test.pair(first, method).differs
        is_above = "worse than" if mean(method) > mean(first) else "better than"
        kinds[is_above if differs else "not told apart from"].append(method)
    found = "; ".join(f"{words} {some_of(names)}" for words, names in kinds.items() if names)
    return spans(
        "By the composite metric ",
        code(first),
        f" is {found} (Welch tests over {scores.num_seeds} seeds, Benjamini-Hochberg). Which "
        "method is nearer the truth is another question: scores against outcomes cannot see it.",
    )


# ---- how it was done ----------------------------------------------------------------------------


def _method_blocks(run: Run) -> Sequence[Block]:
    scores, data = run.scores, run.settings.data
    features = data.features or "features that were given"
    blocks: list[Block] = [
        paragraph(
            f"{counted(run.episodes)}, {run.values.num_frames:,} frames; {features}. Methods "
            f"{', '.join(scores.methods)}, {scores.num_seeds} seeds each; "
            f"{counted(range(scores.num_held_out))} held out. The standard horizon is "
            f"{scores.standard_horizon} steps, the longest episode has {scores.time_limit}."
        )
    ]
    if data.left_out:
        blocks.append(paragraph("Left out because they could not be trusted:"))
        blocks.append(
            Bullets(
                tuple(spans(f"episode {left.episode_id}: {left.reason}") for left in data.left_out)
            )
        )
    if data.warnings:
        blocks.append(Bullets(tuple((Span(f"warning: {text}"),) for text in data.warnings)))
    return blocks

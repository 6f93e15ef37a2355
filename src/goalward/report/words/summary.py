"""The answer in words: how good the policy is, how sure that is, and what to look at first."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from goalward.looks import EVENT_LOOKS
from goalward.metrics.scores.card import CardRow
from goalward.metrics.scores.table import ScoreKind, scores_shown
from goalward.metrics.trust import caution_words, trust_words
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
from goalward.report.words.familiarity import familiarity_paragraphs
from goalward.report.words.hindsight import hindsight_paragraph
from goalward.report.words.next_steps import next_blocks
from goalward.report.words.rendering import markdown
from goalward.report.words.shares import percent, rate_words
from goalward.report.words.tasks import shown_task, task_section, value_functions_words
from goalward.report.words.time_outs import time_out_blocks
from goalward.report.words.trust import TRUST_TITLE, trust_answer
from goalward.report.words.truth import truth_paragraphs
from goalward.rollouts.findings import counted, some_of
from goalward.runs.folder.stored import as_run
from goalward.runs.run import Run
from goalward.values.events import EventKind


def summary(run: Run | str | Path) -> str:
    """The summary of a run, or of the one in a folder, in Markdown."""
    return markdown(summary_document(as_run(run)))


def summary_document(run: Run) -> Document:
    """The summary of a run as blocks, for whoever shows it."""
    by_task = task_section(run)
    sections = [
        Section("", tuple(_policy_blocks(run)), "policy"),
        Section("Next", tuple(next_blocks(run)), "next"),
        *([] if by_task is None else [by_task]),
        Section("Watch these first", tuple(_watch_blocks(run)), "watch"),
        Section("How far the values can be trusted", tuple(_trust_blocks(run)), "trust"),
    ]
    if run.truth is not None:
        title = "How far the values are from the truth"
        sections.append(Section(title, tuple(truth_paragraphs(run.truth)), "truth"))
    sections.append(Section("How it was done", tuple(_method_blocks(run)), "done"))
    return Document(run.policy, tuple(sections))


# ---- the policy ---------------------------------------------------------------------------------


def _policy_blocks(run: Run) -> list[Block]:
    policy, left_out = run.scores.policy, run.settings.data.left_out
    rate = f" {rate_words(policy.success)}. {policy.num_time_out} timed out, "
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
    blocks += [*time_out_blocks(run), _trust_paragraph(run)]
    tasks = {episode.task for episode in run.episodes}
    if len(tasks) > 1:
        blocks.append(
            paragraph(
                f"The episodes attempt {len(tasks)} tasks; the rates are over all of them. "
                f"{value_functions_words(run)}"
            )
        )
    return blocks


def _trust_paragraph(run: Run) -> Paragraph:
    answer = trust_answer(run.trust, run.truth)
    return paragraph(strong(TRUST_TITLE), f" {answer.word}. {answer.why}", role="answer")


# ---- where to look ------------------------------------------------------------------------------


def _watch_blocks(run: Run) -> list[Block]:
    if run.scores.policy.success.count == 0:
        return [paragraph("No episode succeeded, so values cannot say where to look.")]
    items = tuple(
        spans(
            f"episode {run.episodes[found.episode].id}, frame {found.frame} "
            f"({run.episodes[found.episode].outcome.replace('_', '-')}): {found.reason}"
        )
        for found in run.scores.policy.watch_first
    )
    first = Bullets(items) if items else paragraph("No episode stands out.")
    caution = caution_words(run.trust)
    doubt = [paragraph(caution, role="caution")] if caution and items else []
    return [*doubt, first, *_event_blocks(run)]


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
        paragraph(strong(trust_words(run.trust))),
        *familiarity_paragraphs(run),
        paragraph("Scores of ", code(run.method), f" on {held_out} held out:"),
        _score_bullets(card, scores.standard_horizon),
    ]
    if len(scores.methods) > 1:
        blocks.append(Paragraph(_comparison(run)))
    if scores.one_sided_tasks:
        names = listed([em(shown_task(task)) for task in scores.one_sided_tasks], most=3)
        is_apart = run.settings.evaluation.per_task
        blocks.append(
            paragraph(
                "The episodes learned from are all successes or all not in "
                f"{counted(scores.one_sided_tasks, 'task')} (",
                names,
                "): there the values have nothing to tell apart."
                if is_apart
                else "): there the values rest on what other tasks show.",
            )
        )
    return blocks


def _score_bullets(card: Mapping[str, CardRow], horizon: int) -> Bullets:
    """Scores with what they mean; those without a number in a line for each reason, at the end."""
    shown = scores_shown("summary")
    items = [
        spans(
            f"{kind.plain_name}: {row_words(card[name], kind)}; "
            f"{kind.meaning_with(horizon)}{_no_skill(kind)}"
        )
        for name, kind in shown.items()
        if card[name].over_seeds.mean.defined
    ]
    unknown: dict[str, list[str]] = {}
    for name, kind in shown.items():
        mean = card[name].over_seeds.mean
        if not mean.defined:
            unknown.setdefault(mean.reason, []).append(kind.plain_name)
    items += [
        spans(f"not defined here ({reason}): {', '.join(names)}")
        for reason, names in unknown.items()
    ]
    return Bullets(tuple(items))


def row_words(row: CardRow, kind: ScoreKind) -> str:
    """A score with its interval, or why there is none."""
    mean, interval = row.over_seeds.mean, row.interval
    if mean.value is None:
        return f"not defined ({mean.reason})"
    told = percent if kind.is_percent else "{:.2f}".format
    if interval.low is None or interval.high is None:
        return f"{told(mean.value)} (no interval: {interval.reason})"
    return f"{told(mean.value)} ({told(interval.low)} to {told(interval.high)})"


def _no_skill(kind: ScoreKind) -> str:
    """What the same is for who knows nothing."""
    if kind.no_skill is None:
        return ""
    known_nothing = percent(kind.no_skill) if kind.is_percent else f"{kind.no_skill:.2f}"
    return f"; no skill: {known_nothing}"


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
        "By goals seen as near and other episodes seen as far together ",
        code(first),
        f" is {found} (Welch tests over {scores.num_seeds} seeds, Benjamini-Hochberg). Which "
        "method is nearer the truth is another question: scores against outcomes cannot see it.",
    )


# ---- how it was done ----------------------------------------------------------------------------


def methods_words(run: Run) -> str:
    """Which methods, and how often each was trained."""
    scores = run.scores
    each = " each" if len(scores.methods) > 1 else ""
    return f"{', '.join(scores.methods)}, {counted(range(scores.num_seeds), 'seed')}{each}"


def _method_blocks(run: Run) -> Sequence[Block]:
    scores, data = run.scores, run.settings.data
    features = data.features or "features that were given"
    blocks: list[Block] = [
        paragraph(
            f"{counted(run.episodes)}, {run.values.num_frames:,} frames; {features}. "
            f"{'Method' if len(scores.methods) == 1 else 'Methods'}: {methods_words(run)}; "
            f"{counted(range(scores.num_held_out))} held out. The standard horizon is "
            f"{scores.standard_horizon} steps, the longest episode has {scores.time_limit}."
        ),
        hindsight_paragraph(run.hindsight),
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

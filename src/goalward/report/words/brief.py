"""The answer on one screen of a terminal: the rate, whether to rely on the values, what to do."""

from goalward.metrics.time_out_answer import Saying
from goalward.report.words.blocks import (
    Bullets,
    Document,
    Section,
    Span,
    Spans,
    shortened,
    spans,
    strong,
)
from goalward.report.words.next_steps import next_step_words
from goalward.report.words.shares import percent, rate_words, span_words
from goalward.report.words.time_outs import (
    POLICY_LEARNED_FROM,
    TWICE_TITLE,
    is_of_another_run,
    needed_words,
    silence_about_time_outs,
)
from goalward.report.words.trust import TRUST_TITLE, trust_answer
from goalward.runs.run import Run

# Longer names lose their middle: on a screen of 24 lines there is no room for them.
_LONGEST_NAME = 40


def brief_document(run: Run) -> Document:
    """What a summary begins with, in no more than 22 lines of 80 characters."""
    policy, trust = run.scores.policy, trust_answer(run.trust, run.truth)
    rate = f" {rate_words(policy.success)}. {policy.num_time_out} timed out, "
    rate += f"{policy.num_failure} failed early."
    answers = (
        spans(strong("Success rate"), rate),
        spans(strong(TWICE_TITLE), f": {_with_more_time(run)}"),
        spans(strong(TRUST_TITLE), f" {trust.word}. {trust.why}"),
    )
    steps = tuple(_shortened(next_step_words(step, run)) for step in run.next_steps)
    sections = [Section("", (Bullets(answers),), "policy")]
    if steps:
        sections.append(Section("Next", (Bullets(steps),), "next"))
    return Document(shortened(run.policy, _LONGEST_NAME), tuple(sections))


def _with_more_time(run: Run) -> str:
    answer, twice = run.time_outs, run.scores.policy.more_time.twice
    silence = silence_about_time_outs(run)
    if silence:
        return silence
    expected = (
        f"about {percent(twice.rate.value)} are expected to succeed "
        f"({span_words(twice.rate_interval)})"
    )
    match answer.saying:
        case Saying.EXPECTED if is_of_another_run(run):
            return f"{expected}, {POLICY_LEARNED_FROM}; a hint, no more."
        case Saying.EXPECTED:
            return f"{expected}."
        case Saying.HINT:
            return f"cannot tell yet. {needed_words(run)}"
        case Saying.MEASURED:
            return (
                f"{percent(answer.share.value)} of the time-outs succeed "
                f"({span_words(answer.share_interval)}), as a simulator measured."
            )
        case Saying.CANNOT_TELL | Saying.NO_QUESTION:
            return f"cannot tell. {needed_words(run)}"


def _shortened(words: Spans) -> Spans:
    """Names of episodes, which are the words in italics, at a length that fits."""
    return tuple(
        Span(shortened(one.text, _LONGEST_NAME), "em") if one.style == "em" else one
        for one in words
    )

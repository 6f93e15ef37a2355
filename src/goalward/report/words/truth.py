"""Which method is closest to the truth, and how sure that is, in words."""

from goalward.metrics.truth.card import TruthCard
from goalward.metrics.truth.clock_end import ClockEndTruth
from goalward.metrics.truth.errors import TruthError
from goalward.metrics.truth.known_frames import ALL
from goalward.report.words.blocks import (
    Paragraph,
    Spans,
    code,
    listed,
    paragraph,
    spans,
    strong,
)
from goalward.report.words.truth_table import shown_branches, shown_group
from goalward.rollouts.episode import Outcome
from goalward.rollouts.findings import counted


def truth_paragraphs(card: TruthCard) -> list[Paragraph]:
    """What was measured, who is closest, which way they err."""
    told = [_measured(card), _closest(card), _biases(card), _chances(card), *_more_time(card)]
    return [paragraph(words) for words in told]


def _measured(card: TruthCard) -> str:
    known = card.groups[ALL]
    return (
        f"A simulator was put back into {known.num_frames} frames of {known.num_episodes} held-out "
        f"episodes, and the policy ran on from each {shown_branches(card)} times, for up to "
        f"{card.cap} steps. The true value of a frame is the mean over these futures, on the scale "
        "of the values: -1 is at the goal, 1 is never (1 - 2 g^K with K steps to go, "
        f"g = {card.discount:.4g})."
    )


def _closest(card: TruthCard) -> Spans:
    best, *others = card.closest()
    size = f"off by {_size(card.methods[best].by_group[ALL].value.absolute)} on average"
    noise = card.groups[ALL].noise.value
    if noise is not None:
        size += f"; a perfect prediction would show {noise:.2f}, as the futures are a sample"
    if not others:
        return spans("The values of ", code(best), f" are {size}.")
    told = spans(code(best), " is ", strong("closest to the truth"), f": its values are {size}.")
    pairs = {other: card.tests[ALL].pair(best, other) for other in others}
    untested = [pair.reason for pair in pairs.values() if pair.p_value is None]
    if len(untested) == len(pairs):
        unknown = " Whether it really is nearer than the others is not known: "
        return spans(told, f"{unknown}{untested[0]}.")
    nearer = [name for name, pair in pairs.items() if pair.differs]
    unclear = [name for name, pair in pairs.items() if not pair.differs]
    parts = [
        spans(words, _with_errors(card, names))
        for words, names in (("nearer than ", nearer), ("not told apart from ", unclear))
        if names
    ]
    both = spans(parts[0], ", and ", parts[1]) if len(parts) == 2 else parts[0]
    tests = " (paired tests over episodes, Benjamini-Hochberg)."
    return spans(told, " It is ", both, tests)


def _with_errors(card: TruthCard, names: list[str]) -> Spans:
    errors = {name: card.methods[name].by_group[ALL].value.absolute.mean.value for name in names}
    return listed([spans(code(name), f" ({errors[name]:.2f})") for name in names])


def _size(error: TruthError) -> str:
    return f"{error.mean.value:.2f} ({_span(error)})"


def _span(error: TruthError) -> str:
    interval = error.interval
    if interval.low is None or interval.high is None:
        return f"no interval: {interval.reason}"
    return f"{100 * interval.level:.0f} % interval {interval.low:.2f} to {interval.high:.2f}"


def _biases(card: TruthCard) -> Spans:
    """Which way the closest method errs, on all frames and by outcome."""
    best = card.closest()[0]
    found = card.methods[best].by_group
    parts = [bias_words(found[ALL].value.bias, "on average")]
    parts += [
        bias_words(one.value.bias, f"in {_episodes(group)}")
        for group, one in found.items()
        if group != ALL
    ]
    return spans("The values of ", code(best), f" are {', '.join(parts)}.")


def _episodes(group: str) -> str:
    """
    >>> _episodes("success"), _episodes("time_out")
    ('successes', 'time-outs')
    """
    return "successes" if group == Outcome.SUCCESS else f"{shown_group(group)}s"


def bias_words(bias: TruthError, where: str) -> str:
    """Which way values err, if that is sure, and by how much."""
    mean = bias.mean.value or 0.0
    interval = bias.interval
    sure = interval.low is not None and interval.high is not None
    if sure and (interval.low or 0.0) <= 0 <= (interval.high or 0.0):
        return f"neither clearly too high nor clearly too low {where} ({mean:+.2f}; {_span(bias)})"
    word = "too pessimistic" if mean > 0 else "too optimistic"
    return f"{word} {where} ({mean:+.2f}; {_span(bias)})"


def _chances(card: TruthCard) -> Spans:
    """How good the chances are against single futures, and against one who does not look."""
    scores = {name: method.brier.value or 0.0 for name, method in card.methods.items()}
    told = [
        spans(code(name), f" {scores[name]:.3f}") for name in sorted(scores, key=scores.__getitem__)
    ]
    base = card.base_rate_brier.value or 0.0
    return spans(
        f"Chances of success within {card.standard_horizon} steps, against what these "
        "futures came to (Brier score, less is better): ",
        listed(told),
        f"; always saying the share that succeeds {base:.3f}.",
    )


def _more_time(card: TruthCard) -> list[str | Spans]:
    if card.clock_end is not None:
        return [_at_clock_end(card.clock_end)]
    late = card.groups.get(Outcome.TIME_OUT)
    if late is None or late.more_time_success.value is None:
        return []
    share, interval = late.more_time_success.value, late.more_time_interval
    span = (
        f"no interval: {interval.reason}"
        if interval.low is None or interval.high is None
        else f"{100 * interval.low:.0f} % to {100 * interval.high:.0f} %"
    )
    return [
        f"From frames of timed-out episodes {100 * share:.0f} % ({span}) of the futures reach the "
        f"goal within {card.cap} steps."
    ]


def _at_clock_end(late: ClockEndTruth) -> Spans:
    measured, interval = late.measured.value or 0.0, late.measured_interval
    span = (
        f"no interval: {interval.reason}"
        if interval.low is None or interval.high is None
        else f"{100 * interval.low:.0f} % to {100 * interval.high:.0f} %"
    )
    expected = [
        spans(code(name), f" {100 * (score.value or 0.0):.0f} %")
        for name, score in late.predicted.items()
    ]
    return spans(
        f"Of {counted(range(late.num_frames))} that timed out, put back to where the clock ran out "
        f"and given it again, {100 * measured:.0f} % ({span}) of the futures reach the goal. "
        "Expected: ",
        listed(expected),
        ".",
    )

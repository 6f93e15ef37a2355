"""Why nobody should rely on what the values say of time-outs, in words."""

from goalward.metrics.doubts import CHANCE, Doubt, DoubtKind, WrongShare
from goalward.metrics.score import Interval, Score
from goalward.report.words.blocks import Spans, code, spans, strong
from goalward.report.words.truth import bias_words


def doubt_words(doubt: Doubt) -> Spans:
    """One doubt as a sentence."""
    start, end = strong("Do not rely on what the values of"), strong("say here")
    if doubt.kind is DoubtKind.NO_SKILL and (doubt.auroc.value or 0.0) > CHANCE:
        # Better than a coin, but not for sure.
        start, end = strong("Take what the values of"), strong("say here as a hint")
    return spans(start, " ", code(doubt.method), " ", end, f": {_why(doubt)}.")


def _why(doubt: Doubt) -> str:
    match doubt.kind:
        case DoubtKind.NOT_DEFINED:
            return f"that cannot be checked ({doubt.auroc.reason} among the held-out episodes)"
        case DoubtKind.NO_INTERVAL:
            return (
                f"that cannot be checked with {doubt.num_held_out} held-out episodes "
                f"({doubt.auroc_interval.reason})"
            )
        case DoubtKind.NO_SKILL:
            return (
                "on held-out episodes they may tell successes from the others no better than a "
                f"coin (AUROC {_auroc(doubt.auroc, doubt.auroc_interval)}; a coin has {CHANCE:.2f})"
            )
        case DoubtKind.CONTRADICTED:
            told = [] if doubt.share is None else [_share(doubt.share)]
            if doubt.bias is not None:
                told.append(
                    f"the truth of some frames shows them {bias_words(doubt.bias, 'in time-outs')}"
                    f"{_futures(doubt.futures_at_goal)}"
                )
            return "; ".join(told)


def _share(share: WrongShare) -> str:
    if share.at_clock_end:
        where = "where the clock ran out, and given it again,"
    else:
        where = "from frames of time-outs"
    return (
        f"{where} {100 * share.measured:.0f} % ({_percents(share.measured_interval)}) of the true "
        f"futures reach the goal, where {100 * share.expected:.0f} % "
        f"({_percents(share.expected_interval)}) are expected"
    )


def _percents(interval: Interval) -> str:
    return f"{100 * (interval.low or 0.0):.0f} % to {100 * (interval.high or 0.0):.0f} %"


def _auroc(auroc: Score, interval: Interval) -> str:
    return f"{auroc.value:.2f} ({interval.low:.2f} to {interval.high:.2f})"


def _futures(share: Score | None) -> str:
    if share is None or share.value is None:
        return ""
    return f"; of the true futures {100 * share.value:.0f} % reach the goal"

"""What only some comparisons have, in words: checkpoints, partial credit, predictions, belief."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from goalward.metrics.comparing.result import Comparison
from goalward.metrics.comparing.special_results import (
    Checkpoints,
    PairScores,
    PosteriorComparison,
    PredictedComparison,
    ScoreComparison,
)
from goalward.report.words.blocks import Block, Section, paragraph, strong
from goalward.report.words.comparing.numbers import (
    p_words,
    percent,
    plain_p,
    points,
    score_words,
)
from goalward.report.words.comparing.tables import between, cells
from goalward.report.words.tables import Table

_Pair = TypeVar("_Pair")


def special_sections(comparison: Comparison, most_pairs: int | None = None) -> list[Section]:
    """A section for each question that this comparison can answer beyond success rates."""
    sections: list[Section] = []
    if comparison.checkpoints is not None:
        sections.append(
            Section("Checkpoints", checkpoint_blocks(comparison.checkpoints, comparison))
        )
    if comparison.scores is not None and not comparison.scores_only:
        verdicts, means = score_blocks(comparison.scores, comparison, most_pairs)
        sections.append(Section("Partial credit", (*verdicts, *means)))
    if comparison.predicted is not None:
        blocks = predicted_blocks(comparison.predicted, comparison, most_pairs)
        sections.append(Section("With unlabelled rollouts", blocks))
    if comparison.posterior is not None:
        blocks = posterior_blocks(comparison.posterior, comparison, most_pairs)
        sections.append(Section("How likely", blocks))
    return sections


def checkpoint_blocks(found: Checkpoints, comparison: Comparison) -> tuple[Block, ...]:
    """The best ones, the trend, where it got worse."""
    others = [name for name in found.as_good if name != found.best]
    sure = f"{100 * comparison.level:g} %"
    best, rest = f"The best checkpoint is {found.best}", f" All others are worse, at {sure}."
    if others:
        named = ", ".join(others[:8]) + (f" and {len(others) - 8} more" * (len(others) > 8))
        rest = f" All but these are worse, at {sure}." * (len(found.as_good) < len(found.order))
        highest = "mean score" if found.by_scores else "rate"
        best = f"{found.best} has the highest {highest}, and cannot be told from {named}"
    low, high = found.change_interval
    what = "mean scores" if found.by_scores else "rates"
    way = "no clear trend"
    if low > 0:
        way = f"{what} climb"
    elif high < 0:
        way = f"{what} fall"

    def by(change: float) -> str:
        return score_words(change) if found.by_scores else points(change, True)

    unit = "" if found.by_scores else " points"
    answers: list[Block] = [
        paragraph(
            strong(f"{best}."),
            rest,
            role="answer",
        ),
        paragraph(
            f"From {found.order[0]} to {found.order[-1]}: {way}, by {by(found.change)}{unit} "
            f"along a straight line ({by(low)} to {by(high)})."
        ),
    ]
    answers += [
        paragraph(
            f"{one.after} is worse than {one.before}, the one before it: "
            f"{by(one.difference)}{unit}, {plain_p(one.adjusted_p_value)} (Holm, over "
            "neighbours).",
            role="doubt",
        )
        for one in found.regressions
    ]
    if not found.regressions:
        answers.append(paragraph("No checkpoint is clearly worse than the one before it."))
    return tuple(answers)


def score_blocks(
    found: ScoreComparison, comparison: Comparison, most_pairs: int | None
) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    """Verdicts by mean scores, and the means."""
    answers = tuple(
        paragraph(strong(first), *others, role="answer")
        for first, *others in (
            _score_verdict(pair, comparison)
            for pair in _some(found.pairs, most_pairs, lambda pair: pair.adjusted_p_value)
        )
    )
    rows = [
        (one.policy, cells([one.letters, score_words(one.mean), between(one.interval, 1, 2)]))
        for one in sorted(found.policies, key=lambda one: -one.mean)
    ]
    tests = " or ".join(dict.fromkeys(pair.test for pair in found.pairs))
    head = ("letters", "mean score", f"{100 * comparison.level:g} % interval")
    return answers, (
        Table("policy", head, tuple(rows)),
        paragraph(f"Test: {tests}. Intervals: Gaffke; they assume no distribution of the scores."),
    )


def _score_verdict(pair: PairScores, comparison: Comparison) -> list[str]:
    best, rest = pair.second, pair.first
    means, (low, high) = (pair.second_mean, pair.first_mean), pair.interval
    if pair.difference < 0:
        best, rest, means, low, high = rest, best, means[::-1], -high, -low
    numbers = (
        f"mean score {score_words(means[0])} against {score_words(means[1])}, difference "
        f"{score_words(abs(pair.difference))} ({score_words(low)} to {score_words(high)}), "
        f"{p_words(pair.adjusted_p_value, comparison)}"
    )
    start = f"By scores, cannot tell {best} from {rest} yet"
    if pair.better is not None:
        start = f"By scores, {best} is better than {rest}"
    sentences = [f"{start}: {numbers}."]
    if pair.better is not None and pair.settled_at is None and pair.e_value is not None:
        wanted = len(comparison.pairs) / (1 - comparison.level)
        sentences.append(
            " That stands if the number of rollouts was fixed beforehand. For someone who looked "
            f"after every rollout it is not settled yet (e-value {pair.e_value:.3g}, {wanted:.0f} "
            "wanted)."
        )
    if pair.settled_at is not None:
        sentences.append(
            f" Looking after every rollout, it was settled for {pair.settled_for} after "
            f"{pair.settled_at} of each."
        )
        if pair.settled_for != best:
            sentences.append(
                f" But {best} is ahead over all: something changed while rollouts came in."
            )
    return sentences


def predicted_blocks(
    found: PredictedComparison, comparison: Comparison, most_pairs: int | None
) -> tuple[Block, ...]:
    """Rates and differences with the help of predictions, beside those of labels alone."""
    level = f"{100 * comparison.level:g} % interval"
    rows = [
        (
            one.policy,
            cells(
                [
                    f"{one.num_labelled}",
                    f"{one.num_unlabelled}",
                    f"{100 * one.rate:.1f} %",
                    between(one.interval, 100, 1),
                    between(one.labelled_interval, 100, 1),
                    f"{one.trust:.2f}",
                ]
            ),
        )
        for one in sorted(found.policies, key=lambda one: -one.rate)
    ]
    head = ("labelled", "unlabelled", "success", level, "by labels alone", "trust")
    answers: list[Block] = []
    for pair in _some(found.pairs, most_pairs, lambda pair: -abs(pair.difference)):
        best, rest, (low, high) = pair.second, pair.first, pair.interval
        if pair.difference < 0:
            best, rest, low, high = rest, best, -high, -low
        start = (
            f"{best} is better than {rest}"
            if pair.better
            else f"Cannot tell {best} from {rest} yet"
        )
        answers.append(
            paragraph(
                f"{start}, by labels and predictions: difference "
                f"{points(abs(pair.difference), True)} points ({points(low, True)} to "
                f"{points(high, True)}; this pair on its own).",
                role="answer",
            )
        )
    return (
        *answers,
        Table("policy", head, tuple(rows)),
        paragraph(
            "Prediction-powered: right however wrong predictions are, if the labelled rollouts "
            "were chosen at random and nobody who predicted had seen their labels. Trust is how "
            "far predictions were relied on, from 0 to 1. Raw rates, whatever the tasks."
            + f" Who is better allows for all {len(found.pairs)} pairs (Bonferroni)."
            * (len(found.pairs) > 1)
        ),
    )


def posterior_blocks(
    found: PosteriorComparison, comparison: Comparison, most_pairs: int | None
) -> tuple[Block, ...]:
    """Probabilities that one is better, with the prior that they rest on."""
    answers: list[Block] = []
    for pair in _some(found.pairs, most_pairs, lambda pair: -abs(pair.second_better - 0.5)):
        best, rest, chance = pair.second, pair.first, pair.second_better
        difference, (low, high) = pair.difference, pair.interval
        if chance < 0.5:
            best, rest, chance = rest, best, 1 - chance
            difference, low, high = -difference, -high, -low
        answers.append(
            paragraph(
                f"{best} is better than {rest} with a probability of {_chance(chance)}; by "
                f"{points(difference, True)} points ({points(low, True)} to {points(high, True)})."
            )
        )
    rows = [
        (one.policy, cells([percent(one.rate, True), between(one.interval, 100, 1)]))
        for one in sorted(found.policies, key=lambda one: -one.rate)
    ]
    head = ("believed rate", f"holds {100 * comparison.level:g} %")
    return (
        *answers,
        Table("policy", head, tuple(rows)),
        paragraph(
            f"Prior: {found.prior}. These probabilities do not allow for the number of policies, "
            "nor for looking until one is high: to decide, take the tests above."
        ),
    )


def _chance(chance: float) -> str:
    """
    >>> _chance(0.87654), _chance(0.99999)
    ('87.7 %', 'over 99.9 %')
    """
    return "over 99.9 %" if chance > 0.999 else f"{100 * chance:.1f} %"


def _some(
    pairs: Sequence[_Pair], most: int | None, telling: Callable[[_Pair], float]
) -> Sequence[_Pair]:
    """All pairs, or of very many those that tell most."""
    return pairs if most is None or len(pairs) <= most else sorted(pairs, key=telling)[:most]

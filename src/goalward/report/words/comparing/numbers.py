"""Numbers of a comparison as its sentences show them."""

from goalward.metrics.comparing.result import Comparison, PairComparison


def finely(pair: PairComparison, comparison: Comparison) -> bool:
    """Whether there are enough rollouts for tenths of a per cent to mean something."""
    named = (comparison.policy(pair.first), comparison.policy(pair.second))
    return min(policy.episodes for policy in named) >= 100


def percent(rate: float, fine: bool) -> str:
    return f"{100 * rate:.{int(fine)}f} %"


def points(difference: float, fine: bool) -> str:
    return signed(100 * difference, int(fine))


def signed(number: float, digits: int) -> str:
    text = f"{number:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "\u2212")


def p_words(p_value: float, comparison: Comparison) -> str:
    shown = f"p = {p_value:.3f}" if p_value < 0.1 else f"p = {p_value:.2f}"
    shown = "p < 0.001" if p_value < 0.001 else shown
    return shown if len(comparison.pairs) == 1 else f"{shown} (Holm)"


def about(number: int) -> str:
    """Two digits are all that such a number is good for.

    >>> about(1234), about(87)
    ('1,200', '87')
    """
    return f"{float(f'{number:.2g}'):,.0f}"


def plain_p(p_value: float) -> str:
    """A p-value in words, whatever it allows for."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


def score_words(score: float) -> str:
    """A mean score, between 0 and 1, or a difference of two."""
    return signed(score, 2)

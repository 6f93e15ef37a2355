"""A comparison in words: a document of verdicts in sentences and tables."""

from collections.abc import Sequence

from goalward.metrics.comparing.result import Comparison, Limits, PairComparison
from goalward.metrics.comparing.sample_size import MOST_ROLLOUTS
from goalward.report.words.blocks import Block, Document, Picture, Section, paragraph, strong
from goalward.report.words.tables import Cell, Table


def comparison_document(
    comparison: Comparison, *, picture: str | None = None, most_tasks: int | None = None
) -> Document:
    """Verdicts first, then the policies, the tasks and how they were compared.

    `picture` is the address of what `comparison_figure` drew; of many tasks the first `most_tasks`
    are listed.
    """
    answers: list[Block] = []
    if picture is not None:
        answers.append(Picture(picture, "success rates and steps"))
    for pair in comparison.pairs:
        first, *others = verdict(pair, comparison)
        rest = "".join(f" {sentence}" for sentence in others)
        answers.append(paragraph(strong(first), rest, role="answer"))
    policies = (paragraph("The same letter: cannot be told apart."), policy_table(comparison))
    sections = [Section("", tuple(answers)), Section("Policies", policies)]
    tasks = task_table(comparison, most_tasks)
    if tasks is not None:
        sections.append(Section("Tasks", (tasks,)))
    notes = [paragraph(f"Note: {note}") for note in comparison.notes]
    sections.append(Section("How", (paragraph(how(comparison)), *notes)))
    return Document("Comparison of policies", tuple(sections))


def verdict(pair: PairComparison, comparison: Comparison) -> list[str]:
    """What one pair of policies comes to, in sentences."""
    finely = _finely(pair, comparison)
    best, rest = pair.second, pair.first
    rates = pair.second_rate, pair.first_rate
    low, high = pair.interval
    if pair.difference < 0:
        best, rest, rates, low, high = rest, best, rates[::-1], -high, -low
    shown = (
        f"{_percent(rates[0], finely)} against {_percent(rates[1], finely)}, difference "
        f"{_points(abs(pair.difference), finely)} points ({_points(low, finely)} to "
        f"{_points(high, finely)}), {_p(pair.adjusted_p_value, comparison)}"
    )
    if pair.difference == 0:
        sentences = [_no_difference(pair, finely)]
    elif pair.better is not None:
        sentences = [f"{best} is better than {rest}: {shown}.", *_watched(pair)]
    else:
        sentences = [f"Cannot tell {best} from {rest} yet: {shown}.", *_more_rollouts(pair)]
    return sentences + _steps_sentence(pair, comparison)


def how(comparison: Comparison) -> str:
    """How episodes were compared: pairs, tests, intervals."""
    tests = " or ".join(dict.fromkeys(pair.test for pair in comparison.pairs))
    methods = " or ".join(dict.fromkeys(pair.interval_method for pair in comparison.pairs))
    start = "Not paired: episodes count as independent"
    if comparison.paired:
        start = f"Paired: {comparison.num_matched} initial states that all policies share"
    text = f"{start}. Test: {tests}. {100 * comparison.level:g} % intervals of differences: "
    text += f"{methods}, each pair on its own."
    if len(comparison.pairs) > 1:
        text += f" p-values: for all {len(comparison.pairs)} pairs at once, by Holm."
    return text


def policy_table(comparison: Comparison) -> Table:
    """A row per policy, the best first."""
    columns = ["letters", "success", f"{100 * comparison.level:g} % interval", "of"]
    with_steps = comparison.horizon is not None
    columns += [f"steps up to {comparison.horizon}", "interval"] * with_steps
    rows: list[tuple[str, tuple[Cell, ...]]] = []
    for policy in comparison.best_first:
        row = [
            policy.letters,
            f"{100 * policy.rate:.1f} %",
            _between(policy.rate_interval, 100, 1),
            f"{policy.successes} / {policy.episodes}",
        ]
        if with_steps:
            steps = policy.mean_steps
            row.append("" if steps is None else f"{steps:.0f}")
            row.append(_between(policy.mean_steps_interval, 1, 0))
        rows.append((policy.policy, _cells(row)))
    return Table("policy", tuple(columns), tuple(rows))


def task_table(comparison: Comparison, most: int | None = None) -> Table | None:
    """Successes of every policy by task; None where there is but one task."""
    tasks = list(dict.fromkeys(task for policy in comparison.policies for task in policy.tasks))
    if len(tasks) < 2:
        return None
    rows: list[tuple[str, tuple[Cell, ...]]] = []
    for task in tasks[:most]:
        counts = [policy.tasks.get(task) for policy in comparison.policies]
        rows.append((task, _cells(["-" if c is None else f"{c[0]} / {c[1]}" for c in counts])))
    left = len(tasks) - len(rows)
    notes = (f"and {left} more tasks (the JSON lists all)",) if left else ()
    return Table("task", tuple(p.policy for p in comparison.policies), tuple(rows), notes)


def _cells(texts: Sequence[str]) -> tuple[Cell, ...]:
    return tuple(Cell(words=text) for text in texts)


def _watched(pair: PairComparison) -> list[str]:
    """What the test says that may be looked at all the time."""
    watched = pair.watched
    if watched is None:
        return []
    if watched.settled_at is not None:
        return [
            "That stands however often somebody looked: looking after every rollout, it was "
            f"settled after {watched.settled_at} of each."
        ]
    return [
        "That stands if the number of rollouts was fixed beforehand. For someone who looked after "
        "every rollout, to stop when it was clear, it is not settled yet (e-value "
        f"{watched.e_value:.3g}, {watched.wanted_e_value:.0f} wanted)."
    ]


def _no_difference(pair: PairComparison, finely: bool) -> str:
    what = f"both succeeded in {_percent(pair.first_rate, finely)}"
    if pair.first_rate in (0, 1):
        what = "both always succeeded" if pair.first_rate else "neither ever succeeded"
    low, high = (_points(limit, finely) for limit in pair.interval)
    return (
        f"Cannot tell {pair.second} from {pair.first}: {what}; a difference from {low} to {high} "
        "points may still be there."
    )


def _more_rollouts(pair: PairComparison) -> list[str]:
    if pair.watched is not None and pair.watched.settled_at is not None:
        return [
            f"Looking after every rollout, it was settled after {pair.watched.settled_at} of each, "
            "yet it is not clear over all: did something change in between?"
        ]
    more, anew = pair.until_settled, pair.rollouts_for_power
    sentences: list[str] = []
    if more is not None and more.median is not None:
        late = (
            f"about {_about(more.nine_in_ten)}" if more.nine_in_ten else f"over {MOST_ROLLOUTS:,}"
        )
        sentences.append(
            f"If these rates hold, about {_about(more.median)} more rollouts each would settle it "
            f"in half of all cases, {late} in nine of ten, looking after every rollout."
        )
    if anew is not None:
        size = _about(anew)
        sentences.append(
            f"A new comparison would need about {size} each to see it in four of five cases."
        )
    return sentences or [
        f"If these rates hold, even {MOST_ROLLOUTS:,} more rollouts each would not settle it in "
        "half of all cases."
    ]


def _steps_sentence(pair: PairComparison, comparison: Comparison) -> list[str]:
    if comparison.horizon is None or pair.steps is None:
        never = [p.policy for p in comparison.policies if not p.successes]
        named = [name for name in (pair.first, pair.second) if name in never]
        if comparison.horizon is None or not named:
            return []
        return [f"Steps are not compared: {' and '.join(named)} never succeeded."]
    steps = pair.steps
    low, high = steps.interval
    fewer, means = pair.first, (steps.first_mean, steps.second_mean)
    if steps.difference < 0:
        fewer, means, low, high = pair.second, means[::-1], -high, -low
    numbers = (
        f"{means[0]:.0f} against {means[1]:.0f} (counted up to {comparison.horizon}), "
        f"difference {abs(steps.difference):.0f} ({_signed(low, 0)} to {_signed(high, 0)}), "
        f"log-rank {_p(steps.adjusted_log_rank_p_value, comparison)}"
    )
    if low > 0 and steps.adjusted_log_rank_p_value <= 1 - comparison.level:
        return [f"{fewer} needs fewer steps: {numbers}."]
    return [f"No clear difference in steps: {numbers}."]


def _finely(pair: PairComparison, comparison: Comparison) -> bool:
    """Whether there are enough rollouts for tenths of a per cent to mean something."""
    named = [p for p in comparison.policies if p.policy in (pair.first, pair.second)]
    return min(policy.episodes for policy in named) >= 100


def _percent(rate: float, finely: bool) -> str:
    return f"{100 * rate:.{int(finely)}f} %"


def _points(difference: float, finely: bool) -> str:
    return _signed(100 * difference, int(finely))


def _signed(number: float, digits: int) -> str:
    text = f"{number:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "\u2212")


def _p(p_value: float, comparison: Comparison) -> str:
    shown = f"p = {p_value:.3f}" if p_value < 0.1 else f"p = {p_value:.2f}"
    shown = "p < 0.001" if p_value < 0.001 else shown
    return shown if len(comparison.pairs) == 1 else f"{shown} (Holm)"


def _about(number: int) -> str:
    """Two digits are all that such a number is good for.

    >>> _about(1234), _about(87)
    ('1,200', '87')
    """
    return f"{float(f'{number:.2g}'):,.0f}"


def _between(limits: Limits | None, scale: float, digits: int) -> str:
    if limits is None:
        return ""
    return " to ".join(f"{scale * limit:.{digits}f}" for limit in limits)

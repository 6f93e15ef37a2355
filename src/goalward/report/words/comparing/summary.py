"""A comparison in words: a document of verdicts in sentences and tables."""

from collections.abc import Sequence

from goalward.metrics.comparing.result import Comparison, PairComparison, TaskVerdict
from goalward.report.words.blocks import Block, Document, Picture, Section, paragraph, strong
from goalward.report.words.comparing.numbers import (
    finely,
    p_words,
    percent,
    plain_p,
    points,
    signed,
)
from goalward.report.words.comparing.tables import policy_table, task_table
from goalward.report.words.comparing.watching import (
    budget_sentences,
    more_rollouts,
    stands_for_watchers,
    watched_sentences,
    watcher_verdict,
)
from goalward.report.words.special_sections import score_blocks, special_sections

_FULL_CREDIT = (
    "Nothing but scores is known. Here success is a score of 1, and letters go by that alone."
)


def comparison_document(
    comparison: Comparison,
    *,
    picture: str | None = None,
    most_tasks: int | None = None,
    most_policies: int | None = None,
    most_pairs: int | None = None,
) -> Document:
    """Verdicts first, then the policies, the tasks and how they were compared.

    `picture` is the address of what `comparison_figure` drew. Of many tasks the `most_tasks` that
    tell most are listed, of the `most_policies` best ones; of many pairs of policies those of the
    best one.
    """
    answers: list[Block] = []
    if picture is not None:
        answers.append(Picture(picture, "success rates and steps"))
    found = _answers(comparison, most_pairs)
    policies = (paragraph("The same letter: cannot be told apart."), policy_table(comparison))
    if comparison.scores_only and comparison.scores is not None:
        verdicts, means = score_blocks(comparison.scores, comparison, most_pairs)
        sections = [Section("", (*answers, *verdicts)), Section("Scores", means)]
        if any(policy.successes for policy in comparison.policies):
            sections.append(Section("Full credit", (paragraph(_FULL_CREDIT), *policies)))
    else:
        sections = [Section("", (*answers, *found)), Section("Policies", policies)]
    tasks = task_table(comparison, most_tasks, most_policies)
    if tasks is not None:
        sections.append(Section("Tasks", (tasks,)))
    sections += special_sections(comparison, most_pairs)
    notes = [paragraph(f"Note: {note}") for note in comparison.notes]
    sections.append(Section("How", (paragraph(how(comparison)), *notes)))
    return Document("Comparison of policies", tuple(sections))


def _answers(comparison: Comparison, most_pairs: int | None) -> list[Block]:
    """What pairs come to by their successes; of more than two policies first which is the best."""
    answers: list[Block] = []
    if len(comparison.policies) > 2:
        answers.append(paragraph(strong(_best_of_many(comparison)), role="answer"))
    for pair in shown_pairs(comparison, most_pairs):
        first, *others = verdict(pair, comparison)
        rest = "".join(f" {sentence}" for sentence in others)
        answers.append(paragraph(strong(first), rest, role="answer"))
        answers += [paragraph(words, role="doubt") for words in doubts(pair, comparison)]
    left = len(comparison.pairs) - len(shown_pairs(comparison, most_pairs))
    if left:
        answers.append(
            paragraph(
                f"These are pairs with the best policy; {left:,} more pairs are in the JSON, and "
                "letters tell which differ."
            )
        )
    return answers


def _best_of_many(comparison: Comparison) -> str:
    """Which of several policies is the best, or which may be."""
    best = comparison.best_first[0]
    beaten = {_other(pair, best.policy) for pair in comparison.pairs if pair.better == best.policy}
    others = [p.policy for p in comparison.best_first[1:] if p.policy not in beaten]
    if not others:
        return f"{best.policy} is better than all {len(beaten)} others."
    listed = ", ".join(others[:4]) + (f" and {len(others) - 4} more" * (len(others) > 4))
    start = f"{best.policy} has the highest success rate, {percent(best.rate, True)}"
    if not beaten:
        return f"{start}, and cannot be told from {listed}."
    return (
        f"{start}; it is better than {len(beaten)} of the others, and cannot be told from {listed}."
    )


def shown_pairs(comparison: Comparison, most: int | None) -> Sequence[PairComparison]:
    """All pairs, or of very many those of the best policy with the next ones."""
    if most is None or len(comparison.pairs) <= most:
        return comparison.pairs
    order = [policy.policy for policy in comparison.best_first]
    of_best = [pair for pair in comparison.pairs if order[0] in (pair.first, pair.second)]
    return sorted(of_best, key=lambda pair: order.index(_other(pair, order[0])))[:most]


def _other(pair: PairComparison, policy: str) -> str:
    return pair.second if pair.first == policy else pair.first


def verdict(pair: PairComparison, comparison: Comparison) -> list[str]:
    """What one pair of policies comes to, in sentences."""
    fine = finely(pair, comparison)
    best, rest = pair.second, pair.first
    rates = pair.second_rate, pair.first_rate
    low, high = pair.watched.interval if pair.budget and pair.watched else pair.interval
    if pair.difference < 0:
        best, rest, rates, low, high = rest, best, rates[::-1], -high, -low
    shown = (
        f"{percent(rates[0], fine)} against {percent(rates[1], fine)}{_where(pair)}, difference "
        f"{points(abs(pair.difference), fine)} points ({points(low, fine)} to "
        f"{points(high, fine)})"
    )
    if pair.budget is not None:
        return budget_sentences(pair, best, rest, shown) + _steps_sentence(pair, comparison)
    tested = f"{shown}, {p_words(pair.adjusted_p_value, comparison)}"
    if pair.difference == 0:
        sentences = [_no_difference(pair, fine)]
    elif pair.better is not None:
        sentences = [f"{best} is better than {rest}: {tested}.", *watched_sentences(pair)]
    elif stands_for_watchers(pair, best):
        sentences = watcher_verdict(pair, best, rest, shown, comparison)
    else:
        sentences = [f"Cannot tell {best} from {rest} yet: {tested}.", *more_rollouts(pair)]
    return sentences + _steps_sentence(pair, comparison)


def doubts(pair: PairComparison, comparison: Comparison) -> list[str]:
    """What "better on average" hides: tasks that go the other way, or by other amounts."""
    if pair.equal_effects is None:
        return []
    found = pair.equal_effects
    # Every pair has such a test; among many one would be alarmed by luck.
    num = len(comparison.pairs)
    p_value = None if found.p_value is None else min(1.0, num * found.p_value)
    apart = p_value is not None and p_value <= 1 - comparison.level
    allowing = f" for {num} pairs at once" * (num > 1)
    test = "" if p_value is None else f" ({found.test}, {plain_p(p_value)}{allowing})"
    winners = {name: _won_tasks(pair, name) for name in (pair.second, pair.first)}
    if all(winners.values()):
        start = "Tasks go both ways"
        if pair.better is not None:
            start = 'That "better" is on average, and hides opposite effects'
        sides = "; ".join(f"{name} is better on {tasks}" for name, tasks in winners.items())
        return [f"{start}: {sides}{test if apart else ''}."]
    if apart:
        return [
            f"The difference is not the same in all tasks{test}: look at the tasks before using "
            "the average."
        ]
    return []


def _won_tasks(pair: PairComparison, policy: str) -> str:
    """The tasks in which one policy is better, the clearest first; empty if there are none."""
    won = [one for one in pair.tasks if one.better == policy]
    named = [f"{one.task} ({_task_counts(one, policy == pair.second)})" for one in won[:3]]
    return ", ".join(named) + (f" and {len(won) - 3} more" * (len(won) > 3))


def _task_counts(one: TaskVerdict, second_first: bool) -> str:
    sides = (one.second, one.first) if second_first else (one.first, one.second)
    shown = " against ".join(f"{x} of {n}" for x, n in sides)
    return f"{shown}, {plain_p(one.adjusted_p_value)}"


def _where(pair: PairComparison) -> str:
    """Over which episodes, where these are not those of the table."""
    if not pair.own_base:
        return ""
    if pair.paired:
        return f" from the {pair.num_pairs} initial states that both share"
    return f" over the {max(len(pair.tasks), 1)} tasks that both ran"


def how(comparison: Comparison) -> str:
    """How episodes were compared: pairs, tests, intervals."""
    tests = " or ".join(dict.fromkeys(pair.test for pair in comparison.pairs))
    methods = " or ".join(dict.fromkeys(pair.interval_method for pair in comparison.pairs))
    some = any(pair.paired for pair in comparison.pairs)
    start = "Not paired: episodes count as independent"
    if some:
        start = "Paired where two policies share their initial states"
    if comparison.num_matched:
        start = f"Paired: {comparison.num_matched} initial states that all policies share"
    percent_level = f"{100 * comparison.level:g} %"
    text = f"{start}. "
    if comparison.weighted:
        text += "Rates are means over tasks, which count alike for all policies. "
    if comparison.budget is not None:
        text += (
            f"Test: walks of the lead, exact, looked at after every rollout up to "
            f"{comparison.budget} of each. {percent_level} intervals of differences: hold at every "
            "look, each pair on its own."
        )
        if len(comparison.pairs) > 1:
            text += f" The error is shared by all {len(comparison.pairs)} pairs (Bonferroni)."
        return text
    if comparison.scores_only:
        if len(comparison.pairs) > 1:
            text += f"p-values: for all {len(comparison.pairs)} pairs at once, by Holm."
        return text.strip()
    text += f"Test: {tests}. {percent_level} intervals of differences: {methods}, "
    text += "each pair on its own."
    if len(comparison.pairs) > 1:
        text += f" p-values: for all {len(comparison.pairs)} pairs at once, by Holm."
    return text


def _no_difference(pair: PairComparison, fine: bool) -> str:
    what = f"both succeeded in {percent(pair.first_rate, fine)}"
    if pair.first_rate in (0, 1):
        what = "both always succeeded" if pair.first_rate else "neither ever succeeded"
    low, high = (points(limit, fine) for limit in pair.interval)
    return (
        f"Cannot tell {pair.second} from {pair.first}: {what}; a difference from {low} to {high} "
        "points may still be there."
    )


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
        f"difference {abs(steps.difference):.0f} ({signed(low, 0)} to {signed(high, 0)}), "
        f"log-rank {p_words(steps.adjusted_log_rank_p_value, comparison)}"
    )
    if low > 0 and steps.adjusted_log_rank_p_value <= 1 - comparison.level:
        return [f"{fewer} needs fewer steps: {numbers}."]
    return [f"No clear difference in steps: {numbers}."]

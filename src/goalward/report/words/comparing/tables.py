"""Tables of a comparison: a row per policy, a row per task."""

from collections.abc import Sequence

from goalward.errors import argument
from goalward.metrics.comparing.result import Comparison, Limits
from goalward.report.words.comparing.numbers import signed
from goalward.report.words.tables import Cell, Table


def policy_table(comparison: Comparison) -> Table:
    """A row per policy, the best first."""
    raw = not comparison.rates_are_raw
    success = f"success{base_words(comparison)}"
    columns = ["letters", success, f"{100 * comparison.level:g} % interval", "of"]
    columns += ["raw rate"] * raw
    with_steps = comparison.horizon is not None
    columns += [f"steps up to {comparison.horizon}", "interval"] * with_steps
    rows: list[tuple[str, tuple[Cell, ...]]] = []
    for policy in comparison.best_first:
        row = [
            policy.letters,
            f"{100 * policy.rate:.1f} %",
            between(policy.rate_interval, 100, 1),
            f"{policy.successes} / {policy.episodes}",
        ]
        if raw:
            row.append(f"{100 * policy.raw_rate:.1f} %")
        if with_steps:
            steps = policy.mean_steps
            row.append("" if steps is None else f"{steps:.0f}")
            row.append(between(policy.mean_steps_interval, 1, 0))
        rows.append((policy.policy, cells(row)))
    return Table("policy", tuple(columns), tuple(rows))


def base_words(comparison: Comparison) -> str:
    """What the rates are over, where they are not the raw ones."""
    if comparison.weighted:
        return " by task"
    return "" if comparison.rates_are_raw else " where all were"


def task_table(
    comparison: Comparison, most: int | None = None, most_policies: int | None = None
) -> Table | None:
    """Successes of every policy by task, those that tell most first; None for one task."""
    policies = comparison.policies
    if most_policies is not None and len(policies) > most_policies:
        policies = comparison.best_first[:most_policies]
    tasks = list(dict.fromkeys(task for policy in comparison.policies for task in policy.tasks))
    if len(tasks) < 2:
        return None
    telling: dict[str, float] = {}
    for one in (one for pair in comparison.pairs for one in pair.tasks):
        telling[one.task] = min(telling.get(one.task, 2.0), one.p_value)
    tasks.sort(key=lambda task: telling.get(task, 2.0))
    columns = [policy.policy for policy in policies]
    only = comparison.pairs[0] if len(comparison.pairs) == 1 else None
    columns += ["difference", "p (Holm)", "better"] * (only is not None)
    by_task = {} if only is None else {one.task: one for one in only.tasks}
    rows: list[tuple[str, tuple[Cell, ...]]] = []
    for task in tasks[:most]:
        counts = [policy.tasks.get(task) for policy in policies]
        row = ["-" if c is None else f"{c[0]} / {c[1]}" for c in counts]
        if only is not None:
            one = by_task.get(task)
            row += ["", "", ""] if one is None else [
                signed(100 * one.difference, 0),
                f"{one.adjusted_p_value:.2g}",
                one.better or "",
            ]  # fmt: skip
        rows.append((task, cells(row)))
    left = len(tasks) - len(rows)
    notes = [
        f"and {left} more tasks ({argument('all_tasks', True)} lists them, and the JSON)"
    ] * bool(left)
    if len(policies) < len(comparison.policies):
        notes.append(f"The best {len(policies)} policies; the JSON lists all.")
    if only is not None:
        notes.append(f"Difference: {only.second} minus {only.first}, in points.")
    return Table("task", tuple(columns), tuple(rows), tuple(notes))


def cells(texts: Sequence[str]) -> tuple[Cell, ...]:
    return tuple(Cell(words=text) for text in texts)


def between(limits: Limits | None, scale: float, digits: int) -> str:
    if limits is None:
        return ""
    return " to ".join(signed(scale * limit, digits) for limit in limits)

"""What is known of each task: a section of the summary, and tables of all of them."""

import csv
import io
from collections import Counter
from collections.abc import Sequence

from goalward.metrics.evaluation_scores import EvaluationScores
from goalward.metrics.score import Interval
from goalward.metrics.task_answers import TaskAnswer, TaskAnswers
from goalward.report.words.blocks import (
    Block,
    Section,
    Spans,
    em,
    listed,
    paragraph,
    shortened,
    spans,
    strong,
)
from goalward.report.words.shares import percent
from goalward.report.words.tables import Cell, Table
from goalward.runs.run import Run

TABLE_NAME = "tasks"
MOST_ROWS = 10
# Wilson's interval of so many episodes is at least 45 % wide where half of them succeed.
_FEW = 15
# A task may be named by ten thousand characters; tasks.csv has them all.
_POOLED = "all tasks"
_NO_NAME = "(no name)"
_WITHIN_NOTE = (
    "Frame AUROC and values: held-out episodes of a task among themselves. Over all tasks they "
    "also count how well easy tasks are told from hard ones."
)
_SHARE_NOTE = (
    "With twice the time: the share of a task's time-outs that is expected to succeed, each given "
    "its own clock again, by those that were held out."
)
_CSV_COLUMNS = (
    *("of", "task", "episodes", "successes", "rate", "rate_low", "rate_high", "time_outs"),
    *("failures", "held_out", "held_out_time_outs", "twice_share", "twice_low", "twice_high"),
    *("frame_auroc", "auroc_low", "auroc_high", "values"),
)


def shown_task(task: str) -> str:
    """A task's name, the middle of a very long one left out; tasks often differ at their ends.

    >>> shown_task("lift"), shown_task(""), len(shown_task("ab" * 5000))
    ('lift', '(no name)', 80)
    """
    return shortened(" ".join(task.split())) or _NO_NAME


def values_words(answer: TaskAnswer) -> str:
    """Whether values tell successes from others in a task."""
    match answer.values_tell:
        case None:
            return f"cannot be checked: {answer.unchecked}"
        case True:
            return "values tell successes apart"
        case False:
            return "values may be no better than a coin"


def value_functions_words(run: Run) -> str:
    """Whose the value functions are, where there are several tasks."""
    if run.settings.evaluation.per_task:
        return "Every task has value functions of its own."
    return "All tasks share their value functions, which are told the task they look at."


# ---- the section --------------------------------------------------------------------------------


def task_section(run: Run) -> Section | None:
    """What the tasks have to say; None where all episodes attempt one."""
    answers = run.scores.tasks
    if answers is None:
        return None
    blocks: list[Block] = [
        paragraph(_apart(answers)),
        *_few(answers.tasks),
        paragraph(_checked(answers.tasks)),
        _short_table(run.scores, answers.most_telling_first),
    ]
    return Section("By task", tuple(blocks), "tasks")


def _apart(answers: TaskAnswers) -> Spans:
    """Whether the rates differ; of single tasks only what stands against all others."""
    found = answers.equal_rates
    if found.p_value is None:
        return spans(f"The rates of the tasks are not compared: {found.reason}.")
    test = f"({found.test}, {_p_words(found.p_value)})"
    if not found.differ:
        return spans(
            f"The rates of the tasks lie no further apart than chance may put them {test}: these "
            "episodes do not show that one task is harder than another."
        )
    sides = {
        " Worse than all others together: ": answers.standing_out(above=False),
        " Better: ": answers.standing_out(above=True),
    }
    named = [
        (words, listed([_named(one) for one in tasks], most=3), ".")
        for words, tasks in sides.items()
        if tasks
    ]
    return spans(
        strong("The tasks differ"),
        f": their success rates lie further apart than chance would put them {test}.",
        *(part for parts in named for part in parts),
    )


def _named(answer: TaskAnswer) -> Spans:
    return spans(
        em(shown_task(answer.task)), f" ({answer.success.count} of {answer.success.total})"
    )


def _p_words(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


def _few(tasks: Sequence[TaskAnswer]) -> list[Block]:
    few = sum(one.success.total < _FEW for one in tasks)
    if not few:
        return []
    have = "has" if few == 1 else "have"
    return [
        paragraph(
            f"Tasks of few episodes have wide intervals: {few} of {len(tasks)} {have} fewer than "
            f"{_FEW}."
        )
    ]


def _checked(tasks: Sequence[TaskAnswer]) -> str:
    """In how many tasks values are good for something, and why nobody knows in the others."""
    told = Counter(one.values_tell for one in tasks)
    why = Counter(one.unchecked for one in tasks if one.values_tell is None)
    words = [
        f"in {told[True]} of {len(tasks)} tasks they tell successes from other episodes",
        f"in {told[False]} they may be no better than a coin",
    ]
    if told[None]:
        reasons = ", ".join(f"{reason}: {count}" for reason, count in why.most_common())
        words.append(f"in {told[None]} that cannot be checked ({reasons})")
    return f"Values within a task, on held-out episodes: {'; '.join(words)}."


# ---- tables -------------------------------------------------------------------------------------


def _short_table(scores: EvaluationScores, tasks: Sequence[TaskAnswer]) -> Table:
    """All tasks together and the first few."""
    shown, rest = tasks[:MOST_ROWS], tasks[MOST_ROWS:]
    columns = ("episodes", "success rate", "timed out", "failed early", "values")
    rows = [
        (
            str(one.success.total),
            _with_interval(one.success.value, one.success.interval),
            str(one.num_time_out),
            str(one.num_failure),
            values_words(one).removeprefix("values "),
        )
        for one in (pooled(scores), *shown)
    ]
    notes = (f"And {len(rest)} more in tables/{TABLE_NAME}.md.",) if rest else ()
    return _table(columns, (_POOLED, *(shown_task(one.task) for one in shown)), rows, notes)


def task_table(scores: EvaluationScores, caution: str = "") -> Table | None:
    """All tasks together and each of them, most episodes first; None where there is one task.

    `caution` is what is said wherever values are shown that need a warning.
    """
    if scores.tasks is None:
        return None
    tasks = scores.tasks.most_telling_first
    columns = (
        *("episodes", "successes", "success rate", "timed out", "failed early"),
        *("with twice the time", "held out", "frame AUROC", "values"),
    )
    rows = [
        (
            str(one.success.total),
            str(one.success.count),
            _with_interval(one.success.value, one.success.interval),
            str(one.num_time_out),
            str(one.num_failure),
            _with_interval(one.share.value, one.share_interval) if one.share.defined else "",
            str(one.num_held_out),
            _auroc_words(one),
            values_words(one),
        )
        for one in (pooled(scores), *tasks)
    ]
    names = (_POOLED, *(shown_task(one.task) for one in tasks))
    intervals = f"In brackets: {percent(scores.policy.success.interval.level)} intervals."
    cautions = (caution,) if caution else ()
    return _table(columns, names, rows, (*cautions, intervals, _SHARE_NOTE, _WITHIN_NOTE))


def task_csv(scores: EvaluationScores) -> str:
    """The same as numbers, with every name in full; what is not defined is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_CSV_COLUMNS)
    tasks = scores.tasks.most_telling_first if scores.tasks else ()
    for of, one in (("all", pooled(scores)), *(("task", one) for one in tasks)):
        writer.writerow(
            (
                of,
                one.task,
                one.success.total,
                one.success.count,
                *_numbers(one.success.value, one.success.interval),
                one.num_time_out,
                one.num_failure,
                one.num_held_out,
                one.num_late,
                *_numbers(one.share.value, one.share_interval),
                *_numbers(one.auroc.value, one.auroc_interval),
                values_words(one),
            )
        )
    return text.getvalue()


def pooled(scores: EvaluationScores) -> TaskAnswer:
    """All tasks as if they were one: what the rest of the summary says."""
    policy, row = scores.policy, scores.cards[scores.methods[0]]["frame_auroc"]
    return TaskAnswer(
        task="",
        success=policy.success,
        num_time_out=policy.num_time_out,
        num_failure=policy.num_failure,
        num_held_out=scores.num_held_out,
        num_late=len(policy.more_time.late),
        share=policy.more_time.twice.share,
        share_interval=policy.more_time.twice.share_interval,
        auroc=row.over_seeds.mean,
        auroc_interval=row.interval,
        p_value=1.0,
    )


def _table(
    columns: tuple[str, ...],
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: tuple[str, ...] = (),
) -> Table:
    cells = [tuple(Cell(words=text) for text in row) for row in rows]
    return Table("task", columns, tuple(zip(names, cells, strict=True)), notes)


def _with_interval(value: float | None, interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return percent(value)
    return f"{percent(value)} ({percent(interval.low)} to {percent(interval.high)})"


def _auroc_words(answer: TaskAnswer) -> str:
    score, interval = answer.auroc, answer.auroc_interval
    if score.value is None:
        return ""
    if interval.low is None or interval.high is None:
        return f"{score.value:.2f}"
    return f"{score.value:.2f} ({interval.low:.2f} to {interval.high:.2f})"


def _numbers(value: float | None, interval: Interval) -> list[str]:
    numbers = (value, interval.low, interval.high)
    return ["" if one is None else f"{one:.6g}" for one in numbers]

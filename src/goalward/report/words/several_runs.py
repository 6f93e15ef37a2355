"""Several runs in words: their answers beside each other, and the trend from first to last."""

import shlex
from collections.abc import Mapping, Sequence

from goalward.metrics.comparing.checkpoints import trend
from goalward.metrics.time_out_answer import Saying
from goalward.report.words.blocks import Block, Document, Section, code, paragraph, strong
from goalward.report.words.shares import percent, rate_words
from goalward.report.words.tables import Cell, Table
from goalward.report.words.time_outs import is_of_another_run
from goalward.report.words.trust import trust_answer
from goalward.rollouts.findings import some_of
from goalward.runs.run import Run

# A line through two rates is their difference, which `goalward compare` tests.
_FEWEST_FOR_A_TREND = 3
_COLUMNS = (
    "episodes",
    "success rate",
    "with twice the time",
    "steps to success",
    "values: rely on them?",
    "AUROC",
    "off the truth by",
)


def named_runs(runs: Sequence[Run]) -> dict[str, Run]:
    """Runs by names that tell them apart: the policy's, with its folder where two are alike."""
    policies = [run.policy for run in runs]
    found: dict[str, Run] = {}
    for run in runs:
        alone = policies.count(run.policy) == 1
        name = run.policy if alone else f"{run.policy} ({run.folder.path.name})"
        # Folders may be called alike too.
        found[name if name not in found else f"{run.policy} ({run.folder.path})"] = run
    return found


def runs_document(runs: Mapping[str, Run]) -> Document:
    """The highest rate as a headline, what it does not say, and a table of all answers."""
    rates = {name: run.scores.policy.success for name, run in runs.items()}
    highest = max(rate.value or 0.0 for rate in rates.values())
    best = [name for name, rate in rates.items() if (rate.value or 0.0) == highest]
    said = f"the highest success rate is that of {some_of(best, most=3)}"
    if len(best) == len(runs):
        said = "all have the same success rate"
    answers: list[Block] = [
        paragraph(
            strong(f"{len(runs)} runs: {said}:"),
            f" {rate_words(rates[best[0]])}.",
        ),
        *_trend_blocks(runs),
        paragraph(
            "Which policy is better, and how sure that is, is another question: ",
            code(shlex.join(["goalward", "compare", *(str(r.folder.path) for r in runs.values())])),
            " answers it.",
        ),
    ]
    table = Table(
        "run",
        _COLUMNS,
        tuple((name, _cells(run)) for name, run in runs.items()),
        (
            "Success rates and AUROC with their 95 % intervals.",
            "AUROC: how often a frame of a success looks nearer to the goal than one of another "
            "episode; 0.5 is guessing, 1 is always.",
            "Off the truth: the mean error of the values, on their scale from \u22121 to 1.",
        ),
    )
    return Document(
        "Several runs", (Section("", tuple(answers)), Section("In numbers", (table,), "numbers"))
    )


def _trend_blocks(runs: Mapping[str, Run]) -> list[Block]:
    rates = [run.scores.policy.success for run in runs.values()]
    ends = [(one.interval.low, one.interval.high) for one in rates]
    known = [(low, high) for low, high in ends if low is not None and high is not None]
    means = [one.value for one in rates if one.value is not None]
    if len(runs) < _FEWEST_FOR_A_TREND or len(known) < len(runs) or len(means) < len(runs):
        return []
    change, (low, high) = trend(range(len(runs)), means, known)
    word = "rises" if low > 0 else "falls" if high < 0 else "neither rises nor falls for sure"
    return [
        paragraph(
            strong("In the order given"),
            f" the success rate {word}: {_points(change)} points from the first run to the last "
            f"on a straight line (95 % interval {_points(low)} to {_points(high)}).",
        )
    ]


def _points(change: float) -> str:
    return f"{100 * change:+.0f}".replace("-", "\u2212")


def _cells(run: Run) -> tuple[Cell, ...]:
    policy, trust, steps = run.scores.policy, run.trust, run.scores.policy.steps.median.value
    texts = (
        f"{policy.success.total:,}",
        _with_ends(policy.success.value, policy.success.interval.low, policy.success.interval.high),
        _more_time(run),
        "none" if steps is None else f"{steps:.0f}",
        trust_answer(trust, run.truth).word,
        "not known"
        if trust.skill.value is None
        else f"{trust.skill.value:.2f}{_ends(trust.skill_interval.low, trust.skill_interval.high)}",
        _off_the_truth(run),
    )
    return tuple(Cell(words=text) for text in texts)


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"


def _with_ends(value: float | None, low: float | None, high: float | None) -> str:
    if value is None or low is None or high is None:
        return percent(value)
    return f"{percent(value)} ({100 * low:.0f} to {100 * high:.0f})"


def _more_time(run: Run) -> str:
    """The answer that can be given; the same as on the run's own page."""
    answer, twice = run.time_outs, run.scores.policy.more_time.twice
    match answer.saying:
        case Saying.EXPECTED:
            hint = ", a hint" if is_of_another_run(run) else ""
            return f"about {percent(twice.rate.value)}{hint}"
        case Saying.HINT:
            return "cannot tell yet"
        case Saying.MEASURED:
            return f"{percent(answer.share.value)} of time-outs, measured"
        case Saying.CANNOT_TELL:
            return "cannot tell"
        case Saying.NO_QUESTION:
            return "no time-outs" if run.scores.policy.num_time_out == 0 else "cannot tell"


def _off_the_truth(run: Run) -> str:
    if run.truth is None or run.method not in run.truth.methods:
        return "not known"
    error = run.truth.methods[run.method].by_group["all"].value.absolute.mean.value
    return "not known" if error is None else f"{error:.2f}"

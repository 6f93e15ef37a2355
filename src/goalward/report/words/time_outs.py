"""What to expect of timed-out episodes, in words that claim no more than the numbers."""

from goalward.errors import argument
from goalward.metrics.doubts import CHANCE
from goalward.metrics.more_time import ON_ITS_WAY_FROM, STUCK_UP_TO, Verdict
from goalward.metrics.time_out_answer import Saying
from goalward.metrics.trust import Grade
from goalward.report.words.blocks import (
    Block,
    Paragraph,
    Spans,
    code,
    em,
    listed,
    paragraph,
    spans,
    strong,
)
from goalward.report.words.doubt import doubt_words
from goalward.report.words.shares import percent, span_words
from goalward.rollouts.episode import Outcome
from goalward.rollouts.findings import some_of
from goalward.runs.next_steps import MANY_TIMES
from goalward.runs.run import Run


def silence_about_time_outs(run: Run) -> str:
    """Why there is nothing to say of timed-out episodes; empty if there is."""
    policy = run.scores.policy
    if policy.num_time_out == 0:
        return "No episode timed out, so more time would change nothing."
    if policy.success.count == 0:
        return (
            "No episode succeeded: nothing can say whether those that timed out were on their way."
        )
    if not policy.more_time.late:
        if _num_of_one_frame(run):
            return "The time-outs that were held out have a single frame: no clock to give again."
        more = argument("folds")
        return f"No timed-out episode was held out; more episodes or {more} would help."
    return ""


def _num_of_one_frame(run: Run) -> int:
    """Time-outs that were held out but have no clock that one could give them again."""
    return sum(
        one.held_out and one.outcome is Outcome.TIME_OUT and one.num_frames == 1
        for one in run.episodes
    )


def time_out_blocks(run: Run) -> list[Block]:
    """What may be said of timed-out episodes with more time, and why to doubt the rest."""
    silence = silence_about_time_outs(run)
    if silence:
        return [paragraph(silence)]
    first = paragraph(strong(TWICE_TITLE), more_time_words(run), role="answer")
    doubts = doubt_paragraphs(run)
    if not run.time_outs.saying.uses_values:
        return [first, *doubts]
    curve = _curve_blocks(run) if run.time_outs.saying is Saying.EXPECTED else []
    return [first, *curve, _late_block(run), *doubts]


TWICE_TITLE = "With twice the time"
# Networks that learned from another policy expect of this one what that one did.
POLICY_LEARNED_FROM = "if it goes on as the policy learned from does"


def is_of_another_run(run: Run) -> bool:
    return bool(run.settings.evaluation.values_from)


def more_time_words(run: Run) -> Spans:
    """The answer that can be given, whatever it rests on."""
    answer = run.time_outs
    match answer.saying:
        case Saying.EXPECTED:
            hint = f" (a hint, {POLICY_LEARNED_FROM})" if is_of_another_run(run) else ""
            return spans(f"{hint} ", _expected_words(run))
        case Saying.HINT:
            return spans(f": cannot tell yet. {needed_words(run)} {_hint_words(run)}")
        case Saying.MEASURED:
            return spans(
                f" {percent(answer.share.value)} ({span_words(answer.share_interval)}) of the "
                "time-outs succeed: a simulator put them back to where the clock ran out and gave "
                "each its own clock again. What the values expect is not used."
            )
        case Saying.CANNOT_TELL | Saying.NO_QUESTION:
            return spans(f": cannot tell. {needed_words(run)}")


def needed_words(run: Run) -> str:
    """What it would take to tell."""
    more = run.time_outs.more_rollouts
    # Weak values that need very many are nearly a coin: better ones are wanted, not more rollouts.
    is_weak = run.trust.grade is Grade.WEAK
    if more and not (is_weak and more > MANY_TIMES * run.scores.policy.success.total):
        return f"It needs about {more:,} more rollouts to know whether the values know anything."
    highest = run.trust.skill_interval.high
    if run.trust.grade in (Grade.WEAK, Grade.NONE) and highest is not None and highest > CHANCE:
        return (
            "How many more rollouts it needs these cannot say; letting some of them run for "
            "longer would show it."
        )
    return (
        "More rollouts of the same kind are not expected to change that; letting some of them run "
        "for longer would show it."
    )


def _hint_words(run: Run) -> str:
    """What weak values expect: no interval, which would claim that they are right."""
    twice = run.scores.policy.more_time.twice
    return (
        f"As a hint, no more: perhaps {percent(twice.rate.value)} succeed, "
        f"{_late_words(run, f'({percent(twice.share.value)})')}. No interval is given: these "
        "values may be no better than guessing."
    )


def _late_words(run: Run, share: str) -> str:
    """How many of the time-outs that is, and by how many of them it was judged."""
    policy = run.scores.policy
    more = policy.more_time
    num_held_out = len(more.late)
    judged = ""
    if num_held_out < policy.num_time_out:
        were = "was" if num_held_out == 1 else "were"
        judged = f", judged by the {num_held_out} that {were} held out"
        if _num_of_one_frame(run):
            judged += " and ran for more than one frame"
    number = (more.twice.share.value or 0.0) * policy.num_time_out
    # "About 0 (14 %)" of two would be no reason for a higher rate.
    about = "fewer than one" if 0 < number <= 0.5 else f"about {number:.0f}"
    return (
        f"of the {policy.num_time_out} that timed out {about} {share}, each given its own clock "
        f"again{judged}"
    )


def _expected_words(run: Run) -> Spans:
    more, twice = run.scores.policy.more_time, run.scores.policy.more_time.twice
    disagreeing = [
        spans(code(other.method), f" ({percent(other.share)})")
        for other in more.others
        if other.disagrees
    ]
    others = ()
    if disagreeing:
        others = (" Not so by ", listed(disagreeing), ": their share lies outside that interval.")
    share = f"({percent(twice.share.value)}; {span_words(twice.share_interval)})"
    return spans(
        f"about {percent(twice.rate.value)} ({span_words(twice.rate_interval)}) are expected to "
        f"succeed: {_late_words(run, share)}.",
        *others,
    )


_EXTRA_WORDS = {0.25: "a quarter more", 0.5: "half more", 2.0: "three times as much"}


def _curve_blocks(run: Run) -> list[Block]:
    """Other amounts of time in one line."""
    told = [
        f"{percent(found.rate.value)} with {_EXTRA_WORDS[found.extra]}"
        for found in run.scores.policy.more_time.curve
        if found.extra in _EXTRA_WORDS
    ]
    ever = run.scores.policy.more_time.curve[-1]
    told.append(f"{percent(ever.rate.value)} ({span_words(ever.rate_interval)}) without a clock")
    return [paragraph(f"With other amounts of time: {', '.join(told)}.")]


def _late_block(run: Run) -> Block:
    """How many time-outs have which verdict, and their names; the best chance first."""
    ids = late_ids(run)
    counts = {verdict: len(found) for verdict, found in ids.items()}
    return paragraph(
        strong("Timed-out episodes"),
        f": of {sum(counts.values())} held out, {counts[Verdict.ON_ITS_WAY]} ",
        em("on their way"),
        f" (a chance of at least {percent(ON_ITS_WAY_FROM)} with their own clock again), "
        f"{counts[Verdict.STUCK]} ",
        em("stuck"),
        f" (at most {percent(STUCK_UP_TO)}); {counts[Verdict.CANNOT_TELL]} in between, of which "
        "nobody can tell.",
        *(
            f" {words}: {some_of(ids[verdict], most=10)}."
            for verdict, words in _NAMED.items()
            if ids[verdict]
        ),
        role="answer",
    )


_NAMED = {Verdict.ON_ITS_WAY: "On their way", Verdict.STUCK: "Stuck"}


def late_ids(run: Run) -> dict[Verdict, list[str]]:
    """Ids of the held-out time-outs by verdict, the best chance first."""
    more = run.scores.policy.more_time
    return {
        verdict: [run.episodes[one.episode].id for one in more.called(verdict)]
        for verdict in Verdict
    }


def doubt_paragraphs(run: Run) -> list[Paragraph]:
    """What the values say and should not be relied on for."""
    return [Paragraph(doubt_words(doubt), role="doubt") for doubt in run.doubts]

"""What an audit found, in words."""

from pathlib import Path

from goalward.errors import argument
from goalward.metrics.auditing.audit import Audit, Finding, FindingKind
from goalward.report.words.blocks import (
    Block,
    Bullets,
    Document,
    Section,
    Spans,
    code,
    paragraph,
    spans,
    strong,
)
from goalward.report.words.shares import percent
from goalward.rollouts.findings import counted

# One, and many.
KIND_WORDS = {
    FindingKind.SUCCESS_NEVER_NEAR: (
        "success that never looked near the goal",
        "successes that never looked near the goal",
    ),
    FindingKind.LOOKED_DONE: (
        "episode without success that looked done",
        "episodes without success that looked done",
    ),
    FindingKind.GOAL_EARLY: ("goal marked too early", "goals marked too early"),
    FindingKind.GOAL_LATE: ("goal marked too late", "goals marked too late"),
    FindingKind.OTHER_LABEL: (
        "recording that is there with another outcome",
        "recordings that are there with another outcome",
    ),
    FindingKind.LEAKED: (
        "episode judged by networks that learned from its copy",
        "episodes judged by networks that learned from their copies",
    ),
    FindingKind.TWICE: ("copy of another episode", "copies of other episodes"),
    FindingKind.MARKED: ("label that somebody marked as wrong", "labels marked as wrong"),
}


def finding_words(finding: Finding, near_steps: int | None) -> str:
    """Why to look at an episode, in one line without its name.

    >>> from goalward.rollouts.episode import Outcome
    >>> found = Finding("7", FindingKind.LOOKED_DONE, 0.6, Outcome.TIME_OUT, (40, 90), looked=0.9)
    >>> finding_words(found, 12)
    'called a time-out, but looked done: success within 12 steps 90 % likely at frame 40'
    """
    called = f"called a {finding.outcome.replace('_', '-')}"
    seen = f"success within {near_steps} steps {percent(finding.looked)} likely"
    match finding.kind:
        case FindingKind.SUCCESS_NEVER_NEAR:
            return f"{called}, but never looked near the goal: {seen} at best"
        case FindingKind.LOOKED_DONE:
            return f"{called}, but looked done: {seen} at frame {finding.frames[0]}"
        case FindingKind.GOAL_EARLY:
            return (
                f"the goal is marked at frame {finding.goal_frame}, but it looks done only at "
                f"about {finding.suggested_goal_frame}"
            )
        case FindingKind.GOAL_LATE:
            return (
                f"the goal is marked at frame {finding.goal_frame}, but it looks done from about "
                f"{finding.suggested_goal_frame} on"
            )
        case FindingKind.OTHER_LABEL:
            return f"{called}, but {_twin(finding)}, with the same {finding.share}, is not"
        case FindingKind.LEAKED if not finding.elsewhere:
            return f"is held out, but {_twin(finding)}, the same {finding.share}, was learned from"
        case FindingKind.LEAKED | FindingKind.TWICE:
            return f"has the same {finding.share} as {_twin(finding)}"
        case FindingKind.MARKED:
            return f"{called}, and marked as wrong by somebody who watched it"


def _twin(finding: Finding) -> str:
    where = f" of {finding.elsewhere}" if finding.elsewhere else ""
    return f"episode {finding.twin}{where}"


def audit_document(
    audit: Audit, most: int | None = 10, labels: Path | None = None, *, has_sheet: bool = True
) -> Document:
    """The findings, the surest first, and what to do with them; `labels` is the list to correct.

    `has_sheet`: with a picture of the frames beside it.
    """
    shown = audit.findings[:most]
    blocks: list[Block] = [_headline(audit)]
    if shown:
        blocks.append(Bullets(tuple(_item(found, audit.near_steps) for found in shown)))
    if len(shown) < len(audit.findings):
        blocks.append(paragraph(f"And {len(audit.findings) - len(shown)} more."))
    blocks += [paragraph(text, role="doubt") for text in audit.unchecked]
    if labels and audit.findings:
        blocks.append(_what_to_do(labels, has_sheet))
    return Document(f"Audit of {audit.name}", (Section("", tuple(blocks)),))


def _headline(audit: Audit) -> Block:
    if not audit.findings:
        return paragraph(f"Nothing to look at among {counted(audit.episodes)}.", role="answer")
    counts = {
        kind: len({found.episode for found in audit.findings if found.kind is kind})
        for kind in FindingKind
    }
    told = [f"{n} {KIND_WORDS[kind][n != 1]}" for kind, n in counts.items() if n]
    total = len({found.episode for found in audit.findings})
    return paragraph(
        strong(f"{total} of {counted(audit.episodes)} to look at"),
        f": {', '.join(told)}.",
        role="answer",
    )


def _item(found: Finding, near_steps: int | None) -> Spans:
    look_at = "frame" if len(found.frames) == 1 else "frames"
    frames = f"{look_at} {' and '.join(map(str, found.frames))}"
    return spans(
        strong(found.episode),
        f" ({percent(found.sure)} sure): {finding_words(found, near_steps)}; look at {frames}",
    )


def _what_to_do(labels: Path, has_sheet: bool) -> Block:
    sheet = code(str(labels.parent / "sheet.png"))
    look = ("Look at ", sheet, ", correct ") if has_sheet else ("Correct ",)
    return paragraph(
        *look,
        code(str(labels)),
        " where you see it otherwise, and evaluate again with ",
        code(argument("labels", str(labels))),
        ". Nothing was changed.",
    )

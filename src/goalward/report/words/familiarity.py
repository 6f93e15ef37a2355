"""How far episodes lie from those that the networks of another run learned from, in words."""

from goalward.metrics.familiarity import FAR, Familiarity
from goalward.report.words.blocks import Paragraph, code, listed, paragraph
from goalward.rollouts.findings import counted
from goalward.runs.run import Run


def familiarity_paragraphs(run: Run) -> list[Paragraph]:
    """Of a run that is judged by the networks of another, that it is, and how alike the two are."""
    if run.familiarity is not None:
        return [familiarity_paragraph(run.familiarity)]
    learned = run.settings.evaluation.values_from
    if not learned:
        return []
    unknown = (
        "; nothing was trained here. Whether these episodes are like those it learned from, or "
        "among them, is not known: neither a sample of their frames nor the recording could be "
        "read. Take these values with care."
    )
    return [paragraph("The values are those of ", code(learned), unknown, role="doubt")]


def familiarity_paragraph(found: Familiarity) -> Paragraph:
    """Whose values these are, and of which episodes they know little.

    >>> from goalward.report.words.blocks import plain_text
    >>> plain_text(familiarity_paragraph(Familiarity("run", 40, ())).words)[:60]
    'The values are those of run, which learned from 40 episodes;'
    """
    learned = f"which learned from {counted(range(found.num_learned))}; nothing was trained here. "
    if not found.can_tell:
        share = "Those are too few to say whether these episodes are like them."
        told = ("The values are those of ", code(found.learned), f", {learned}{share}")
        return paragraph(*told, *_copies_words(found))
    share = f"{len(found.far)} of {counted(found.episodes)} lie farther from those than all but "
    share += f"{100 * FAR:.0f} % of them lie from each other"
    far = listed([code(episode.id) for episode in found.far])
    is_other = len(found.far) > 2 * FAR * len(found.episodes)
    told = (": ", far, ".") if found.far else (".",)
    warning = (
        " They are not like the ones that were learned from: take values of them with care."
        if is_other
        else " Alike are the frames; a policy that goes on otherwise from them has other values."
    )
    return paragraph(
        "The values are those of ",
        code(found.learned),
        f", {learned}{share}",
        *told,
        *_copies_words(found),
        warning,
        role="doubt" if is_other else "text",
    )


def _copies_words(found: Familiarity) -> tuple[str, ...]:
    if not found.copies_known:
        return (" Whether it learned from some of these is not known.",)
    if not found.copies:
        return ()
    return (
        f" {counted(found.copies)} of these it learned from: their values know how they ended.",
    )

"""How hindsight values were made, in words."""

from goalward.report.words.blocks import Paragraph, paragraph
from goalward.values.hindsight import HindsightChoice


def hindsight_paragraph(choice: HindsightChoice) -> Paragraph:
    """A sentence for "How it was done".

    >>> hindsight_paragraph(HindsightChoice(0.5, "as it was asked for")).words[0].text
    'Hindsight values follow the recording with lambda 0.5 (as it was asked for).'
    """
    return paragraph(
        f"Hindsight values follow the recording with lambda {choice.decay:g} ({choice.reason})."
    )

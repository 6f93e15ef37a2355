"""A comparison of policies as files: JSON, Markdown, a picture."""

import json
from collections.abc import Mapping
from pathlib import Path

from goalward.files import write_text
from goalward.metrics.comparing.result import Comparison
from goalward.metrics.comparing.time_to_success import SuccessCurve
from goalward.report.figures.comparison import comparison_figure
from goalward.report.figures.scores import save_figure
from goalward.report.words.comparison import comparison_document
from goalward.report.words.rendering import markdown

_NAME = "comparison"


def write_comparison(
    comparison: Comparison, curves: Mapping[str, SuccessCurve], folder: Path
) -> None:
    """Write comparison.json, .md, .png and .svg; `curves` are the successes by steps, if known."""
    write_text(folder / f"{_NAME}.json", json.dumps(comparison.as_dict(), indent=2) + "\n")
    document = comparison_document(comparison, picture=f"{_NAME}.svg")
    write_text(folder / f"{_NAME}.md", markdown(document))
    save_figure(comparison_figure(comparison, curves), folder / _NAME)

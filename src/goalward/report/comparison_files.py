"""A comparison of policies as files: a page, JSON, Markdown, pictures."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from goalward.files import write_text
from goalward.metrics.comparing.episode_pairs import EpisodePairs
from goalward.metrics.comparing.result import Comparison
from goalward.metrics.comparing.steps.time_to_success import SuccessCurve
from goalward.metrics.comparing.watching.curves import WatchingCurve
from goalward.report.figures.comparison import comparison_figure
from goalward.report.figures.watching import watching_figure
from goalward.report.pages.comparison_page import Figures, write_comparison_page
from goalward.report.pages.page_figures import save_page_figure
from goalward.report.words.comparing.summary import comparison_document
from goalward.report.words.rendering import markdown

_NAME = "comparison"
_WATCHING = "watching"


def write_comparison(
    comparison: Comparison,
    curves: Mapping[str, SuccessCurve],
    folder: Path,
    *,
    watching: Sequence[WatchingCurve] = (),
    runs: Mapping[str, Path] | None = None,
    together: Sequence[EpisodePairs] = (),
) -> Path:
    """Write index.html, comparison.json, .md, .png and .svg, and say which file to open.

    `curves` are the successes by steps, if known; `watching` what somebody saw who looked after
    every rollout, drawn as watching.png and .svg; `runs` the folders of policies that are runs,
    `together` their episodes that are worth seeing side by side.
    """
    write_text(folder / f"{_NAME}.json", json.dumps(comparison.as_dict(), indent=2) + "\n")
    document = comparison_document(comparison, picture=f"{_NAME}.svg")
    write_text(folder / f"{_NAME}.md", markdown(document))
    drawn = comparison_figure(comparison, curves)
    save_page_figure(drawn, folder, _NAME)
    if watching:
        save_page_figure(watching_figure(watching, comparison), folder, _WATCHING)
    figures = Figures(_NAME, _WATCHING if watching else None, narrow=len(drawn.axes) == 1)
    return write_comparison_page(comparison, figures, folder, runs or {}, together)

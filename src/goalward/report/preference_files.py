"""A ranking by preferences as files: a page, JSON, Markdown, a picture."""

import json
from dataclasses import asdict
from pathlib import Path

from goalward.files import write_text
from goalward.metrics.comparing.preferences import PreferenceRanking
from goalward.report.figures.preferences import preference_figure
from goalward.report.pages import document_page
from goalward.report.pages.page_figures import page_figure, save_page_figure
from goalward.report.words.comparing.preferences import preference_document
from goalward.report.words.rendering import markdown

_NAME = "preferences"


def write_preferences(ranking: PreferenceRanking, folder: Path) -> Path:
    """Write index.html, preferences.json, .md, .png and .svg, and say which file to open."""
    document = preference_document(ranking)
    write_text(folder / f"{_NAME}.json", json.dumps(asdict(ranking), indent=2) + "\n")
    write_text(folder / f"{_NAME}.md", markdown(document))
    save_page_figure(preference_figure(ranking), folder, _NAME)
    drawn = page_figure(_NAME, "strengths of policies", narrow=True)
    panels = [
        document_page.panel(section, "" if number else drawn)
        for number, section in enumerate(document.sections[1:])
    ]
    names = [one.policy for one in ranking.policies]
    return document_page.write_page(document_page.page_of(document, names, panels, _NAME), folder)

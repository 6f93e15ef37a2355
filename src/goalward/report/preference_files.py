"""A ranking by preferences as files: JSON and Markdown."""

import json
from dataclasses import asdict
from pathlib import Path

from goalward.files import write_text
from goalward.metrics.comparing.preferences import PreferenceRanking
from goalward.report.words.preferences import preference_document
from goalward.report.words.rendering import markdown


def write_preferences(ranking: PreferenceRanking, folder: Path) -> None:
    """Write preferences.json and preferences.md."""
    write_text(folder / "preferences.json", json.dumps(asdict(ranking), indent=2) + "\n")
    write_text(folder / "preferences.md", markdown(preference_document(ranking)))

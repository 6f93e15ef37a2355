"""Which of several policies people prefer, from tables of comparisons of two."""

from pathlib import Path

import goalward
from goalward.metrics.comparing.comparison import check_level
from goalward.metrics.comparing.preferences import PreferenceRanking, rank_by_preferences
from goalward.metrics.comparing.tables.preference_file import has_preferences, read_preferences
from goalward.runs.compare import folder_for


def is_about_preferences(*tables: str | Path) -> bool:
    """Whether these are tables of preferences rather than of outcomes, by the first one."""
    return has_preferences(Path(tables[0]))


def rank_preferences(
    *tables: str | Path, level: float = 0.95, out: str | Path | None = None
) -> PreferenceRanking:
    """Say which policy is preferred: what `goalward compare` does with tables of preferences.

    A row per comparison: policy_a, policy_b, and winner (a name, a or b, or tie). With `out`, a
    folder, the ranking is written there as a page, JSON, Markdown and a picture.
    """
    folder = folder_for(out)
    check_level(level)
    found = rank_by_preferences(read_preferences([Path(table) for table in tables]), level)
    if folder is not None:
        goalward.write_preferences(found, folder)
    return found

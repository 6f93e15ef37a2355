"""What an audit and a curation of a run said of its episodes, for the page to mark them."""

import csv
import logging
from pathlib import Path
from typing import Any

from goalward.checksums import DamagedFile, noted_checksums, sha256_of
from goalward.errors import GoalwardError
from goalward.report.pages.assets import INDEX
from goalward.report.pages.scripts import is_whole, script_text, write_script
from goalward.report.words.audit import finding_words
from goalward.run_folder import RunFolder
from goalward.runs.auditing.audit import read_audit

_log = logging.getLogger("goalward.report")


def refresh_marks(run: RunFolder) -> Path | None:
    """Mark episodes in the report that a run has; which file to open, None where there is none."""
    if not (run.report / INDEX).is_file():
        return None
    write_marks(run, run.report)
    return run.report / INDEX


def write_marks(run: RunFolder, folder: Path) -> None:
    """A script beside the numbers of a report: small, and written anew without the rest."""
    marks = {"audit": _audited(run), "curation": _curated(run)}
    path = folder / "data" / "marks.js"
    if not (is_whole(path) and path.read_text().startswith(script_text("marks", marks))):
        write_script(path, "marks", marks)


def _audited(run: RunFolder) -> dict[str, list[dict[str, Any]]]:
    """By episode what to look at, the surest first."""
    found: dict[str, list[dict[str, Any]]] = {}
    if not _is_of_these_values(run, run.audit / "audit.json"):
        return found
    try:
        audit = read_audit(run)
    except GoalwardError as error:
        _log.warning("no marks of the audit: %s", error)
        return found
    for one in () if audit is None else audit.findings:
        words = finding_words(one, audit.near_steps if audit else None)
        mark = {"sure": round(100 * one.sure), "frame": one.frames[0], "words": words}
        found.setdefault(one.episode, []).append(mark)
    return found


def _curated(run: RunFolder) -> dict[str, dict[str, Any]]:
    """By episode whether it is kept, how many frames of it, and the rules that dropped others."""
    path = run.curation / "episodes.csv"
    if not _is_of_these_values(run, path):
        return {}
    try:
        noted = noted_checksums(run.curation / "checksums.txt").get(path.name)
        if sha256_of(path) != noted:
            raise DamagedFile(path)
        with path.open(newline="", encoding="utf-8") as file:
            return {
                row["episode"]: {
                    "decision": row["decision"],
                    "kept": int(row["frames_kept"]),
                    "reasons": row["reasons"].split(),
                }
                for row in csv.DictReader(file)
            }
    except (GoalwardError, OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        _log.warning("%s: is no list of a curation (%s), so no episode is marked", path, error)
        return {}


def _is_of_these_values(run: RunFolder, path: Path) -> bool:
    """Whether a file is there, and newer than the values: others say nothing of them."""
    try:
        return path.stat().st_mtime_ns >= run.values.stat().st_mtime_ns
    except OSError:
        return False

"""What an audit and a curation of a run said of its episodes, for the page to mark them."""

import csv
import logging
from pathlib import Path
from typing import Any

from goalward.checksums import DamagedFile, carried_checksum, noted_checksums, sha256_of
from goalward.errors import GoalwardError, command_line
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
    path = run.audit / "audit.json"
    try:
        audit = read_audit(run)
        if audit is None or not _is_of_these_values(run, path, audit.of_values, "audit"):
            return found
    except (GoalwardError, OSError) as error:
        _log.warning("no marks of the audit: %s", error)
        return found
    for one in audit.findings:
        words = finding_words(one, audit.near_steps)
        mark = {"sure": round(100 * one.sure), "frame": one.frames[0], "words": words}
        found.setdefault(one.episode, []).append(mark)
    return found


def _curated(run: RunFolder) -> dict[str, dict[str, Any]]:
    """By episode whether it is kept, how many frames of it, and the rules that dropped others."""
    path = run.curation / "episodes.csv"
    if not path.exists():
        return {}
    try:
        noted = noted_checksums(run.curation / "checksums.txt")
        if sha256_of(path) != noted.get(path.name):
            raise DamagedFile(path)
        if not _is_of_these_values(run, path, noted.get(f"../{run.values.name}", ""), "curate"):
            return {}
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


def _is_of_these_values(run: RunFolder, path: Path, of_values: str, verb: str) -> bool:
    """Whether a file speaks of the values that are there now: of others it says nothing.

    Files of earlier versions do not say of which; then it is to be newer than the values.
    """
    if of_values:
        is_of_these = of_values in (carried_checksum(run.values), sha256_of(run.values))
    else:
        is_of_these = path.stat().st_mtime_ns >= run.values.stat().st_mtime_ns
    if not is_of_these:
        again = command_line(verb, run.path)
        _log.warning("%s: was made of other values, and marks nothing; `%s` again", path, again)
    return is_of_these

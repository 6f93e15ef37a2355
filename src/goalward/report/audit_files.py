"""An audit as files: JSON, tables, a list of labels to fill in, frames to look at."""

import csv
import io
import logging
from collections.abc import Iterable
from pathlib import Path

from goalward.errors import GoalwardError
from goalward.files import write_text, written_whole
from goalward.metrics.auditing.audit import Audit, Finding, FindingKind
from goalward.progress import progress_bar
from goalward.report.words.audit import audit_document, finding_words
from goalward.report.words.rendering import markdown
from goalward.rollouts.contact_sheet import Strip, strip_sheet
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.runs.folder.codec import write_json

_log = logging.getLogger("goalward.report")
SHEET = "sheet.png"
_MOST_STRIPS = 24
_FRAMES_IN_STRIP = 6
_FINDING_COLUMNS = (
    *("episode", "finding", "sure", "outcome", "goal_frame", "suggested", "suggested_goal_frame"),
    *("looked", "frames", "twin", "elsewhere", "reason"),
)
_LABEL_COLUMNS = ("episode", "outcome", "goal_frame", "wrong", "look_at", "reason")


def write_audit(
    audit: Audit, folder: str | Path, rollouts: Rollouts | None = None, *, progress: bool = True
) -> Path:
    """Write audit.json, audit.csv, audit.md, labels.csv and, of rollouts with cameras, sheet.png.

    A labels.csv that is there already may have been filled in by somebody: it is kept, and the new
    one is called labels-2.csv. An earlier picture goes where there is none now. Returns the list of
    labels.
    """
    folder = Path(folder)
    write_json(folder / "audit.json", audit, has_checksum=True)
    write_text(folder / "audit.csv", findings_csv(audit))
    drawn = rollouts if audit.findings and rollouts and rollouts.camera_names else None
    labels = _write_labels(audit, folder)
    document = audit_document(audit, None, labels, has_sheet=drawn is not None)
    write_text(folder / "audit.md", markdown(document))
    if drawn is None:
        (folder / SHEET).unlink(missing_ok=True)
    else:
        _write_sheet(audit, drawn, folder / SHEET, progress)
    return labels


def findings_csv(audit: Audit) -> str:
    """A row per finding, the surest first."""
    return _as_csv(_FINDING_COLUMNS, _finding_rows(audit))


def _as_csv(columns: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    return text.getvalue()


def _finding_rows(audit: Audit) -> Iterable[tuple[object, ...]]:
    for found in audit.findings:
        yield (
            *(found.episode, str(found.kind), f"{found.sure:.3f}", str(found.outcome)),
            *(
                _blank(found.goal_frame),
                _blank(found.suggested),
                _blank(found.suggested_goal_frame),
            ),
            "" if found.looked is None else f"{found.looked:.3f}",
            *(" ".join(map(str, found.frames)), _blank(found.twin), found.elsewhere),
            finding_words(found, audit.near_steps),
        )


def _blank(cell: object) -> object:
    return "" if cell is None else str(cell)


# ---- labels to fill in --------------------------------------------------------------------------


def _label_rows(audit: Audit) -> Iterable[tuple[object, ...]]:
    """Every episode with the outcome that it has, those to look at first on top."""
    first = list(dict.fromkeys(found.episode for found in audit.findings))
    by_id = {episode.id: episode for episode in audit.episodes}
    for episode_id in dict.fromkeys([*first, *by_id]):
        episode, found = by_id[episode_id], audit.of(episode_id)
        # A goal at the last frame is what a success has anyway, and a frame that is left beside an
        # outcome that was changed would be an error.
        is_last = episode.goal_frame is None or episode.goal_frame == episode.num_frames - 1
        yield (
            *(episode.id, str(episode.outcome), "" if is_last else episode.goal_frame),
            "" if episode.wrong is None else f"{episode.wrong:.3f}",
            " ".join(str(frame) for frame in dict.fromkeys(f for one in found for f in one.frames)),
            "; ".join(finding_words(one, audit.near_steps) for one in found),
        )


def labels_path(audit: Audit, folder: Path) -> Path:
    """The list of an audit: that with just these lines, or the first name that is free."""
    number, path, text = 1, folder / "labels.csv", _labels_csv(audit)
    while path.exists():
        try:
            if path.read_text(encoding="utf-8") == text:
                return path
        except (OSError, UnicodeDecodeError) as error:
            raise GoalwardError(f"{path}: cannot be read ({error})") from error
        number += 1
        path = folder / f"labels-{number}.csv"
    return path


def _labels_csv(audit: Audit) -> str:
    return _as_csv(_LABEL_COLUMNS, _label_rows(audit))


def _write_labels(audit: Audit, folder: Path) -> Path:
    path, first = labels_path(audit, folder), folder / "labels.csv"
    if path.exists():
        return path
    if path != first:
        _log.warning(
            "%s: is kept, as somebody may have filled it in; the new list is %s", first, path.name
        )
    write_text(path, _labels_csv(audit))
    return path


# ---- frames to look at --------------------------------------------------------------------------


def _write_sheet(audit: Audit, rollouts: Rollouts, path: Path, progress: bool) -> None:
    strips = _goals_elsewhere(audit, rollouts)
    by_id = {episode.id: episode for episode in rollouts}
    for found in audit.findings[:_MOST_STRIPS]:
        strips.append(_strip(found, by_id[found.episode], audit.near_steps))
    heading = f"{min(len(audit.findings), _MOST_STRIPS)} of {len(audit.findings)} findings"
    with progress_bar("drawing episodes", is_shown=progress) as update:
        sheet = strip_sheet(strips, rollouts.camera_names, heading, on_strip=update)
    with written_whole(path) as temporary:
        sheet.picture.save(temporary)
    for problem in sheet.problems:
        _log.warning("%s", problem)


def _goals_elsewhere(audit: Audit, rollouts: Rollouts) -> list[Strip]:
    """The success whose label is least in doubt, for comparison: how the goal looks."""
    sure = [
        episode
        for episode in audit.episodes
        if episode.outcome is Outcome.SUCCESS and episode.wrong is not None
    ]
    if not sure:
        return []
    episode = rollouts.episode(min(sure, key=lambda one: one.wrong or 0.0).id)
    goal = episode.num_frames - 1 if episode.goal_frame is None else episode.goal_frame
    frames = _towards(0, goal)
    return [Strip(episode, frames, ("for comparison: a success nobody doubts",), {goal: "goal"})]


def _strip(found: Finding, episode: Episode, near_steps: int | None) -> Strip:
    """Frames up to and around those to look at."""
    first, last = found.frames[0], found.frames[-1]
    label_kinds = (FindingKind.SUCCESS_NEVER_NEAR, FindingKind.LOOKED_DONE)
    start = max(first - 3 * (near_steps or 1), 0) if found.kind in label_kinds else first
    chosen = {*_towards(start, last), *found.frames}
    if found.kind in (FindingKind.GOAL_EARLY, FindingKind.GOAL_LATE):
        chosen |= {max(first - (near_steps or 1), 0), episode.num_frames - 1}
    notes = {frame: "looks done" for frame in found.frames if found.kind is FindingKind.LOOKED_DONE}
    notes = dict(list(notes.items())[:1])
    if found.suggested_goal_frame is not None and found.kind is not FindingKind.LOOKED_DONE:
        notes[found.suggested_goal_frame] = "goal?"
    if episode.goal_frame is not None:
        notes[episode.goal_frame] = "marked as goal"
    words = (f"{100 * found.sure:.0f} % sure:", finding_words(found, near_steps))
    return Strip(episode, tuple(sorted(chosen)), words, notes)


def _towards(first: int, last: int) -> tuple[int, ...]:
    """Some frames from one to another, both among them.

    >>> _towards(0, 10), _towards(4, 4)
    ((0, 2, 4, 6, 8, 10), (4,))
    """
    count = _FRAMES_IN_STRIP - 1
    spaced = [round(first + (last - first) * i / count) for i in range(_FRAMES_IN_STRIP)]
    return tuple(dict.fromkeys(spaced))

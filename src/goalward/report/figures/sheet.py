"""A contact sheet of one episode of a run: its telling frames, found by rule, and its curve."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from PIL import Image as PillowImage

from goalward.errors import GoalwardError, RolloutError, argument
from goalward.files import check_folder, written_whole
from goalward.looks import EVENT_LOOKS
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.progress import progress_bar
from goalward.report.figures.curve import KnownValue
from goalward.report.figures.episode import Moment, Picture, episode_figure
from goalward.report.figures.scores import save_figure
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.runs.curves import Curves
from goalward.runs.run import Run
from goalward.runs.settings import RunEpisode
from goalward.values.events import Event, EventKind

USUAL_COLUMNS = 6
FEWEST_COLUMNS, MOST_COLUMNS = 2, 12
# Moments are no closer than this part of the episode.
_CLOSEST = 1 / 20
_LONGEST_ID = 60
# What a column of a page has room for at 300 dots per inch.
_WIDEST_PICTURE = 400


def write_sheets(
    run: Run,
    episodes: Sequence[str],
    *,
    method: str | None = None,
    out: Path | None = None,
    data: Path | None = None,
    cameras: Sequence[str] | None = None,
    columns: int = USUAL_COLUMNS,
    progress: bool = True,
) -> dict[str, list[Path]]:
    """The sheets of these episodes, in the run's folder unless `out` says where; files by id.

    With no cameras at all, `cameras=()`, the rollouts are not needed.
    """
    check_columns(columns)
    stems = {episode_id: run.file_stem(run.position(episode_id)) for episode_id in episodes}
    events = run.events_by(method)
    folder = run.folder.sheets if out is None else out
    check_folder(folder)
    rollouts = None
    if cameras is None or len(cameras) > 0:
        with progress_bar("reading", is_shown=progress) as update:
            try:
                rollouts = run.read_rollouts(data, update)
            except GoalwardError as error:
                hint = f"{argument('cameras', ())} draws the curve alone"
                raise RolloutError(f"{error}; {hint}") from error
    truth = run.read_truth(data)
    written: dict[str, list[Path]] = {}
    with progress_bar("drawing", is_shown=progress) as update:
        for so_far, (episode_id, stem) in enumerate(stems.items()):
            update(so_far, len(stems))
            written[episode_id] = write_sheet(
                run,
                rollouts,
                episode_id,
                folder / stem,
                method=method,
                cameras=cameras,
                columns=columns,
                events=events[episode_id],
                truth=truth,
            )
    return written


def write_sheet(
    run: Run,
    rollouts: Rollouts | None,
    episode_id: str,
    path_without_suffix: Path,
    *,
    method: str | None = None,
    cameras: Sequence[str] | None = None,
    columns: int = USUAL_COLUMNS,
    events: Sequence[Event] | None = None,
    truth: FrameTruth | None = None,
) -> list[Path]:
    """Write the sheet of an episode as PNG, SVG and PDF; the same sheet gives the same files.

    Without rollouts, or without cameras, there is the curve alone. `events` are those of the
    episode, for those who know them already; `Run.read_truth` finds the truth.
    """
    figure = sheet_figure(
        run,
        rollouts,
        episode_id,
        method=method,
        cameras=cameras,
        columns=columns,
        events=events,
        truth=truth,
    )
    return [*save_figure(figure, path_without_suffix), _save_pdf(figure, path_without_suffix)]


def sheet_figure(
    run: Run,
    rollouts: Rollouts | None,
    episode_id: str,
    *,
    method: str | None = None,
    cameras: Sequence[str] | None = None,
    columns: int = USUAL_COLUMNS,
    events: Sequence[Event] | None = None,
    truth: FrameTruth | None = None,
) -> Figure:
    """The figure that `write_sheet` writes."""
    check_columns(columns)
    episode = run.episode(episode_id)
    curves = curves_of(run, episode_id, run.method if method is None else method)
    if events is None:
        events = run.events_by(method)[episode_id]
    named = chosen_moments(episode, events, columns)
    recorded = None if rollouts is None else rollouts.episode(episode_id)
    names = _cameras(recorded, cameras)
    seen = [] if recorded is None else [_pictures(recorded, name, list(named)) for name in names]
    moments = [
        Moment(frame, label, tuple(camera[position] for camera in seen), kind)
        for position, (frame, (label, kind)) in enumerate(named.items())
    ]
    outcome = episode.outcome.replace("_", "-")
    # A long task is cut at its end: what the episode is comes first.
    which = f"episode {_short(episode.id)} ({outcome})"
    return episode_figure(
        f"{which}: {episode.task}" if episode.task else which,
        moments,
        curves,
        events=events,
        truth=known_values(truth, episode_id, run.discount),
        cameras=names,
    )


def check_columns(columns: int) -> None:
    if not FEWEST_COLUMNS <= columns <= MOST_COLUMNS:
        raise GoalwardError(
            f"a sheet has {FEWEST_COLUMNS} to {MOST_COLUMNS} columns, not {columns}"
        )


def curves_of(run: Run, episode_id: str, first: str) -> list[Curves]:
    """The curves of one episode by all methods, `first` before the others."""
    frames = run.frames_of(run.position(episode_id))
    methods = [first, *(method for method in run.values.methods if method != first)]
    return [run.curves(method).part(frames) for method in methods]


# ---- moments ------------------------------------------------------------------------------------


def chosen_moments(
    episode: RunEpisode, events: Sequence[Event], columns: int
) -> dict[int, tuple[str, EventKind | None]]:
    """Frames to show, in order, each with its label and what kind of event it is.

    The start; the goal, or the end where there was none; the events, the largest first, until the
    columns are full; then frames between them, spread evenly. No two are closer than 1/20 of the
    episode.
    """
    end = episode.num_frames - 1 if episode.goal_frame is None else episode.goal_frame
    chosen: dict[int, tuple[str, EventKind | None]] = {0: ("start", None)}
    if episode.outcome is Outcome.SUCCESS:
        chosen[end] = (EVENT_LOOKS[EventKind.GOAL].short, EventKind.GOAL)
    else:
        chosen[end] = (episode.outcome.replace("_", "-"), None)
    closest = max(_CLOSEST * episode.num_frames, 1.0)
    for event in sorted(events, key=lambda event: (-_size(event), event.frame)):
        if event.kind is EventKind.GOAL or len(chosen) >= columns:
            continue
        if all(abs(event.frame - frame) >= closest for frame in chosen):
            chosen[event.frame] = (_label(event), event.kind)
    for frame in filled(list(chosen), columns, closest):
        chosen.setdefault(frame, ("", None))
    return dict(sorted(chosen.items()))


def filled(frames: Sequence[int], columns: int, closest: float) -> list[int]:
    """The frames and more between them, as evenly as gaps allow, until there are enough.

    >>> filled([0, 60, 70], 5, 5.0)
    [0, 20, 40, 60, 70]
    """
    known = sorted(frames)
    gaps = np.diff(known)
    parts = np.ones(len(gaps), dtype=np.int64)
    while len(gaps) and 1 + parts.sum() < columns:
        widest = int((gaps / parts).argmax())
        if gaps[widest] // (parts[widest] + 1) < closest:
            break
        parts[widest] += 1
    inner = [
        start + round(gap * part / count)
        for start, gap, count in zip(known, gaps.tolist(), parts.tolist(), strict=False)
        for part in range(1, count)
    ]
    return sorted([*known, *inner])


def _short(episode_id: str) -> str:
    most = _LONGEST_ID
    return episode_id if len(episode_id) <= most else f"{episode_id[:most]}…"


def _size(event: Event) -> float:
    """Steps that an event cost or won; what cannot be undone counts most."""
    if event.kind is EventKind.NO_RETURN:
        return float("inf")
    if event.kind is EventKind.STALL:
        return event.size
    return abs(event.steps_after - event.steps_before)


def _label(event: Event) -> str:
    word = EVENT_LOOKS[event.kind].short
    return f"{word} {event.size:.0f} frames" if event.kind is EventKind.STALL else word


# ---- frames and truth ---------------------------------------------------------------------------


def _cameras(episode: Episode | None, wanted: Sequence[str] | None) -> list[str]:
    if episode is None:
        return []
    if wanted is None:
        return list(episode.cameras)
    for name in wanted:
        episode.camera(name)
    return list(wanted)


def _pictures(episode: Episode, camera: str, frames: Sequence[int]) -> list[Picture]:
    try:
        return [_small(picture) for picture in episode.frames_at(camera, frames)]
    except RolloutError as error:
        # A file may hold the videos of many episodes.
        raise RolloutError(f"episode {episode.id}: {error}") from error


def _small(picture: Picture) -> Picture:
    height, width = picture.shape[:2]
    if width <= _WIDEST_PICTURE:
        return picture
    size = (_WIDEST_PICTURE, max(round(height * _WIDEST_PICTURE / width), 1))
    resized = PillowImage.fromarray(picture).resize(size, PillowImage.Resampling.LANCZOS)
    return np.asarray(resized)


def known_values(truth: FrameTruth | None, episode_id: str, discount: float) -> list[KnownValue]:
    """The true values of an episode's frames, in the order of the frames."""
    if truth is None:
        return []
    rows = [row for row, found in enumerate(truth.episode_ids) if found == episode_id]
    rows.sort(key=lambda row: int(truth.frame_indices[row]))
    numbers = truth.true_value(discount)
    return [
        KnownValue(
            int(truth.frame_indices[row]),
            float(numbers.mean[row]),
            float(numbers.standard_error[row]),
        )
        for row in rows
    ]


def _save_pdf(figure: Figure, path_without_suffix: Path) -> Path:
    path = path_without_suffix.with_name(f"{path_without_suffix.name}.pdf")
    # Letters that journals take (Type 42), and no date.
    with rc_context({"pdf.fonttype": 42}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")
        with written_whole(path) as temporary:
            figure.savefig(temporary, format="pdf", metadata={"CreationDate": None})
    return path

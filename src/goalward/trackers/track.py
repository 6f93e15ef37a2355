"""`goalward.track`: a run told to wandb or trackio, by their own packages."""

# pyright: basic
# (both are optional)

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from goalward.errors import GoalwardError, argument
from goalward.runs.folder.stored import as_run
from goalward.runs.run import Run
from goalward.trackers.names import TRACKERS
from goalward.trackers.tracked import Curve, Tracked, tracked_run

PROJECT = "goalward"


def track(run: Run | Tracked | str | Path, tracker: str, *, project: str = PROJECT) -> None:
    """Tell a tracker the settings, scores, training curves and figures of a run, and its report.

    What the tracker does with them is its own affair: WANDB_MODE=offline keeps all of it on disk,
    trackio does so by itself.
    """
    module = import_tracker(tracker)
    told = run if isinstance(run, Tracked) else tracked_run(as_run(run))
    _TRACKERS[tracker](module, told, project)


def import_tracker(tracker: str) -> Any:
    """The package of a tracker; before anything is trained for hours, too."""
    if tracker not in TRACKERS:
        raise GoalwardError(f"no tracker {tracker!r}; there are {', '.join(TRACKERS)}")
    try:
        return importlib.import_module(tracker)
    except ImportError as error:
        raise GoalwardError(
            f"{argument('tracker', tracker)} needs the package {tracker}: "
            f"pip install 'goalward[{tracker}]'"
        ) from error


def points_of(curves: list[Curve] | tuple[Curve, ...]) -> Iterator[tuple[int, dict[str, float]]]:
    """All curves together, step by step: trackers want steps that rise.

    >>> list(points_of([Curve("a", (1, 3), (0.5, 0.2)), Curve("b", (3,), (0.9,))]))
    [(1, {'a': 0.5}), (3, {'a': 0.2, 'b': 0.9})]
    """
    at: dict[int, dict[str, float]] = {}
    for curve in curves:
        for step, value in zip(curve.steps, curve.values, strict=True):
            at.setdefault(step, {})[curve.name] = value
    for step in sorted(at):
        yield step, at[step]


def _track_wandb(wandb: Any, told: Tracked, project: str) -> None:
    try:
        run = wandb.init(
            project=project, name=told.name, config=dict(told.settings), reinit="finish_previous"
        )
    except Exception as error:  # it raises its own and what its parts raise
        raise GoalwardError(
            f"wandb: no run could be begun ({_first_line(error)}); WANDB_MODE=offline keeps it here"
        ) from error
    try:
        last = 0
        for step, values in points_of(list(told.curves)):
            run.log(values, step=step)
            last = step
        pictures = {f"figures/{path.stem}": wandb.Image(str(path)) for path in told.figures}
        # On a row of its own, which is written now and not with whatever comes next.
        run.log(pictures, step=last + 1, commit=True)
        run.summary.update(dict(told.scores))
        run.log_artifact(_artefact(wandb, told, f"goalward-{run.id}"))
    finally:
        run.finish()


def _artefact(tracker: Any, told: Tracked, name: str) -> Any:
    """The report and what it is made of; both trackers take it alike."""
    artefact = tracker.Artifact(name, type="evaluation")
    for path in told.files:
        if path.is_dir():
            artefact.add_dir(str(path), name=path.name)
        else:
            artefact.add_file(str(path), name=path.name)
    return artefact


def _track_trackio(trackio: Any, told: Tracked, project: str) -> None:
    """Scores are the last point, as it has no summary of a run."""
    try:
        trackio.init(project=project, name=told.name, config=_flat(told.settings))
    except Exception as error:
        raise GoalwardError(f"trackio: no run could be begun ({_first_line(error)})") from error
    try:
        last = 0
        for step, values in points_of(list(told.curves)):
            trackio.log(values, step=step)
            last = step
        pictures = {f"figures/{path.stem}": trackio.Image(str(path)) for path in told.figures}
        trackio.log({**told.scores, **pictures}, step=last + 1)
        trackio.log_artifact(_artefact(trackio, told, f"goalward-{_harmless(told.name)}"))
    finally:
        trackio.finish()


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers and texts: what else there is becomes text."""
    plain = (bool, int, float, str)
    return {k: v if isinstance(v, plain) or v is None else str(v) for k, v in settings.items()}


def _harmless(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


_TRACKERS: Mapping[str, Callable[[Any, Tracked, str], None]] = {
    "wandb": _track_wandb,
    "trackio": _track_trackio,
}

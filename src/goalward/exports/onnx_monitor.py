"""A run as a folder that runs beside a robot: encoder and networks as ONNX, and the alarm."""

# pyright: basic
# (torch's exporter and transformers are not typed)

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import goalward
from goalward.embeddings.encoders import DEFAULT_ENCODER, FLOAT, Encoder, find_encoder
from goalward.embeddings.features import layout
from goalward.embeddings.models.preprocessing import Resize, ResizeAndCrop
from goalward.errors import GoalwardError, command_line
from goalward.exports.onnx_networks import (
    lens_arrays,
    networks_of,
    watching_method,
    write_encoder,
    write_heads,
)
from goalward.exports.written import Written
from goalward.files import check_folder
from goalward.monitor.band import Band, band_of
from goalward.monitor.folder import (
    ENCODER,
    MonitorCamera,
    MonitorSettings,
    begin_folder,
    write_folder,
)
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Outcome
from goalward.runs.run import Run
from goalward.training.methods.outputs import survival_edges
from goalward.values.fitted import Fitted, load

# Of the options of reading, those that say what a frame is; the others are about labels.
_OF_FRAMES = ("cameras", "proprioception", "flip", "match")


def export_onnx(
    run: Run,
    rollouts: Rollouts,
    method: str | None,
    *,
    out: Path,
    false_alarms: float,
    data: str | Path | None = None,
) -> Written:
    """Write the folder of a monitor for the speaking method of a run, or another of its methods.

    `data` is where the rollouts lie now, if they have moved.
    """
    check_folder(out)
    fitted = load(run.folder.path)
    chosen = watching_method(fitted, run.method if method is None else method)
    frame = _frame(run, rollouts, fitted)
    by_task = {task: networks_of(fitted, chosen, task) for task in fitted.tasks}
    first = next(iter(by_task.values()))
    if frame.num_given and first.lens is not None:
        frame.num_state = first.lens.num_proprioception(first.input_size)
    # Not before: what is refused leaves an earlier monitor as it is.
    begin_folder(out)
    files: list[str] = []
    resize: dict[str, Any] = {}
    if frame.encoder is not None:
        resize = _written_encoder(frame.encoder, len(frame.cameras), out / ENCODER, frame.cache)
        files.append(ENCODER)
    heads: dict[str, str] = {}
    for number, (task, nets) in enumerate(by_task.items()):
        heads[task] = "heads.onnx" if len(by_task) == 1 else f"heads-{number}.onnx"
        write_heads(nets, out / heads[task])
        files.append(heads[task])
    numbers = fitted.numbers.of(first.runs[0].stage.family)
    assert numbers.discount is not None
    band = _band(run, chosen.name, false_alarms)
    settings = MonitorSettings(
        goalward=goalward.__version__,
        policy=run.policy,
        method=chosen.name,
        encoder="" if frame.encoder is None else frame.encoder.label,
        cameras=frame.cameras,
        resize=resize,
        num_state=frame.num_state,
        num_given=frame.num_given,
        n_obs_steps=frame.n_obs_steps,
        lags=() if first.lens is None else first.lens.lags,
        num_seeds=len(fitted.seeds) * len(fitted.subsets),
        edges=tuple(survival_edges(numbers).tolist()),
        fit_discount=numbers.discount,
        discount=run.discount,
        standard_horizon=run.scores.standard_horizon,
        fps=_rate(run),
        tasks=tuple(dict.fromkeys(episode.task for episode in run.episodes)),
        heads=heads,
        band=band,
        chance_step=_chance_step(run, chosen.name),
        reading={
            name: run.settings.reading[name] for name in _OF_FRAMES if name in run.settings.reading
        },
        notes=(*frame.notes, *_band_notes(band, false_alarms)),
    )
    write_folder(out, settings, lens_arrays(first), files)
    return Written(
        out,
        f"`{_command(run, out, settings, data)}`, or in Python goalward.Monitor.load({str(out)!r})",
        settings.notes,
    )


def _command(run: Run, out: Path, settings: MonitorSettings, data: str | Path | None) -> str:
    """What shows the monitor at work: on an episode of the run, where its rollouts can be read."""
    if settings.num_given:
        return command_line("monitor", out, stdin=True)
    first = run.episodes[0]
    task = {"task": first.task} if len(settings.tasks) > 1 else {}
    if recorded := str(data or run.settings.data.path):
        shown = {"rollouts": recorded, "episodes": first.id}
        return command_line("monitor", out, **shown, **task)
    videos = ",".join(f"{camera.name}.mp4" for camera in settings.cameras)
    state = {"state": "states.npy"} if settings.num_state else {}
    return command_line("monitor", out, video=videos, **state, **task)


def _chance_step(run: Run, method: str) -> float:
    """How far the run moved what the networks of this method say: a monitor moves it as far."""
    moved_by = run.chances.moved_by
    return moved_by[run.chances.methods.index(method)] if moved_by else 0.0


# ---- what a frame is ----------------------------------------------------------------------------


class _Frame:
    """What a monitor is given of a frame, and how it becomes the features learned from."""

    def __init__(self) -> None:
        self.encoder: Encoder | None = None
        self.cache: str | None = None
        self.cameras: tuple[MonitorCamera, ...] = ()
        self.num_state = 0
        self.num_given = 0
        self.n_obs_steps = 1
        self.notes: tuple[str, ...] = ()


def _frame(run: Run, rollouts: Rollouts, fitted: Fitted) -> _Frame:
    found = _Frame()
    given = rollouts.features
    if not run.settings.embedding and given is not None:
        found.num_given = given.shape[1]
        return found
    options = dict(run.settings.embedding)
    encoder = find_encoder(
        options.get("encoder", DEFAULT_ENCODER),
        pool=options.get("pool", "global"),
        precision=options.get("precision", FLOAT),
    )
    names = rollouts.camera_names
    if run.settings.reading.get("cameras") in ((), []):
        names = ()
    every = int(options.get("every", 1))
    found.n_obs_steps = int(options.get("n_obs_steps", 1))
    if options.get("proprioception", True):
        found.num_state = rollouts.proprioception.shape[1]
    words = layout(encoder.label, names, found.num_state, found.n_obs_steps, every=every)
    if words != fitted.feature_layout:
        raise GoalwardError(
            f"{run.folder.path}: its values were learned from {fitted.feature_layout}; a monitor "
            f"would see {words}"
        )
    if every != 1:
        found.notes = (
            f"the values were learned from one frame in {every} and what lies between; the monitor "
            "looks at every frame it is given",
        )
    if not names:
        return found
    found.encoder, found.cache = encoder, options.get("cache")
    found.cameras = tuple(_camera(rollouts, name) for name in names)
    return found


def _written_encoder(
    encoder: Encoder, num_cameras: int, path: Path, cache: str | None
) -> dict[str, Any]:
    """How its pictures are prepared."""
    prepare = write_encoder(encoder, num_cameras, path, cache)
    if not isinstance(prepare, Resize | ResizeAndCrop):
        path.unlink()
        raise GoalwardError(
            f"{encoder.label}: its pictures are prepared by code of transformers, which a monitor "
            "does without; choose another encoder"
        )
    return asdict(prepare)


def _camera(rollouts: Rollouts, name: str) -> MonitorCamera:
    """With the size of its pictures, which must be one."""
    sizes: dict[tuple[int, int], str] = {}
    for episode in rollouts:
        source = episode.camera(name)
        size = source.height, source.width
        if 0 in size:
            height, width, _ = episode.frame(name, 0).shape
            size = height, width
        sizes.setdefault(size, episode.id)
    if len(sizes) > 1:
        told = " and ".join(f"{w} x {h} (episode {one})" for (h, w), one in sizes.items())
        raise GoalwardError(f"camera {name}: episodes have pictures of {told}; a monitor takes one")
    ((height, width),) = sizes
    return MonitorCamera(name, height, width)


def _rate(run: Run) -> float | None:
    rates = {episode.fps for episode in run.episodes}
    return next(iter(rates)) if len(rates) == 1 else None


# ---- the alarm ----------------------------------------------------------------------------------


def successful_curves(run: Run, method: str) -> list[np.ndarray]:
    """The values of every held-out success, up to its goal."""
    value = run.curves(method).value
    return [
        value[run.frames_of(position)][: (episode.goal_frame or 0) + 1]
        for position, episode in enumerate(run.episodes)
        if episode.held_out and episode.outcome is Outcome.SUCCESS
    ]


def _band(run: Run, method: str, level: float) -> Band | None:
    from_folds = run.settings.evaluation.folds != 1
    return band_of(successful_curves(run, method), level, from_folds=from_folds)


def _band_notes(band: Band | None, asked: float) -> Sequence[str]:
    if band is None:
        return ("too few held-out successes for an alarm (six at least): alarm is always false",)
    if band.level > asked:
        return (
            f"{band.num_calibration} held-out successes allow no bound below "
            f"{100 * band.level:.1f} % of successful episodes with an alarm; {100 * asked:g} % "
            f"takes {int(np.ceil(1 / asked - 1e-9)) - 1} and some for the shape of the band",
        )
    return ()

"""A run as a folder that runs beside a robot: encoder and networks as ONNX, and the alarm."""

# pyright: basic
# (torch's exporter and transformers are not typed)

import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import goalward
from goalward.embeddings.encoders import DEFAULT_ENCODER, find_encoder
from goalward.embeddings.features import layout
from goalward.embeddings.image_net import ImageNet, PixelNet
from goalward.embeddings.preprocessing import Resize, ResizeAndCrop
from goalward.errors import GoalwardError, argument, command_line
from goalward.exports.written import Written
from goalward.files import check_folder, written_whole
from goalward.monitor.band import Band, band_of
from goalward.monitor.folder import (
    ENCODER,
    SETTINGS,
    LensArrays,
    MonitorCamera,
    MonitorSettings,
    write_folder,
)
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Outcome
from goalward.runs.run import Run
from goalward.training.inputs import standardised
from goalward.training.lens import Lens
from goalward.training.methods import Method
from goalward.training.nets import Nets, nets_of
from goalward.training.outputs import survival_edges
from goalward.training.value_net import net_outputs
from goalward.values.fitted import Fitted, load

_WITH_CHANCES = ("hazard", "soft-hazard")


def export_onnx(
    run: Run, rollouts: Rollouts, method: str | None, *, out: Path, false_alarms: float
) -> Written:
    """Write the folder of a monitor for the speaking method of a run, or another of its methods."""
    check_folder(out)
    # Without it nobody takes a folder that was begun for a whole one.
    (out / SETTINGS).unlink(missing_ok=True)
    fitted = load(run.folder.path)
    chosen = _method(fitted, run.method if method is None else method)
    frame = _frame(run, rollouts, fitted)
    by_task = {task: _networks(fitted, chosen, task) for task in fitted.tasks}
    files: list[str] = []
    if frame.net is not None:
        _export_encoder(frame.net, len(frame.cameras), out / ENCODER)
        files.append(ENCODER)
    heads: dict[str, str] = {}
    for number, (task, nets) in enumerate(by_task.items()):
        heads[task] = "heads.onnx" if len(by_task) == 1 else f"heads-{number}.onnx"
        _export_heads(nets, out / heads[task])
        files.append(heads[task])
    first = next(iter(by_task.values()))
    numbers = fitted.numbers.of(first.runs[0].stage.family)
    assert numbers.discount is not None
    band = _band(run, chosen.name, false_alarms)
    settings = MonitorSettings(
        goalward=goalward.__version__,
        policy=run.policy,
        method=chosen.name,
        encoder=frame.encoder,
        cameras=frame.cameras,
        resize=frame.resize,
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
        notes=(*frame.notes, *_band_notes(band, false_alarms)),
    )
    write_folder(out, settings, _lens_arrays(first), files)
    return Written(
        out,
        f"`{command_line('monitor', out, video='a.mp4')}`, or in Python "
        f"goalward.Monitor.load({str(out)!r})",
        settings.notes,
    )


def _chance_step(run: Run, method: str) -> float:
    """How far the run moved what the networks of this method say: a monitor moves it as far."""
    moved_by = run.chances.moved_by
    return moved_by[run.chances.methods.index(method)] if moved_by else 0.0


# ---- what a frame is ----------------------------------------------------------------------------


class _Frame:
    """What a monitor is given of a frame, and how it becomes the features learned from."""

    def __init__(self) -> None:
        self.encoder = ""
        self.cameras: tuple[MonitorCamera, ...] = ()
        self.resize: dict[str, Any] = {}
        self.net: ImageNet | None = None
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
        options.get("encoder", DEFAULT_ENCODER), pool=options.get("pool", "global")
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
    found.encoder, found.net = encoder.label, encoder.load()
    resize = found.net.resize
    if not isinstance(resize, Resize | ResizeAndCrop):
        raise GoalwardError(
            f"{encoder.label}: its pictures are prepared by code of transformers, which a monitor "
            "does without; choose another encoder"
        )
    found.resize = asdict(resize)
    found.cameras = tuple(_camera(rollouts, name) for name in names)
    return found


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


# ---- networks -----------------------------------------------------------------------------------


def _method(fitted: Fitted, name: str) -> Method:
    chosen = next((one for one in fitted.fitted_methods if one.name == name), None)
    if chosen is None:
        raise GoalwardError(
            f"{name}: a monitor needs networks, and there are those of {', '.join(fitted.methods)}"
        )
    if chosen.stages[-1].output.name not in _WITH_CHANCES or chosen.after is not None:
        raise GoalwardError(
            f"{name}: a monitor tells chances, which this method does not say; "
            f"{argument('method', 'lambda-returns')} or survival does, in a run that has it"
        )
    return chosen


def _networks(fitted: Fitted, method: Method, task: str) -> Nets:
    """Of all subsets and seeds, the members of a seed one after the other."""
    groups: list[Nets] = []
    for subset in fitted.subsets:
        for seed in fitted.seeds:
            runs = fitted.answers[method.name, seed, task, subset]
            groups.append(nets_of(runs[0], fitted.nets).select(runs))
    first = groups[0]
    if any(_differ(first.lens, nets.lens) for nets in groups):
        raise GoalwardError("the networks see frames in different ways; export one fold's run")
    return Nets(
        runs=tuple(run for nets in groups for run in nets.runs),
        weights={
            name: torch.cat([nets.weights[name] for nets in groups]) for name in first.weights
        },
        mean=torch.cat([nets.mean for nets in groups]),
        scale=torch.cat([nets.scale for nets in groups]),
        lens=first.lens,
    )


def _differ(one: Lens | None, other: Lens | None) -> bool:
    if one is None or other is None:
        return one is not other
    pairs = ((one.mean, other.mean), (one.components, other.components))
    return one.lags != other.lags or not all(_are_equal(*pair) for pair in pairs)


def _are_equal(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def _lens_arrays(nets: Nets) -> LensArrays:
    lens = nets.lens
    if lens is None:
        return LensArrays(nets.mean[0, 0].numpy())
    if lens.mean is None:
        size = lens.num_features(nets.input_size)
        centre = nets.mean[0, 0, :size].numpy()
    else:
        centre = lens.mean
    if lens.tasks is None:
        return LensArrays(centre, lens.mean, lens.components)
    return LensArrays(centre, lens.mean, lens.components, lens.tasks.tasks, lens.tasks.codes)


class _Heads(nn.Module):
    """What is seen of a frame (1, 1, inputs) -> what networks say (networks, 1, outputs)."""

    def __init__(self, nets: Nets) -> None:
        super().__init__()
        self._names = tuple(nets.weights)
        for name, tensor in nets.weights.items():
            self.register_buffer(name, tensor)
        self.register_buffer("input_mean", nets.mean)
        self.register_buffer("input_scale", nets.scale)
        self.input_mean: Tensor
        self.input_scale: Tensor

    def forward(self, inputs: Tensor) -> Tensor:
        seen = standardised(inputs, self.input_mean, self.input_scale, torch.float32)
        return net_outputs({name: getattr(self, name) for name in self._names}, seen)


def _export_heads(nets: Nets, path: Path) -> None:
    heads = _Heads(nets).eval()
    _export(heads, torch.zeros(1, 1, nets.input_size), path, "seen")


def _export_encoder(net: ImageNet, num_cameras: int, path: Path) -> None:
    height, width = net.resize(np.zeros((224, 224, 3), dtype=np.uint8)).shape[:2]
    pixels = PixelNet(net.net, net.normalisation).eval()
    _export(pixels, torch.zeros(num_cameras, height, width, 3, dtype=torch.uint8), path, "pixels")


def _export(net: nn.Module, example: Tensor, path: Path, name: str) -> None:
    try:
        import onnx  # noqa: F401  torch's exporter needs it
    except ImportError as error:
        raise GoalwardError(
            f"{argument('to', 'onnx')} needs the package onnx: pip install 'goalward[onnx]'"
        ) from error
    with warnings.catch_warnings(), torch.inference_mode(), written_whole(path) as temporary:
        # The exporter says that there is a newer one; that one needs yet another package.
        warnings.simplefilter("ignore")
        torch.onnx.export(net, (example,), str(temporary), dynamo=False, input_names=[name])


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

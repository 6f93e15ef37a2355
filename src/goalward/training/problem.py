"""Everything that stays the same while a group of runs trains, as tensors on one device."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from goalward.errors import GoalwardError
from goalward.training.frames import Recording
from goalward.training.inputs import FeatureRows, standardisation
from goalward.training.losses import FrameLoss, frame_loss, value_of
from goalward.training.methods import Stage
from goalward.training.presets import Hyperparameters
from goalward.training.runs import Run

AnchorValues = Mapping[Run, npt.NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class Part:
    """The runs of one stage: a slice of the group, and their tables, (1 or runs, frames)."""

    stage: Stage
    runs: slice
    table: Tensor
    held_out_table: Tensor


@dataclass(frozen=True, eq=False)
class Problem:
    """A group of runs with one kind of output: what they see and what they are to learn.

    Shapes: `at_goal`, `at_end` (frames,); `first_mass` (runs, frames), 1 on the frames a run
    trains on; `window_position` (runs, frames); `mean`, `scale` (runs, 1, size); `held_out`
    (runs, rows) with `held_out_share` (runs, rows) adding up to 1; the rest (runs, 1).
    """

    runs: tuple[Run, ...]
    numbers: Hyperparameters
    rows: FeatureRows
    dtype: torch.dtype
    parts: tuple[Part, ...]
    num_backups: int
    at_goal: Tensor
    at_end: Tensor
    first_mass: Tensor
    num_frames: Tensor
    run_keys: Tensor
    window_position: Tensor | None
    mean: Tensor
    scale: Tensor
    lowest: Tensor
    highest: Tensor
    held_out: Tensor | None
    held_out_share: Tensor | None
    value: Callable[[Tensor], Tensor]
    loss: FrameLoss

    @property
    def device(self) -> torch.device:
        return self.rows.device

    def slices(self, num_runs: int) -> list[slice]:
        """The first runs in portions that are computed at once.

        On CUDA all together: one run alone leaves most of the chip idle. On the CPU one by one:
        its cores are busy with one, whose numbers then stay in the cache, and a run is the same
        network bit for bit in any company.
        """
        portion = num_runs if self.device.type == "cuda" else 1
        return [slice(i, i + portion) for i in range(0, num_runs, max(portion, 1))]

    @property
    def output_size(self) -> int:
        return self.runs[0].stage.output_size(self.numbers)


def problem(
    recording: Recording,
    rows: FeatureRows,
    runs: list[Run],
    anchors: AnchorValues,
    numbers: Hyperparameters,
    dtype: torch.dtype,
) -> Problem:
    """The problem of a group of runs; `anchors` has (frames,) values for runs that need them."""
    device = rows.device
    trained_on = np.stack([_trained_on(recording, run, numbers) for run in runs])
    for run, frames in zip(runs, trained_on, strict=True):
        if not frames.any():
            raise GoalwardError(f"{_name(run)}: no frame has a target to learn")
    mean, scale = standardisation(recording, [run.episodes for run in runs])
    if not numbers.standardise:
        mean, scale = np.zeros_like(mean), np.ones_like(scale)
    held_out, share = _held_out(recording, runs)

    def column(values: list[float], dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.tensor(values, dtype=dtype, device=device)[:, None]

    return Problem(
        runs=tuple(runs),
        numbers=numbers,
        rows=rows,
        dtype=dtype,
        parts=_parts(recording, runs, anchors, numbers, device),
        num_backups=sum(run.stage.backup is not None for run in runs),
        at_goal=torch.from_numpy(recording.at_goal).to(device),
        at_end=torch.from_numpy(recording.at_end).to(device),
        first_mass=torch.from_numpy(trained_on).float().to(device),
        num_frames=column(trained_on.sum(1).tolist(), torch.int64),
        run_keys=column([run.integer("replay") for run in runs], torch.int64),
        window_position=_window_position(runs, trained_on, numbers, device),
        mean=torch.from_numpy(mean)[:, None].to(device),
        scale=torch.from_numpy(scale)[:, None].to(device),
        lowest=column([run.stage.lowest for run in runs]),
        highest=column([run.stage.highest for run in runs]),
        held_out=None if held_out is None else held_out.to(device),
        held_out_share=None if share is None else share.to(device),
        value=value_of(runs[0].stage.output, numbers, device),
        loss=frame_loss(runs[0].stage.output, numbers, device),
    )


def _trained_on(recording: Recording, run: Run, numbers: Hyperparameters) -> npt.NDArray[np.bool_]:
    frames = recording.frames_of(run.episodes)
    if run.stage.backup is not None and numbers.time_out == "open":
        # What follows is not known to be bad: the frame has no target, and is never drawn.
        frames &= ~(recording.timed_out & recording.at_end)
    return frames


def _parts(
    recording: Recording,
    runs: list[Run],
    anchors: AnchorValues,
    numbers: Hyperparameters,
    device: torch.device,
) -> tuple[Part, ...]:
    parts: list[Part] = []
    start = 0
    while start < len(runs):
        stage = runs[start].stage
        here = [run for run in runs[start:] if run.stage is stage]
        anchor = np.stack([anchors[run] for run in here]) if here[0].anchors else None

        def tensor(table: npt.NDArray[np.floating]) -> Tensor:
            return torch.from_numpy(np.atleast_2d(table)).float().to(device)

        parts.append(
            Part(
                stage=stage,
                runs=slice(start, start + len(here)),
                table=tensor(stage.table(recording, anchor, numbers)),
                held_out_table=tensor(stage.held_out_table(recording, anchor, numbers)),
            )
        )
        start += len(here)
    return tuple(parts)


def _window_position(
    runs: list[Run],
    trained_on: npt.NDArray[np.bool_],
    numbers: Hyperparameters,
    device: torch.device,
) -> Tensor | None:
    """Each run's frames in a random order; None where the buffer holds them all."""
    if numbers.capacity is None or (trained_on.sum(1) <= numbers.capacity).all():
        return None
    position = np.zeros(trained_on.shape, dtype=np.int64)
    for row, run in enumerate(runs):
        count = int(trained_on[row].sum())
        order = np.random.default_rng(run.integer("window")).permutation(count)
        position[row, trained_on[row]] = order
    return torch.from_numpy(position).to(device)


def _held_out(recording: Recording, runs: list[Run]) -> tuple[Tensor, Tensor] | tuple[None, None]:
    """Rows of the held-out frames, padded to one length, and each one's share of the mean."""
    frames = [np.flatnonzero(recording.frames_of(run.held_out)) for run in runs]
    longest = max(len(rows) for rows in frames)
    if longest == 0:
        return None, None
    rows = torch.zeros(len(runs), longest, dtype=torch.int64)
    share = torch.zeros(len(runs), longest)
    for run, held_out in enumerate(frames):
        rows[run, : len(held_out)] = torch.from_numpy(held_out)
        share[run, : len(held_out)] = 1 / max(len(held_out), 1)
    return rows, share


def _name(run: Run) -> str:
    task = f", task {run.name}" if run.name else ""
    return f"stage {run.stage_name}, seed {run.seed}{task}"

"""Everything that stays the same while a group of runs trains, as tensors on one device."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from goalward.errors import GoalwardError
from goalward.rollouts.episode import Outcome
from goalward.training.frames.inputs import FeatureRows, standardisation
from goalward.training.frames.training_frames import TrainingFrames
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.outputs import FrameLoss, ValueOf
from goalward.training.methods.stages import Stage
from goalward.training.runs import NetRun

# What runs build on -> what those networks say of all frames.
AnchorValues = Mapping[tuple[NetRun, ...], npt.NDArray[np.float32]]
# Mean and scale of every input, (runs, size) each.
Scaling = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class Part:
    """The runs of one stage: a slice of the group, their tables, and which of these is whose.

    `table` is (tables, frames), or (tables, frames, numbers) where a target is several numbers;
    `table_of` (runs, 1) says which of them each run learns from.
    """

    stage: Stage
    runs: slice
    table: Tensor
    held_out_table: Tensor
    table_of: Tensor

    def targets(self, rows: Tensor, *, held_out: bool = False) -> Tensor:
        """What the tables say of rows (runs, batch) of this part's runs."""
        table = self.held_out_table if held_out else self.table
        return table[self.table_of, rows]


@dataclass(frozen=True, eq=False)
class Problem:
    """A group of runs with one kind of output: what they see and what they are to learn.

    Shapes: `at_goal`, `at_end` (frames,); `first_mass` (runs, frames), 1 on the frames a run
    trains on; `window_position` (runs, frames); `mean`, `scale` (runs, 1, size); `held_out`
    (runs, rows) with `held_out_share` (runs, rows) adding up to 1; the rest (runs, 1).
    """

    runs: tuple[NetRun, ...]
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
    value: ValueOf
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
        return self.runs[0].stage.output.size(self.numbers)


def problem_of(
    frames: TrainingFrames,
    rows: FeatureRows,
    runs: list[NetRun],
    anchors: AnchorValues,
    numbers: Hyperparameters,
    dtype: torch.dtype,
    num_as_they_are: int = 0,
    *,
    scaling: Scaling | None = None,
    num_held_out: Sequence[int] | None = None,
) -> Problem:
    """The problem of a group of runs; `anchors` has (frames,) values for what runs build on, or
    (frames, bins) where they read distributions. The last `num_as_they_are` inputs are not
    standardised.

    Where the frames are some of those that runs learn from, `scaling` is that of all, (runs, size)
    twice; `num_held_out` says that they are some of so many held-out frames of each run, and that
    nothing is learned from them.
    """
    device = rows.device
    trained_on = np.stack([_trained_on(frames, run, numbers) for run in runs])
    for run, chosen in zip(runs, trained_on, strict=True):
        if num_held_out is None and not chosen.any():
            raise GoalwardError(f"{_name(run)}: no frame has a target to learn")
    if scaling is None:
        scaling = standardisation(frames, [run.episodes for run in runs])
    mean, scale = scaling[0].copy(), scaling[1].copy()
    first = 0 if not numbers.standardise else mean.shape[1] - num_as_they_are
    mean[:, first:], scale[:, first:] = 0.0, 1.0
    held_out, share = _held_out(frames, runs, num_held_out)
    output = runs[0].stage.output

    def column(values: list[float], dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.tensor(values, dtype=dtype, device=device)[:, None]

    return Problem(
        runs=tuple(runs),
        numbers=numbers,
        rows=rows,
        dtype=dtype,
        parts=_parts(frames, runs, anchors, numbers, device),
        num_backups=sum(run.stage.backup is not None for run in runs),
        at_goal=torch.from_numpy(frames.endings.at_goal).to(device),
        at_end=torch.from_numpy(frames.endings.at_end).to(device),
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
        value=output.value(numbers, device),
        loss=output.loss(numbers, device),
    )


def _trained_on(
    frames: TrainingFrames, run: NetRun, numbers: Hyperparameters
) -> npt.NDArray[np.bool_]:
    chosen = frames.frames_of(run.episodes)
    if run.stage.backup is not None and numbers.time_out == "open":
        # What follows is not known to be bad: the frame has no target, and is never drawn.
        chosen &= ~(frames.ended_in(Outcome.TIME_OUT) & frames.endings.at_end)
    if run.stage.backup is None and frames.looked_at is not None:
        # Frames between hand values on from step to step where a stage backs up; else they have
        # nothing to teach.
        chosen &= frames.looked_at
    return chosen


def _parts(
    frames: TrainingFrames,
    runs: list[NetRun],
    anchors: AnchorValues,
    numbers: Hyperparameters,
    device: torch.device,
) -> tuple[Part, ...]:
    parts: list[Part] = []
    start = 0
    while start < len(runs):
        stage = runs[start].stage
        here = [run for run in runs[start:] if run.stage == stage]
        # Runs that build on the same networks learn from the same table: all folds of a seed.
        distinct = list(dict.fromkeys(run.anchors for run in here))
        anchor = np.stack([anchors[each] for each in distinct]) if here[0].anchors else None
        place = {each: position for position, each in enumerate(distinct)}
        table_of = [[place[run.anchors]] for run in here]

        def tensor(table: npt.NDArray[np.floating]) -> Tensor:
            return torch.from_numpy(np.atleast_2d(table)).float().to(device)

        table = tensor(stage.table(frames, anchor, numbers))
        parts.append(
            Part(
                stage=stage,
                runs=slice(start, start + len(here)),
                table=table,
                held_out_table=table
                if stage.exact is None
                else tensor(stage.exact(frames, anchor, numbers)),
                table_of=torch.tensor(table_of, device=device),
            )
        )
        start += len(here)
    return tuple(parts)


def _window_position(
    runs: list[NetRun],
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


def _held_out(
    frames: TrainingFrames, runs: list[NetRun], num_held_out: Sequence[int] | None
) -> tuple[Tensor, Tensor] | tuple[None, None]:
    """Rows of the held-out frames, padded to one length, and each one's share of the mean."""
    held_out_rows = [np.flatnonzero(frames.frames_of(run.held_out)) for run in runs]
    longest = max(len(held_out) for held_out in held_out_rows)
    if longest == 0:
        return None, None
    rows = torch.zeros(len(runs), longest, dtype=torch.int64)
    share = torch.zeros(len(runs), longest)
    for run, held_out in enumerate(held_out_rows):
        rows[run, : len(held_out)] = torch.from_numpy(held_out)
        of_all = len(held_out) if num_held_out is None else num_held_out[run]
        share[run, : len(held_out)] = 1 / max(of_all, 1)
    return rows, share


def _name(run: NetRun) -> str:
    task = f", task {run.name}" if run.name else ""
    return f"stage {run.stage.name}, seed {run.seed}{task}"

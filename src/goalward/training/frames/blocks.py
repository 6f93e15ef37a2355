"""Learning from more than memory holds: episodes come in blocks, and every block stays a while.

    epoch 1: [7 2 9] [4 0 5] [1 8 3 6]     epoch 2: [0 9 6] [3 2 8] [7 5 1 4]

All episodes, in an order that is new in every epoch, are cut into blocks that fit. A block is in
memory with all that a training keeps per frame, targets and priorities too, while batches are drawn
from it; the next one is read meanwhile. As many batches are drawn from a block as its share of the
frames, so that over the training a frame is drawn as often as if all were there. What is not the
same: frames of one batch are of one block, and a frame that comes back has lost its priority. Where
everything fits into one block nothing changes, to the last bit.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch

from goalward.seeds import generator
from goalward.training.frames.inputs import FeatureRows, standardisation
from goalward.training.frames.training_frames import TrainingFrames, episodes_at_a_time
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.outputs import SOFT_HAZARD
from goalward.training.problem import AnchorValues, Problem, problem_of
from goalward.training.runs import Episodes, NetRun

_MEGABYTE = 1 << 20


def bytes_per_frame(runs: Sequence[NetRun], input_bytes: int, numbers: Hyperparameters) -> int:
    """What a training of these runs keeps in memory of a frame.

    Its inputs, for each run its priority (with the one it began with), place in the buffer and
    place among those held out, and the targets that runs do not share.
    """
    output = runs[0].stage.output
    size = 2 * output.size(numbers) if output == SOFT_HAZARD else 2
    tables = len({(run.stage.name, run.anchors) for run in runs})
    per_run = 9 + (8 if numbers.capacity is not None else 0) + (12 if runs[0].held_out else 0)
    return input_bytes + per_run * len(runs) + 4 * size * tables


def frames_per_block(
    frames: TrainingFrames, runs: Sequence[NetRun], numbers: Hyperparameters
) -> int:
    """How many frames a block holds; as many as there are, or more, where all fit into one."""
    input_bytes = frames.features.shape[1] * frames.features.dtype.itemsize
    return frames_at_once(runs, input_bytes, numbers)


def frames_at_once(runs: Sequence[NetRun], input_bytes: int, numbers: Hyperparameters) -> int:
    """The same for frames whose inputs take so many bytes."""
    each = bytes_per_frame(runs, input_bytes, numbers)
    return max(int(numbers.block_mb * _MEGABYTE) // each, 1)


@dataclass(frozen=True)
class Stay:
    """A block of episodes, and the batches that are drawn from it: from `first` up to `end`."""

    epoch: int
    episodes: Episodes
    first: int
    end: int


def stays_of(frames: TrainingFrames, at_once: int, numbers: Hyperparameters) -> list[Stay]:
    """All blocks of a training in their order, and how long each stays.

    There are as many epochs as the training draws every frame on average, and one at least; with
    fewer batches than blocks some of them never come.

    >>> import goalward
    >>> from goalward.training.frames.training_frames import training_frames
    >>> frames = training_frames(goalward.from_arrays([np.ones((10, 1))] * 4, success=[True] * 4))
    >>> numbers = Hyperparameters(num_steps=12, batch_size=10)
    >>> stays = stays_of(frames, 20, numbers)
    >>> [(stay.epoch, stay.episodes, stay.first, stay.end) for stay in stays]
    [(0, (1, 2), 0, 2), (0, (0, 3), 2, 3), (1, (0, 1), 3, 4), (1, (2, 3), 4, 6)]
    """
    num_blocks = -(-frames.num_frames // at_once)
    if num_blocks == 1:
        return [Stay(0, tuple(range(frames.num_episodes)), 0, numbers.num_batches)]
    drawn = numbers.num_batches * numbers.batch_size
    num_epochs = max(round(drawn / frames.num_frames), 1)
    blocks: list[tuple[int, Episodes]] = []
    for epoch in range(num_epochs):
        order = generator(0, "blocks", epoch).permutation(frames.num_episodes)
        blocks += [(epoch, block) for block in _cut(frames, order, num_blocks)]
        if len(blocks) >= numbers.num_batches:
            break
    lengths = frames.endings.lengths
    sizes = np.array([lengths[list(block)].sum() for _, block in blocks], dtype=np.float64)
    # Rounded where blocks meet, so that no block gains by the rounding of the others.
    ends = np.rint(np.cumsum(sizes) / sizes.sum() * numbers.num_batches).astype(np.int64)
    firsts = np.concatenate([[0], ends[:-1]])
    return [
        Stay(epoch, block, int(first), int(end))
        for (epoch, block), first, end in zip(blocks, firsts, ends, strict=True)
        if end > first
    ]


def _cut(frames: TrainingFrames, order: npt.NDArray[np.int64], num_blocks: int) -> list[Episodes]:
    """Neighbours in an order, in so many blocks of about one size."""
    lengths = frames.endings.lengths[order]
    middles = np.cumsum(lengths) - lengths / 2
    block_of = (middles / frames.num_frames * num_blocks).astype(np.int64)
    parts = np.split(order, np.flatnonzero(np.diff(block_of)) + 1)
    return [tuple(sorted(part.tolist())) for part in parts]


class Blocks:
    """The problems of a group of runs, one block after the other.

    `anchors` has the values of all frames, mapped where they are large. Features of the next block
    are read while the network learns from this one.
    """

    def __init__(
        self,
        frames: TrainingFrames,
        runs: Sequence[NetRun],
        anchors: AnchorValues,
        numbers: Hyperparameters,
        device: torch.device,
        dtype: torch.dtype,
        num_as_they_are: int = 0,
    ) -> None:
        self.numbers = numbers
        self._frames = frames
        self._runs = tuple(runs)
        self._anchors = anchors
        self._device = device
        self._dtype = dtype
        self._num_as_they_are = num_as_they_are
        self._at_once = frames_per_block(frames, runs, numbers)
        self._stays = stays_of(frames, self._at_once, numbers)
        self._firsts = {stay.first for stay in self._stays}
        self._scaling = standardisation(frames, [run.episodes for run in runs])
        self._num_held_out = [int(frames.endings.lengths[list(r.held_out)].sum()) for r in runs]
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="block")
        self._coming: tuple[int, Future[TrainingFrames]] | None = None

    @property
    def num_blocks(self) -> int:
        return sum(stay.epoch == 0 for stay in self._stays)

    @property
    def holds_out(self) -> bool:
        return any(self._num_held_out)

    def begins(self, batch: int) -> bool:
        """Whether this batch is the first of a block."""
        return batch in self._firsts

    def problem(self, batch: int) -> Problem:
        """What the runs learn from at a batch; the block after it is read from now on."""
        index = next(i for i, stay in enumerate(self._stays) if batch < stay.end)
        stay = self._stays[index]
        block = self._read(index).result()
        self._coming = None
        if index + 1 < len(self._stays):
            self._read(index + 1)
        return self._problem(block, self._with_all(stay.episodes), is_trained_on=True)

    def _read(self, index: int) -> "Future[TrainingFrames]":
        if self._coming is None or self._coming[0] != index:
            episodes = self._with_all(self._stays[index].episodes)
            self._coming = (index, self._reader.submit(self._loaded, episodes))
        return self._coming[1]

    def _loaded(self, episodes: Episodes) -> TrainingFrames:
        return self._frames.select(episodes, most_bytes=1 << 62)

    def _with_all(self, episodes: Episodes) -> Episodes:
        """With an episode for each run that would have none: its first, after the block's first."""
        there = set(episodes)
        for wanted in dict.fromkeys(run.episodes for run in self._runs):
            if there.isdisjoint(wanted):
                there.add(wanted[episodes[0] % len(wanted)])
        return tuple(sorted(there))

    def held_out(self) -> Iterator[Problem]:
        """All held-out episodes, in their order, by blocks that fit."""
        wanted = {episode for run in self._runs for episode in run.held_out}
        for episodes in episodes_at_a_time(self._frames, self._at_once):
            here = tuple(episode for episode in episodes if episode in wanted)
            if here:
                yield self._problem(self._loaded(here), here, is_trained_on=False)

    def _problem(
        self, block: TrainingFrames, episodes: Episodes, *, is_trained_on: bool
    ) -> Problem:
        place = {episode: position for position, episode in enumerate(episodes)}

        def within(members: Episodes) -> Episodes:
            return tuple(place[episode] for episode in members if episode in place)

        runs = [
            replace(
                run,
                episodes=within(run.episodes) if is_trained_on else (),
                held_out=() if is_trained_on else within(run.held_out),
            )
            for run in self._runs
        ]
        rows = np.flatnonzero(self._frames.frames_of(episodes))
        return problem_of(
            block,
            FeatureRows(block.features, self._device),
            runs,
            {anchors: np.asarray(values[rows]) for anchors, values in self._anchors.items()},
            self.numbers,
            self._dtype,
            self._num_as_they_are,
            scaling=self._scaling,
            num_held_out=None if is_trained_on else self._num_held_out,
        )

    def close(self) -> None:
        self._reader.shutdown(wait=True, cancel_futures=True)

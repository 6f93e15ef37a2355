"""Features as the networks see them: gathered by row, standardised per run."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from goalward.training.compiled import fused_on_cuda
from goalward.training.frames import TrainingFrames
from goalward.training.runs import Episodes

# A file of features up to this size is read into memory when training on the CPU.
_SMALL_FILE_BYTES = 2 << 30


class FeatureRows:
    """Rows of features, as the networks of runs see them.

    `on_device` says that gathering needs nothing from the host (and can go into a CUDA graph).
    Features that take more than half of a GPU's free memory, or that are a large file, stay where
    they are, and the rows of each batch travel; `max_bytes` sets another limit.
    """

    def __init__(
        self,
        features: npt.NDArray[np.floating],
        device: torch.device,
        max_bytes: int | None = None,
    ) -> None:
        self.device = device
        self.num_frames, self.size = features.shape
        limit = _room_for(features, device) if max_bytes is None else max_bytes
        self.on_device = features.nbytes <= limit
        self._array = features
        if self.on_device:
            # torch shares memory only with arrays that can be written to.
            share = torch.from_numpy if features.flags.writeable else torch.tensor
            self._tensor = share(features).to(device)

    def standardised(self, rows: Tensor, mean: Tensor, scale: Tensor, dtype: torch.dtype) -> Tensor:
        """Rows (runs, batch) as inputs (runs, batch, size); mean and scale (runs, 1, size)."""
        if self.on_device and self.device.type == "cuda":
            return _gathered(self._tensor, rows, mean, scale, dtype)
        if self.on_device:
            flat = self._tensor.index_select(0, rows.flatten())
        else:
            flat = torch.from_numpy(self._array[rows.flatten().cpu().numpy()]).to(self.device)
        inputs = flat.view(*rows.shape, self.size).float()
        return inputs.sub_(mean).div_(scale).to(dtype)

    def block(self, start: int, end: int) -> Tensor:
        """Neighbouring rows: (end - start, size), fewer at the end."""
        if self.on_device:
            return self._tensor[start:end].float()
        return torch.tensor(self._array[start:end]).to(self.device).float()


def _room_for(features: npt.NDArray[np.floating], device: torch.device) -> int:
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0] // 2
    in_memory = features.flags.writeable
    return features.nbytes if in_memory else _SMALL_FILE_BYTES


def standardisation(
    frames: TrainingFrames, episode_sets: list[Episodes]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Mean and scale of every feature over each set of episodes: two arrays (sets, size).

    Each episode is summed once, about the mean of all, however many sets it is in. A feature
    that never changes gets scale 1: it carries nothing, and dividing by its rounding error
    would make it the loudest.
    """
    distinct = list(dict.fromkeys(episode_sets))
    sums, squares, centre = _episode_sums(frames)
    member = np.zeros((len(distinct), frames.num_episodes))
    for row, episodes in enumerate(distinct):
        member[row, list(episodes)] = 1
    count = (member @ frames.endings.lengths)[:, None]
    mean = member @ sums / count
    deviation = np.sqrt(np.maximum(member @ squares / count - mean**2, 0))
    mean += centre
    scale = np.where(deviation > 1e-6 * (1e-6 + np.abs(mean)), deviation, 1.0)
    index = [distinct.index(episodes) for episodes in episode_sets]
    return mean[index].astype(np.float32), scale[index].astype(np.float32)


def _episode_sums(frames: TrainingFrames) -> tuple[npt.NDArray[Any], ...]:
    """Per episode the sum and the sum of squares of features about their mean over all."""
    size = frames.features.shape[1]
    starts, ends = frames.endings.starts.tolist(), frames.episode_ends.tolist()
    total = np.zeros(size)
    for start, end in zip(starts, ends, strict=True):
        total += frames.features[start:end].sum(axis=0, dtype=np.float64)
    centre = total / frames.num_frames
    sums, squares = np.empty((len(ends), size)), np.empty((len(ends), size))
    for episode, (start, end) in enumerate(zip(starts, ends, strict=True)):
        centred = frames.features[start:end] - centre
        sums[episode] = centred.sum(axis=0)
        squares[episode] = np.einsum("fs,fs->s", centred, centred)
    return sums, squares, centre


@fused_on_cuda
def _gathered(
    features: Tensor, rows: Tensor, mean: Tensor, scale: Tensor, dtype: torch.dtype
) -> Tensor:
    return standardised(features[rows].float(), mean, scale, dtype)


def standardised(inputs: Tensor, mean: Tensor, scale: Tensor, dtype: torch.dtype) -> Tensor:
    """(runs, rows, size) with (runs, 1, size) each; the result is what matrix products take."""
    return ((inputs - mean) / scale).to(dtype)

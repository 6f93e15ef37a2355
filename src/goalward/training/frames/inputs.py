"""Features as the networks see them: gathered by row, standardised per run."""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from goalward.training.frames.training_frames import TrainingFrames
from goalward.training.networks.fused import kernels_for
from goalward.training.runs import Episodes

# A file of features up to this size is read into memory when training on the CPU.
_SMALL_FILE_BYTES = 2 << 30
# Sums of features of single episodes that are held at once.
_SUM_BYTES = 256 << 20


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
            if device.type == "cuda":
                # A kernel counts rows by their size; `to` would keep another order of memory.
                self._tensor = self._tensor.contiguous()

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
    distinct = tuple(dict.fromkeys(episode_sets))
    if distinct not in frames.scalings:
        frames.scalings[distinct] = _scaling(frames, distinct)
    mean, scale = frames.scalings[distinct]
    index = [distinct.index(episodes) for episodes in episode_sets]
    return mean[index].astype(np.float32), scale[index].astype(np.float32)


def _scaling(
    frames: TrainingFrames, distinct: tuple[Episodes, ...]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    member = np.zeros((len(distinct), frames.num_episodes))
    for row, episodes in enumerate(distinct):
        member[row, list(episodes)] = 1
    count = (member @ frames.endings.lengths)[:, None]
    sums, squares = _summed(frames, member)
    mean = sums / count
    deviation = np.sqrt(np.maximum(squares / count - mean**2, 0))
    mean += frames.centre
    return mean, np.where(deviation > 1e-6 * (1e-6 + np.abs(mean)), deviation, 1.0)


def _summed(
    frames: TrainingFrames, member: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Sums over sets of episodes; the sums of all episodes are not held at once where large."""
    size = frames.features.shape[1]
    at_once = max(_SUM_BYTES // (16 * size), 1)
    if frames.num_episodes <= at_once:
        sums, squares, _ = frames.feature_sums
        return _over_sets(member, sums), _over_sets(member, squares)
    total, squared = np.zeros((2, len(member), size))
    for first in range(0, frames.num_episodes, at_once):
        some = range(first, min(first + at_once, frames.num_episodes))
        sums, squares = frames.sums_of(some, frames.centre)
        total += _over_sets(member[:, some.start : some.stop], sums)
        squared += _over_sets(member[:, some.start : some.stop], squares)
    return total, squared


def _over_sets(
    member: npt.NDArray[np.float64], of_episodes: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """One set at a time: one product for all would round a set by how many others there are."""
    return np.stack([row @ of_episodes for row in member])


def _gathered(
    features: Tensor, rows: Tensor, mean: Tensor, scale: Tensor, dtype: torch.dtype
) -> Tensor:
    kernels = kernels_for(features, dtype)
    if kernels is not None:
        return kernels.gathered(features, rows, mean, scale, dtype)
    return standardised(features[rows].float(), mean, scale, dtype)


def standardised(inputs: Tensor, mean: Tensor, scale: Tensor, dtype: torch.dtype) -> Tensor:
    """(runs, rows, size) with (runs, 1, size) each; the result is what matrix products take."""
    return ((inputs - mean) / scale).to(dtype)

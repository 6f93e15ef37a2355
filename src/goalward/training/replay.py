"""Prioritised replay of recorded frames, for all runs at once (Schaul et al., 2016).

Arrays are (runs, frames) over all recorded frames. `mass` is the priority to the power alpha; a
frame that a run does not train on has mass 0 and is never drawn. Random numbers are a function of
run, batch and position and of nothing else: the same on every device, in any company, and after
a restart.
"""

import torch
from torch import Tensor

_32_BITS = 0xFFFFFFFF


def mixed(number: Tensor) -> Tensor:
    """Scatter 32-bit integers (held in int64) so that neighbours have nothing in common.

    The multipliers are those of Wellons' `lowbias32`. An int64 product overflows, but its lower
    32 bits, all that is kept, are exact.

    >>> mixed(torch.tensor([1, 2]))
    tensor([1753845952, 3507691905])
    """
    number = (number ^ (number >> 16)) * 0x7FEB352D & _32_BITS
    number = (number ^ (number >> 15)) * 0x846CA68B & _32_BITS
    return number ^ (number >> 16)


def uniforms(run_keys: Tensor, batch_index: Tensor, num: int) -> Tensor:
    """Random numbers in [0, 1): (runs, num) float64, multiples of 2^-32.

    `run_keys` (runs, 1) are 32-bit integers, `batch_index` a tensor without axes.
    """
    position = torch.arange(num, device=run_keys.device)
    return mixed(position ^ mixed(batch_index ^ mixed(run_keys))).double() / 2**32


def sample_rows(mass: Tensor, uniform: Tensor) -> tuple[Tensor, Tensor]:
    """Frames drawn in proportion to their mass, and the probability each one had.

        P(i) = mass_i / sum of masses

    The range of the sum is cut into as many equal parts as frames are wanted and one is drawn
    from each (the paper's stratified sampling): the same probabilities, less chance.
    (runs, frames) and (runs, batch) become two of (runs, batch).

    >>> rows, chance = sample_rows(torch.tensor([[1.0, 0.0, 3.0]]), torch.full((1, 4), 0.5))
    >>> rows, chance
    (tensor([[0, 2, 2, 2]]), tensor([[0.2500, 0.7500, 0.7500, 0.7500]]))
    """
    num = uniform.shape[1]
    # float32 sums lose whole frames once there are millions.
    cumulated = torch.cumsum(mass, dim=1, dtype=torch.float64)
    total = cumulated[:, -1:]
    part = torch.arange(num, device=mass.device)
    rows = torch.searchsorted(cumulated, (part + uniform) / num * total, right=True)
    rows = rows.clamp_(max=mass.shape[1] - 1)
    return rows, mass.gather(1, rows) / total.to(mass.dtype)


def importance_weights(chance: Tensor, num_frames: Tensor, exponent: Tensor | float) -> Tensor:
    """How much less a frame counts because it was drawn more often than the others.

        w = (N * P)^-beta, over the largest w of the batch

    `chance` (runs, batch), `num_frames` (runs, 1): the N frames that could have been drawn.

    >>> importance_weights(torch.tensor([[0.25, 0.75]]), torch.tensor([[2]]), 1.0)
    tensor([[1.0000, 0.3333]])
    """
    weight = (num_frames * chance) ** -exponent
    return weight / weight.amax(dim=1, keepdim=True)


def priority_mass(error: Tensor, exponent: float, floor: float) -> Tensor:
    """The mass of a frame whose error was just seen: (|error| + floor)^alpha."""
    return (error.abs() + floor) ** exponent


def in_window(position: Tensor, num_frames: Tensor, start: Tensor, capacity: int) -> Tensor:
    """Which frames a buffer of limited capacity holds.

    Every run has its frames in a random order, `position` (runs, frames), and the buffer holds
    `capacity` neighbours from `start` on, the last followed by the first: it fills up and the
    oldest make room, as in a replay buffer that data stream through. A frame that comes back
    has the priority it left with. `num_frames` (runs, 1).

    >>> in_window(torch.tensor([[0, 1, 2, 3]]), torch.tensor([[4]]), torch.tensor(3), 2)
    tensor([[ True, False, False,  True]])
    """
    return (position - start) % num_frames < capacity

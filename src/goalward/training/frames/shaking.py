"""Noise on inputs and dropout between layers: what keeps a network from learning by heart.

Random numbers are a function of run, gradient step, layer and place alone, as those of replay are:
the same on every device, in any company, and after a restart.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.replay import mixed

# Told apart from the numbers that draw rows, which begin from the same keys.
_INPUTS, _HIDDEN = 0x5EED0001, 0x5EED1000


@dataclass(frozen=True)
class Shaking:
    """The noise of one gradient step; nothing where `numbers` ask for none.

    `run_keys` (runs, 1) are 32-bit integers, `step` a tensor without axes.
    """

    run_keys: Tensor
    step: Tensor
    numbers: Hyperparameters

    def inputs(self, inputs: Tensor) -> Tensor:
        """(runs, rows, size) with normal noise added."""
        if not self.numbers.input_noise:
            return inputs
        return inputs + (self.numbers.input_noise * self._normals(inputs)).to(inputs.dtype)

    def hidden(self, hidden: Tensor, layer: int) -> Tensor:
        """(runs, rows, width) with a share of the numbers left out, and the others raised."""
        share = self.numbers.dropout
        if not share:
            return hidden
        kept = self._uniforms(hidden, _HIDDEN + layer) >= share
        return hidden * (kept / (1 - share)).to(hidden.dtype)

    def _normals(self, like: Tensor) -> Tensor:
        """Two uniform numbers make a normal one (Box and Muller 1958)."""
        radius = torch.sqrt(-2 * torch.log1p(-self._uniforms(like, _INPUTS)))
        return radius * torch.cos(2 * math.pi * self._uniforms(like, _INPUTS + 1))

    def _uniforms(self, like: Tensor, purpose: int) -> Tensor:
        """In [0, 1), of the shape of a tensor (runs, rows, size), float32.

        One number of run, step and purpose per row and per column, mixed where they meet: cheaper
        than to mix a number per place twice.
        """
        start = mixed(self.step ^ mixed(self.run_keys ^ purpose))
        _, num_rows, size = like.shape
        row = mixed(torch.arange(num_rows, device=like.device) ^ start)
        place = row[..., None] ^ (torch.arange(size, device=like.device) * 0x9E3779B1 & 0xFFFFFFFF)
        # 24 bits are what a float32 can tell apart below 1.
        return (mixed(place) >> 8).float() / 2**24

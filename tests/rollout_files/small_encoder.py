"""A very small encoder and rollouts of small pictures, for tests of all that is around them."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from goalward.embeddings.encoders import Encoder
from goalward.embeddings.models.image_net import ImageNet
from goalward.embeddings.models.preprocessing import Normalisation, Resize
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.frames import ArrayFrames

WIDTH = 8
PICTURE_SIZE = 16


def small_encoder(*, revision: str = "1" * 40, seed: int = 0) -> Encoder:
    """It travels: workers of other machines load it for themselves."""
    return Encoder("small", "tests/small", revision, "global", partial(_load_net, seed))


def _load_net(seed: int, pool: str) -> ImageNet:
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Flatten(), nn.Linear(PICTURE_SIZE**2 * 3, WIDTH))
    return ImageNet(
        net.requires_grad_(False),
        width=WIDTH,
        resize=Resize(PICTURE_SIZE, PICTURE_SIZE, "bilinear"),
        normalisation=Normalisation(1 / 255, (0.5,) * 3, (0.5,) * 3),
    )


def noise(num_frames: int, seed: int, size: int = 20) -> npt.NDArray[np.uint8]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (num_frames, size, size, 3), dtype=np.uint8)


def picture_rollouts(
    lengths: Sequence[int],
    *,
    cameras: Sequence[str] = ("front",),
    state_size: int = 0,
    seed: int = 0,
) -> Rollouts:
    """Episodes whose frames are noise, in turn successes and time-outs."""
    rng = np.random.default_rng(seed)
    episodes: list[Episode] = []
    for index, length in enumerate(lengths):
        sources = {
            camera: ArrayFrames(noise(length, seed=1000 * seed + 10 * index + number))
            for number, camera in enumerate(cameras)
        }
        state = rng.normal(size=(length, state_size)).astype(np.float32)
        success = index % 2 == 0
        episodes.append(
            Episode(
                str(index),
                length,
                Outcome.SUCCESS if success else Outcome.TIME_OUT,
                goal_frame=length - 1 if success else None,
                proprioception=state,
                cameras=sources,
            )
        )
    return Rollouts(episodes)

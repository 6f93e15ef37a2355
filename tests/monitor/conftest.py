"""A small run with two cameras and proprioception, and its monitor; the real encoder, made once."""

from pathlib import Path

import numpy as np
import pytest
from rollout_files.vision_models import write_model

import goalward
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.frames import ArrayFrames

SIZE = (40, 48)
NUM_EPISODES = 24


def drawn_frames(progress: np.ndarray, colour: int, seed: int) -> np.ndarray:
    """A bright square that moves with the progress, over noise of a colour of its own."""
    generator = np.random.default_rng(seed)
    frames = generator.integers(0, 40, (len(progress), *SIZE, 3), dtype=np.uint8)
    frames[..., colour] += 90
    for frame, share in zip(frames, progress, strict=True):
        column = int(np.clip(share, 0, 1) * (SIZE[1] - 10))
        frame[10:20, column : column + 10] = 250
    return frames


def drawn_episode(number: int, task: str = "") -> Episode:
    generator = np.random.default_rng(number)
    good = number % 3 != 2
    length = int(generator.integers(9, 14)) if good else 16
    progress = np.linspace(0, 1 if good else 0.5, length) + generator.normal(0, 0.03, length)
    state = np.stack([progress, generator.normal(size=length)], axis=1).astype(np.float32)
    return Episode(
        str(number),
        length,
        Outcome.SUCCESS if good else Outcome.TIME_OUT,
        length - 1 if good else None,
        task=task,
        fps=10.0,
        cameras={
            "observation.images.front": ArrayFrames(drawn_frames(progress, 0, number)),
            "observation.images.wrist": ArrayFrames(drawn_frames(1 - progress, 2, 99 + number)),
        },
        proprioception=state,
    )


def small_run(
    folder: Path,
    encoder: str,
    cache: Path,
    tasks=("",),
    embedding=None,
    number=NUM_EPISODES,
    **options,
) -> goalward.Run:
    episodes = [drawn_episode(n, tasks[n % len(tasks)]) for n in range(number)]
    usual = {"seeds": 2, "width": 16, "num_steps": 60, "batch_size": 64}
    usual |= {"rounds": 1, "cross_fit": 2, "learning_rate": 0.01}
    return goalward.evaluate(
        Rollouts(episodes),
        folder,
        encoder=encoder,
        embedding={"cache": str(cache), **(embedding or {})},
        report=False,
        progress=False,
        **(usual | options),
    )


@pytest.fixture(scope="session")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("monitor")


@pytest.fixture(scope="session")
def encoder(place) -> str:
    return str(write_model(place / "siglip", "siglip"))


@pytest.fixture(scope="session")
def run(place, encoder) -> goalward.Run:
    return small_run(place / "run", encoder, place / "cache", embedding={"n_obs_steps": 2})


@pytest.fixture(scope="session")
def folder(run) -> Path:
    return goalward.export(run, "onnx", progress=False).path

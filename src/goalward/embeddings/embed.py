"""Rollouts with cameras -> rollouts with features, each frame encoded once in its life."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from goalward.embeddings.cache.clip_work import ClipWork
from goalward.embeddings.cache.encoder_cache import DamagedEntry, EncoderCache
from goalward.embeddings.embed_job import EmbedJob
from goalward.embeddings.embed_report import EmbedReport, OnEmbedProgress
from goalward.embeddings.encoders import DEFAULT_ENCODER, FLOAT, Encoder
from goalward.embeddings.features import layout, observation, stacked
from goalward.embeddings.models.text_tower import cached_task_vectors
from goalward.errors import GoalwardError, RolloutError, argument
from goalward.executors.choice import LOCAL, Workers
from goalward.executors.shard import Shard
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode
from goalward.rollouts.findings import LeftOut, check_read
from goalward.rollouts.thinning import (
    filled_between,
    frames_looked_at,
)
from goalward.spilled import gathered

if TYPE_CHECKING:
    import torch


# Clips whose embeddings are asked for together, by name, where they lie in a store.
_BROUGHT_TOGETHER = 64


def embed(
    rollouts: Rollouts,
    encoder: str | Encoder = DEFAULT_ENCODER,
    *,
    cameras: Sequence[str] | None = None,
    pool: str = "global",
    precision: str = FLOAT,
    proprioception: bool = True,
    keep_features: bool | None = None,
    n_obs_steps: int = 1,
    every: int = 1,
    device: "torch.device | str | None" = None,
    batch_size: int | None = None,
    cache: str | Path | None = None,
    on: str = LOCAL,
    num_workers: int | None = None,
    strict: bool = False,
    on_progress: OnEmbedProgress | None = None,
    on_finish: Callable[[EmbedReport], None] | None = None,
) -> Rollouts:
    """The same rollouts with features: camera embeddings, proprioception, the last observations.

    Features that the rollouts have already become part of the new ones, after proprioception. If
    they say what they are (`feature_layout`: an earlier call of `embed` made them, say), joining
    and replacing are both likely, and `keep_features` has to decide.

    Frames are encoded once and kept on disk (`cache`, else `GOALWARD_CACHE`, else the platform's
    cache folder); a second call reads them. Stopped at any moment, the same call goes on. An
    episode whose video cannot be decoded is left out with its reason (`left_out`), or is an
    error if `strict`. `n_obs_steps` is how many observations the policy saw. With `every` one frame
    in so many is encoded, and always the first, the goal and the last; vectors between lie on the
    straight line. No cameras at all (`cameras=()`) leaves proprioception alone. `on_finish` hears
    what was done. `precision="int8"` runs a vision transformer in 8 bits on the CPU, two to three
    times as fast; its vectors are others (docs/embedding.md), and are never mixed with those of
    "float". `on` says who encodes: this process (`local`), or `num_workers` workers of a Ray
    cluster (`ray`, or `ray://host:10001`), which share the cache and see the files.

    Where there are several tasks and the encoder can read, their texts become vectors too
    (`task_vectors`).
    """
    check_read(rollouts, "embed")
    started = time.monotonic()
    if n_obs_steps < 1:
        raise GoalwardError(f"{argument('n_obs_steps', n_obs_steps)}: must be at least 1")
    workers = Workers(on, num_workers)
    job = EmbedJob.of(
        rollouts, encoder, cameras, pool, precision, every, batch_size, device, workers
    )
    rollouts, names = job.rollouts, job.cameras
    size = rollouts.proprioception.shape[1] if proprioception else 0
    num_given = _num_given(rollouts, keep_features)
    if not names and not size and not num_given:
        raise GoalwardError("without cameras there must be proprioception, and there is none")
    work = job.work(cache, on_progress)
    job.do(work, job.clips)
    report = work.report
    kept = _without(rollouts, report.left_out, strict)
    in_words = layout(
        job.encoder.label,
        names,
        size,
        n_obs_steps,
        num_given=num_given,
        given=rollouts.feature_layout,
        every=every,
    )
    rows = _Rows(work, names, n_obs_steps, proprioception=size > 0, given=num_given > 0)
    embedded = kept.with_features(
        rows.of(kept),
        layout=in_words,
        task_vectors=_task_vectors(work.store, kept) if names else None,
    )
    report.seconds = time.monotonic() - started
    if on_finish is not None:
        on_finish(report)
    return embedded


def embed_shard(
    rollouts: Rollouts,
    shard: Shard,
    encoder: str | Encoder = DEFAULT_ENCODER,
    *,
    cameras: Sequence[str] | None = None,
    pool: str = "global",
    precision: str = FLOAT,
    every: int = 1,
    device: str | None = None,
    batch_size: int | None = None,
    cache: str | Path | None = None,
    on: str = LOCAL,
    num_workers: int | None = None,
    on_progress: OnEmbedProgress | None = None,
) -> EmbedReport:
    """Put a share of the clips into the cache; `embed` finds those of all shares there.

    A share is the same whatever the others do, and whenever it goes on.
    """
    started = time.monotonic()
    workers = Workers(on, num_workers)
    job = EmbedJob.of(
        rollouts, encoder, cameras, pool, precision, every, batch_size, device, workers
    )
    if not job.cameras:
        raise GoalwardError(f"{argument('shard', str(shard))}: without cameras there is no work")
    work = job.work(cache, on_progress)
    job.do(work, list(shard.share(job.clips)))
    work.report.seconds = time.monotonic() - started
    return work.report


def _task_vectors(store: EncoderCache, rollouts: Rollouts) -> dict[str, tuple[float, ...]] | None:
    """What the texts of several tasks say; one alone has nothing to be told apart from."""
    tasks = [task for task in rollouts.tasks if task]
    return cached_task_vectors(store, tasks) if len(tasks) > 1 else None


def _num_given(rollouts: Rollouts, keep_features: bool | None) -> int:
    """How many features of the rollouts go on into the new ones."""
    # Of the first episode: those of all may have to be put together first.
    given = rollouts[:1].features
    if given is None:
        return 0
    if keep_features is None and rollouts.feature_layout:
        raise GoalwardError(
            f"the rollouts have features already ({rollouts.feature_layout}): "
            f"{argument('keep_features', True)} puts them beside the new ones, "
            f"{argument('keep_features', False)} replaces them"
        )
    return 0 if keep_features is False else given.shape[1]


@dataclass(frozen=True)
class _Rows:
    """Features of frames, from what the cache holds of their cameras."""

    work: ClipWork
    cameras: Sequence[str]
    n_obs_steps: int
    proprioception: bool
    given: bool

    def of(self, rollouts: Rollouts) -> npt.NDArray[np.floating]:
        """All rows in one array, read from the cache episode by episode."""

        def rows(position: int) -> npt.NDArray[np.floating]:
            # A view of one episode: nothing of the others is copied.
            alone = rollouts[position : position + 1]
            numbers = [alone.proprioception] if self.proprioception else []
            if self.given and alone.features is not None:
                numbers.append(alone.features)
            embeddings = [self._cached(alone[0], camera) for camera in self.cameras]
            return stacked(observation(embeddings, *numbers), self.n_obs_steps)

        first = rows(0)
        shape = (rollouts.num_frames, first.shape[1])
        together = max(1, _BROUGHT_TOGETHER // max(1, len(self.cameras)))
        parts = (
            rows(position)
            for start in range(0, len(rollouts), together)
            for position in self._brought(rollouts, start, start + together)
        )
        return gathered(parts, shape, first.dtype, folder=self.work.store.folder)

    def _brought(self, rollouts: Rollouts, start: int, stop: int) -> range:
        """Positions of some episodes; what a store has of them is here, fetched side by side.

        Not of all of them: together they may be more than this machine has room for.
        """
        episodes = rollouts[start:stop]
        known = self.work.fingerprints
        self.work.store.bring(known[e.id, camera] for e in episodes for camera in self.cameras)
        return range(start, start + len(episodes))

    def _cached(self, episode: Episode, camera: str) -> npt.NDArray[np.float16]:
        work, frames = self.work, frames_looked_at(episode)
        fingerprint = work.fingerprints[episode.id, camera]
        try:
            is_known = fingerprint in work.intact
            vectors = work.store.read(fingerprint, len(frames), check=not is_known)
        except DamagedEntry as error:
            raise GoalwardError(f"the cache changed while it was read: {error}") from error
        if vectors is None:
            raise GoalwardError(
                f"{work.store.path(fingerprint)}: was removed while it was needed; run it again"
            )
        if episode.every == 1:
            return vectors
        return filled_between(vectors, frames, episode.num_frames)


def _without(rollouts: Rollouts, left_out: Sequence[LeftOut], strict: bool) -> Rollouts:
    """The episodes that could be embedded; the others are named among those left out."""
    if not left_out:
        return rollouts
    if strict:
        raise RolloutError(f"episode {left_out[0].episode_id}: {left_out[0].reason}")
    ids = {left.episode_id for left in left_out}
    kept = rollouts.filter(lambda episode: episode.id not in ids)
    if not len(kept):
        raise RolloutError(
            f"no episode could be embedded; episode {left_out[0].episode_id}: {left_out[0].reason}"
        )
    return kept.with_left_out(left_out)

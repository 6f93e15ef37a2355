"""Rollouts with cameras -> rollouts with features, each frame encoded once in its life."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from goalward.embeddings.cache import DamagedEntry, EncoderCache, Wanted
from goalward.embeddings.embed_report import EmbedProgress, EmbedReport, OnEmbedProgress
from goalward.embeddings.encoders import DEFAULT_ENCODER, Encoder, find_encoder
from goalward.embeddings.features import gathered, layout, observation, stacked
from goalward.embeddings.text_tower import cached_task_vectors
from goalward.errors import GoalwardError, RolloutError, argument
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode
from goalward.rollouts.findings import LeftOut
from goalward.rollouts.frames import matching_name
from goalward.rollouts.thinning import (
    camera_looked_at,
    filled_between,
    frames_looked_at,
    looked_at_every,
)

if TYPE_CHECKING:
    import torch

_NUM_READERS = 4


def embed(
    rollouts: Rollouts,
    encoder: str | Encoder = DEFAULT_ENCODER,
    *,
    cameras: Sequence[str] | None = None,
    pool: str = "global",
    proprioception: bool = True,
    keep_features: bool | None = None,
    n_obs_steps: int = 1,
    every: int = 1,
    device: "torch.device | str | None" = None,
    batch_size: int | None = None,
    cache: str | Path | None = None,
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
    what was done.

    Where there are several tasks and the encoder can read, their texts become vectors too
    (`task_vectors`).
    """
    started = time.monotonic()
    if not len(rollouts):
        raise GoalwardError("there are no episodes to embed")
    if n_obs_steps < 1:
        raise GoalwardError(f"{argument('n_obs_steps', n_obs_steps)}: must be at least 1")
    if batch_size is not None and batch_size < 1:
        raise GoalwardError(f"{argument('batch_size', batch_size)}: must be at least 1")
    chosen = find_encoder(encoder, pool=pool) if isinstance(encoder, str) else encoder
    names = _camera_names(rollouts, cameras)
    if every != 1 and not names:
        raise GoalwardError(
            f"{argument('every', every)}: there are no cameras to look at less often"
        )
    rollouts = looked_at_every(rollouts, every)
    size = rollouts.proprioception.shape[1] if proprioception else 0
    num_given = _num_given(rollouts, keep_features)
    if not names and not size and not num_given:
        raise GoalwardError("without cameras there must be proprioception, and there is none")
    store = EncoderCache.of(chosen, cache)
    store.sweep()
    report = EmbedReport(encoder=chosen.label, cache=store.folder)
    work = _Work(store, report, on_progress or (lambda _: None))
    wanted = work.fingerprinted(rollouts, names)
    work.encode_missing(wanted, device, batch_size)
    kept = _without(rollouts, report.left_out, strict)
    in_words = layout(
        chosen.label,
        names,
        size,
        n_obs_steps,
        num_given=num_given,
        given=rollouts.feature_layout,
        every=every,
    )
    features = work.features(kept, names, n_obs_steps, proprioception=size > 0, given=num_given > 0)
    embedded = kept.with_features(
        features, layout=in_words, task_vectors=_task_vectors(store, kept) if names else None
    )
    report.seconds = time.monotonic() - started
    if on_finish is not None:
        on_finish(report)
    return embedded


def _camera_names(rollouts: Rollouts, cameras: Sequence[str] | None) -> tuple[str, ...]:
    there = rollouts.camera_names
    if cameras is None and not there:
        raise GoalwardError(
            "no camera is in every episode, so there is nothing to embed; `goalward inspect` "
            f"shows the cameras, and {argument('cameras', ())} leaves proprioception alone"
        )
    if cameras is None:
        return there
    where = rollouts.sources[0].path if rollouts.sources else "rollouts"
    return tuple(dict.fromkeys(matching_name(name, there, where) for name in cameras))


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


@dataclass
class _Work:
    """One call of `embed`: what is in the cache, what had to be encoded, what could not be."""

    store: EncoderCache
    report: EmbedReport
    on_progress: OnEmbedProgress
    fingerprints: dict[tuple[str, str], str] = field(default_factory=dict)
    intact: set[str] = field(default_factory=set)

    def fingerprinted(self, rollouts: Rollouts, cameras: Sequence[str]) -> list[Wanted]:
        """Every clip by what its frames are; one that cannot be read leaves its episode out."""
        clips = [(episode, camera) for camera in cameras for episode in rollouts]
        total = sum(len(frames_looked_at(episode)) for episode in rollouts) * len(cameras)
        wanted: list[Wanted] = []
        frames = 0
        # Reading and hashing wait for the disk and release the interpreter.
        readers = ThreadPoolExecutor(_NUM_READERS)
        try:
            found = readers.map(lambda clip: _fingerprint(clip[0], clip[1]), clips)
            for (episode, camera), fingerprint in zip(clips, found, strict=True):
                if isinstance(fingerprint, RolloutError):
                    self.leave_out(episode, fingerprint)
                else:
                    source = camera_looked_at(episode, camera)
                    wanted.append(Wanted(episode, camera, source, fingerprint))
                    self.fingerprints[episode.id, camera] = fingerprint
                frames += len(frames_looked_at(episode))
                self.on_progress(EmbedProgress("reading", frames, total))
        finally:
            # After an interrupt the rest is not read for nothing.
            readers.shutdown(cancel_futures=True)
        self.report.num_frames = total
        return wanted

    def leave_out(self, episode: Episode, error: GoalwardError) -> None:
        if all(left.episode_id != episode.id for left in self.report.left_out):
            self.report.left_out.append(LeftOut(episode.id, str(error)))

    def encode_missing(
        self,
        wanted: Sequence[Wanted],
        device: "torch.device | str | None",
        batch_size: int | None,
    ) -> None:
        """Encode the clips that are not in the cache and put them there."""
        missing = self._missing(wanted)
        num_missing = sum(clip.frames.num_frames for clip in missing)
        self.report.num_from_cache = sum(clip.frames.num_frames for clip in wanted) - num_missing
        if not missing:
            return
        # torch takes seconds to import: only when there is something to encode.
        from goalward.embeddings.filling import fill_cache

        def on_frames(done: int) -> None:
            self.on_progress(EmbedProgress("embedding", done, num_missing))

        filled = fill_cache(
            self.store, missing, device=device, batch_size=batch_size, on_frames=on_frames
        )
        errors = {clip.fingerprint: error for clip, error in filled.failed}
        # Several episodes may show the same frames.
        for clip in wanted:
            if clip.fingerprint in errors:
                self.leave_out(clip.episode, errors[clip.fingerprint])
        self.report.num_encoded = filled.num_encoded
        self.report.num_unchanged = filled.num_unchanged
        self.report.num_from_cache += filled.num_by_others

    def _missing(self, wanted: Sequence[Wanted]) -> list[Wanted]:
        """Clips to encode, each once; damaged entries are removed."""
        missing: dict[str, Wanted] = {}
        for clip in wanted:
            if clip.fingerprint in missing:
                continue
            try:
                there = self.store.read(clip.fingerprint, clip.frames.num_frames)
            except DamagedEntry:
                self.store.remove(clip.fingerprint)
                self.report.num_rebuilt_clips += 1
                there = None
            if there is None:
                missing[clip.fingerprint] = clip
            else:
                self.store.touch(clip.fingerprint)
                self.intact.add(clip.fingerprint)
        return list(missing.values())

    def features(
        self,
        rollouts: Rollouts,
        cameras: Sequence[str],
        n_obs_steps: int,
        *,
        proprioception: bool,
        given: bool,
    ) -> npt.NDArray[np.floating]:
        """All rows in one array, read from the cache episode by episode."""

        def rows(position: int) -> npt.NDArray[np.floating]:
            # A view of one episode: nothing of the others is copied.
            alone = rollouts[position : position + 1]
            numbers = [alone.proprioception] if proprioception else []
            if given and alone.features is not None:
                numbers.append(alone.features)
            embeddings = [self._cached(alone[0], camera) for camera in cameras]
            return stacked(observation(embeddings, *numbers), n_obs_steps)

        first = rows(0)
        shape = (rollouts.num_frames, first.shape[1])
        parts = (rows(position) for position in range(len(rollouts)))
        return gathered(parts, shape, first.dtype, self.store.folder)

    def _cached(self, episode: Episode, camera: str) -> npt.NDArray[np.float16]:
        fingerprint, frames = self.fingerprints[episode.id, camera], frames_looked_at(episode)
        try:
            is_known = fingerprint in self.intact
            vectors = self.store.read(fingerprint, len(frames), check=not is_known)
        except DamagedEntry as error:
            raise GoalwardError(f"the cache changed while it was read: {error}") from error
        if vectors is None:
            raise GoalwardError(
                f"{self.store.path(fingerprint)}: was removed while it was needed; run it again"
            )
        if episode.every == 1:
            return vectors
        return filled_between(vectors, frames, episode.num_frames)


def _fingerprint(episode: Episode, camera: str) -> str | RolloutError:
    try:
        return camera_looked_at(episode, camera).fingerprint()
    except RolloutError as error:
        return error


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

"""What embedding will take, before it begins: frames to encode, and how fast this machine is."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from goalward.embeddings.cache.encoder_cache import DamagedEntry, EncoderCache
from goalward.embeddings.cache.fingerprint_notes import FingerprintNotes, is_in_store
from goalward.embeddings.encoders import DEFAULT_ENCODER, FLOAT, find_encoder
from goalward.errors import RolloutError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.frames import FrameSource
from goalward.rollouts.thinning import camera_looked_at, looked_at_every

if TYPE_CHECKING:
    import torch

    from goalward.embeddings.models.image_net import Runner

# A look at the cache and a try of the encoder take no longer than this each.
_LOOK_S = 3.0
_TRY_S = 2.0
_READERS = 4
_CLIPS_AT_A_TIME = 32


@dataclass(frozen=True)
class EmbeddingOutlook:
    """Frames are counted per camera. `num_cached` is estimated where a look at all would take long;
    `seconds_per_frame` is measured, 0 where nothing has to be encoded. `size` is that of one frame
    of one camera, None where it is not known yet."""

    num_frames: int
    num_cached: int
    is_estimated: bool
    seconds_per_frame: float
    seconds_to_load: float
    size: int | None

    @property
    def seconds(self) -> float:
        to_encode = self.num_frames - self.num_cached
        return self.seconds_to_load + to_encode * self.seconds_per_frame


def embedding_outlook(
    rollouts: Rollouts,
    encoder: str = DEFAULT_ENCODER,
    *,
    cameras: Sequence[str],
    pool: str = "global",
    precision: str = FLOAT,
    every: int = 1,
    cache: str | Path | None = None,
    device: "torch.device | str | None" = None,
    batch_size: int | None = None,
) -> EmbeddingOutlook:
    """Look at the cache, and let the encoder try some frames that are not in it."""
    store = EncoderCache.of(find_encoder(encoder, pool=pool, precision=precision), cache)
    looked_at = looked_at_every(rollouts, every)
    clips = [camera_looked_at(episode, camera) for episode in looked_at for camera in cameras]
    total = sum(clip.num_frames for clip in clips)
    seen, cached, missing, size = _look(store, clips)
    share = cached / seen if seen else 0.0
    outlook = EmbeddingOutlook(total, round(share * total), seen < total, 0.0, 0.0, size)
    if not missing:
        return outlook
    # torch takes seconds to import: only when there is something to encode.
    from goalward.embeddings.cache.filling import LoadedEncoder, num_decoders

    started = time.monotonic()
    loaded = LoadedEncoder(store, device, batch_size)
    to_load = time.monotonic() - started
    per_frame, size = _try(missing, loaded.runner, num_decoders(loaded.device))
    return EmbeddingOutlook(total, outlook.num_cached, seen < total, per_frame, to_load, size)


def _look(
    store: EncoderCache, clips: Sequence[FrameSource]
) -> tuple[int, int, list[FrameSource], int | None]:
    """Frames looked at, frames found, clips that are missing, the size of one found.

    Spread over the data set: an embedding that was stopped has the first part of it.
    """
    notes = FingerprintNotes.beside(store)
    notes.take(clips)
    # A clip that nobody has noted brings its video from the store: few of them, and then the clock.
    at_a_time = _READERS if any(map(is_in_store, clips)) else _CLIPS_AT_A_TIME
    order = np.random.default_rng(0).permutation(len(clips))
    seen = found = 0
    missing: list[FrameSource] = []
    size: int | None = None
    started = time.monotonic()

    def there(clip: FrameSource) -> tuple[FrameSource, int | None]:
        try:
            vectors = store.read(clip.fingerprint(), clip.num_frames, check=False)
        except (DamagedEntry, RolloutError):
            vectors = None
        return clip, None if vectors is None else vectors.shape[1]

    with ThreadPoolExecutor(_READERS) as readers:
        for start in range(0, len(order), at_a_time):
            some = order[start : start + at_a_time]
            for clip, known in readers.map(there, [clips[position] for position in some]):
                seen += clip.num_frames
                if known is None:
                    missing.append(clip)
                else:
                    found += clip.num_frames
                    size = known
            if time.monotonic() - started > _LOOK_S:
                break
    return seen, found, missing, size


class _Enough(Exception):
    """The encoder has shown how fast it is."""


def _try(
    clips: Sequence[FrameSource], runner: "Runner", num_decoders: int
) -> tuple[float, int | None]:
    """Seconds per frame of some clips, decoding included, and the size of what comes out."""
    from goalward.embeddings.decoding.clip import Clip
    from goalward.embeddings.encoding import encode_clips

    started = first = time.monotonic()
    num_frames = num_first = 0

    def count(more: int) -> None:
        nonlocal num_frames, num_first, first
        num_frames += more
        if not num_first and num_frames:
            # The first batch warms up what the others use.
            first, num_first = time.monotonic(), num_frames
        if time.monotonic() - started > _TRY_S:
            raise _Enough

    tried = [Clip(number, clip) for number, clip in enumerate(clips)]
    try:
        for _ in encode_clips(tried, runner, num_decoders=num_decoders, on_frames=count):
            pass
    except _Enough:
        pass
    size = next((clip.vectors[0].shape[-1] for clip in tried if clip.vectors), None)
    now = time.monotonic()
    if num_frames > num_first:
        return (now - first) / (num_frames - num_first), size
    return (now - started) / max(num_frames, 1), size

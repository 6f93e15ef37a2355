"""Clips that are not in the cache: encoded, written, shared with other processes at work."""

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np
import torch

from goalward.devices import chosen_device
from goalward.embeddings.cache.claims import WorkClaim
from goalward.embeddings.cache.encoder_cache import EncoderCache, Wanted
from goalward.embeddings.decoding.clip import Clip
from goalward.embeddings.encoders import INT8
from goalward.embeddings.encoding import encode_clips
from goalward.embeddings.models.image_net import Runner
from goalward.embeddings.onnx.eight_bit_files import eight_bit_file
from goalward.errors import GoalwardError, RolloutError, argument

# Clips that another process is working on are looked at again after this time.
_LOOK_AGAIN_S = 0.2
_MAX_DECODERS = 16
# Frames for which processes that decode are worth their start, some seconds (docs/log.md).
_WORTH_PROCESSES = 20_000
_WAITING_WRITES = 4
# A claim is an open file, and there may be few of them: 256 on some systems.
_MAX_CLAIMS = 100

ClaimedClip = Clip[tuple[Wanted, WorkClaim]]


class LoadedEncoder:
    """An encoder on a device; one that is kept serves many calls."""

    def __init__(
        self, store: EncoderCache, device: torch.device | str | None, batch_size: int | None
    ) -> None:
        self.device = chosen_device(device)
        if store.encoder.precision == INT8:
            self.runner = _in_eight_bits(store, self.device, batch_size)
        else:
            self.runner = store.encoder.load().on(self.device, batch_size)


def _in_eight_bits(store: EncoderCache, device: torch.device, batch_size: int | None) -> Runner:
    if device.type != "cpu":
        raise GoalwardError(
            f"{argument('precision', INT8)} is for CPUs, and the device is {device}: leave it out, "
            f"or give {argument('device', 'cpu')}"
        )
    path = eight_bit_file(store.encoder, store.folder)
    from goalward.embeddings.onnx.eight_bit_runner import EightBitRunner

    threads = torch.get_num_threads()
    # The numbers are the same whatever the size: two pictures for each thread.
    return EightBitRunner(path, 2 * threads if batch_size is None else batch_size, threads)


@dataclass
class Filled:
    """What was put into the cache, and what could not be."""

    num_encoded: int = 0
    num_unchanged: int = 0
    num_by_others: int = 0
    failed: list[tuple[Wanted, GoalwardError]] = field(default_factory=list)


def fill_cache(
    store: EncoderCache,
    missing: Sequence[Wanted],
    loaded: LoadedEncoder,
    *,
    on_frames: Callable[[int], None],
) -> Filled:
    """Encode these clips and write each as soon as it is whole; a damaged video stops no other."""
    runner = loaded.runner
    store.describe()
    filled = Filled()
    finished = 0

    def count(more: int) -> None:
        nonlocal finished
        finished += more
        on_frames(finished + filled.num_by_others)

    num_missing = sum(wanted.frames.num_frames for wanted in missing)
    writes: deque[Future[None]] = deque()
    with (
        closing(_SharedQueue(store, missing, filled)) as queue,
        ThreadPoolExecutor(1, thread_name_prefix="writer") as writer,
    ):
        # Nobody waits for others while frames of its own wait for a full batch: they might wait
        # for each other. So a round ends, with all of it encoded, before the next look at them.
        while queue.next_round():
            clips = encode_clips(
                queue,
                runner,
                num_decoders=num_decoders(loaded.device),
                in_processes=in_processes(loaded.device, num_missing - finished),
                on_frames=count,
            )
            with closing(clips):
                for clip in clips:
                    writes.append(
                        writer.submit(_write, store, clip, runner.precision, filled, queue)
                    )
                    # An error of the writer (a full disk) ends the work here.
                    while writes and (writes[0].done() or len(writes) > _WAITING_WRITES):
                        writes.popleft().result()
            while writes:
                writes.popleft().result()
    return filled


def num_decoders(device: torch.device) -> int:
    """One decoder keeps a CPU encoder busy, and then one clip is under way at a time."""
    return 1 if device.type == "cpu" else min(os.cpu_count() or 1, _MAX_DECODERS)


def in_processes(device: torch.device, num_frames: int) -> bool:
    """Whether processes decode, which is faster where there is enough to do.

    >>> in_processes(torch.device("cpu"), 10**6), in_processes(torch.device("cuda"), 10**6)
    (False, True)
    >>> in_processes(torch.device("cuda"), 1000)
    False
    """
    return device.type != "cpu" and num_frames >= _WORTH_PROCESSES


def _write(
    store: EncoderCache,
    clip: ClaimedClip,
    precision: str,
    filled: Filled,
    queue: "_SharedQueue",
) -> None:
    wanted, claim = clip.key
    try:
        if clip.error is None and len(clip.shows) != wanted.frames.num_frames:
            clip.error = RolloutError(
                f"camera {wanted.camera} gave {len(clip.shows)} frames, "
                f"wanted {wanted.frames.num_frames}"
            )
        if clip.error is not None:
            filled.failed.append((wanted, clip.error))
            return
        vectors = np.concatenate(clip.vectors)[np.array(clip.shows)]
        store.write(wanted.fingerprint, vectors, precision)
        filled.num_encoded += clip.shows[-1] + 1
        filled.num_unchanged += len(clip.shows) - clip.shows[-1] - 1
    finally:
        queue.drop(claim)


class _SharedQueue:
    """Clips to encode, claimed one by one; those that another process works on come last.

    Iterating is one round: clips that are refused, or too many at once, wait for the next.
    """

    def __init__(self, store: EncoderCache, missing: Iterable[Wanted], filled: Filled) -> None:
        self._store = store
        self._waiting = deque(missing)
        self._filled = filled
        self._held: set[WorkClaim] = set()
        self._was_refused_all = False

    def next_round(self) -> bool:
        """Whether there are clips left; waits a little if others have all of them."""
        if self._waiting and self._was_refused_all:
            time.sleep(_LOOK_AGAIN_S)
        return bool(self._waiting)

    def __iter__(self) -> Iterator[ClaimedClip]:
        refused: list[Wanted] = []
        self._was_refused_all = True
        while self._waiting and len(self._held) < _MAX_CLAIMS:
            wanted = self._waiting.popleft()
            claim = self._store.claim(wanted.fingerprint)
            if claim is None:
                refused.append(wanted)
                continue
            self._was_refused_all = False
            if self._store.has(wanted.fingerprint):
                claim.drop()
                self._filled.num_by_others += wanted.frames.num_frames
            else:
                self._held.add(claim)
                yield Clip((wanted, claim), wanted.frames)
        self._waiting.extend(refused)

    def drop(self, claim: WorkClaim) -> None:
        self._held.discard(claim)
        claim.drop()

    def close(self) -> None:
        """Drop what is still claimed after an error: this process may try again."""
        while self._held:
            self._held.pop().drop()

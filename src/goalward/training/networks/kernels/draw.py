"""A batch of prioritised replay in three launches, where `replay.py` takes sixty."""

# What a kernel takes, numbers of warps among it, is not said in types; without Triton nothing is.
# pyright: reportIndexIssue=false, reportMissingImports=false
# pyright: reportCallIssue=false, reportAttributeAccessIssue=false

import torch
import triton
import triton.language as tl
from torch import Tensor

_TILE, _WARPS = 1024, 4
# Frames are summed up in so many chunks at most, of so many frames at least and at most.
_MOST_CHUNKS, _SMALLEST_CHUNK, _LARGEST_CHUNK = 512, 128, 1024
_LARGEST_BATCH = 8192


def can_draw(num_frames: int, batch_size: int) -> bool:
    """Whether so many frames can be drawn from here."""
    return num_frames <= _MOST_CHUNKS * _LARGEST_CHUNK and batch_size <= _LARGEST_BATCH


def draw(
    mass: Tensor,
    window_position: Tensor | None,
    num_frames: Tensor,
    capacity: int | None,
    run_keys: Tensor,
    batch_index: Tensor,
    batch_size: int,
    exponents: tuple[float, float],
    num_batches: int,
) -> tuple[Tensor, Tensor]:
    """Rows and importance weights, (runs, batch) each: as `step.draw` has them from `replay.py`.

    Without a window `capacity` is None. `exponents` are those of the first and the last batch.
    Sums are of chunks first and then within one, so a frame on the edge of its share may be
    another one's.
    """
    num_runs, frames = mass.shape
    smallest = triton.next_power_of_2(triton.cdiv(frames, _MOST_CHUNKS))
    chunk = max(smallest, _SMALLEST_CHUNK)
    num_chunks = triton.cdiv(frames, chunk)
    sums = torch.empty(num_runs, num_chunks, dtype=torch.float64, device=mass.device)
    position = mass if window_position is None else window_position
    window = {
        "BATCH": batch_size,
        "CAPACITY": capacity or 0,
        "WINDOWED": window_position is not None,
        "CHUNK": chunk,
    }
    at_once = max(_TILE // chunk, 1)
    _sum_chunks[(triton.cdiv(num_chunks, at_once), num_runs)](
        mass,
        position,
        num_frames,
        batch_index,
        sums,
        frames,
        num_chunks,
        AT_ONCE=at_once,
        num_warps=_WARPS,
        **window,
    )
    rows = torch.empty(num_runs, batch_size, dtype=torch.int64, device=mass.device)
    chance = torch.empty(num_runs, batch_size, device=mass.device)
    _draw_rows[(triton.cdiv(batch_size, at_once), num_runs)](
        mass,
        position,
        num_frames,
        batch_index,
        sums,
        run_keys,
        rows,
        chance,
        frames,
        num_chunks,
        CHUNKS=max(triton.next_power_of_2(num_chunks), 16),
        AT_ONCE=at_once,
        num_warps=_WARPS,
        **window,
    )
    weight = torch.empty_like(chance)
    _weigh[(num_runs,)](
        chance,
        num_frames,
        batch_index,
        weight,
        START=exponents[0],
        RISE=(exponents[1] - exponents[0]) / max(num_batches - 1, 1),
        CAPACITY=window["CAPACITY"],
        WINDOWED=window["WINDOWED"],
        BATCH=batch_size,
        BLOCK=triton.next_power_of_2(batch_size),
        num_warps=_WARPS,
    )
    return rows, weight


@triton.jit
def _mixed(number):
    """`replay.mixed` on numbers of 32 bits, where a product loses what is to be lost."""
    number = (number ^ (number >> 16)) * 0x7FEB352D
    number = (number ^ (number >> 15)) * 0x846CA68B
    return number ^ (number >> 16)


@triton.jit
def _held_mass(
    mass_ptr,
    position_ptr,
    run,
    frame,
    num_of_run,
    batch_index,
    frames,
    BATCH: tl.constexpr,
    CAPACITY: tl.constexpr,
    WINDOWED: tl.constexpr,
):
    """The mass of frames, 0 for those outside the window of the run's buffer."""
    inside = frame < frames
    mass = tl.load(mass_ptr + run * frames + frame, mask=inside, other=0.0)
    if WINDOWED:
        position = tl.load(position_ptr + run * frames + frame, mask=inside, other=0)
        behind = position - (batch_index * BATCH) % num_of_run
        behind = tl.where(behind < 0, behind + num_of_run, behind)
        mass = tl.where(behind < CAPACITY, mass, 0.0)
    return mass


@triton.jit
def _sum_chunks(
    mass_ptr,
    position_ptr,
    num_of_run_ptr,
    batch_index_ptr,
    sums_ptr,
    frames,
    num_chunks,
    BATCH: tl.constexpr,
    CAPACITY: tl.constexpr,
    WINDOWED: tl.constexpr,
    CHUNK: tl.constexpr,
    AT_ONCE: tl.constexpr,
):
    run = tl.program_id(1).to(tl.int64)
    chunk = tl.program_id(0) * AT_ONCE + tl.arange(0, AT_ONCE)
    frame = chunk[:, None] * CHUNK + tl.arange(0, CHUNK)[None, :]
    num_of_run, batch_index = tl.load(num_of_run_ptr + run), tl.load(batch_index_ptr)
    mass = _held_mass(
        mass_ptr,
        position_ptr,
        run,
        frame,
        num_of_run,
        batch_index,
        frames,
        BATCH,
        CAPACITY,
        WINDOWED,
    )
    total = tl.sum(mass.to(tl.float64), axis=1)
    tl.store(sums_ptr + run * num_chunks + chunk, total, mask=chunk < num_chunks)


@triton.jit
def _draw_rows(
    mass_ptr,
    position_ptr,
    num_of_run_ptr,
    batch_index_ptr,
    sums_ptr,
    run_keys_ptr,
    rows_ptr,
    chance_ptr,
    frames,
    num_chunks,
    CHUNKS: tl.constexpr,
    BATCH: tl.constexpr,
    CAPACITY: tl.constexpr,
    WINDOWED: tl.constexpr,
    CHUNK: tl.constexpr,
    AT_ONCE: tl.constexpr,
):
    run = tl.program_id(1).to(tl.int64)
    num_of_run, batch_index = tl.load(num_of_run_ptr + run), tl.load(batch_index_ptr)
    which = tl.arange(0, CHUNKS)
    sums = tl.load(sums_ptr + run * num_chunks + which, mask=which < num_chunks, other=0.0)
    cumulated = tl.cumsum(sums, axis=0)
    total = tl.max(cumulated, axis=0)
    # The same random numbers as replay.uniforms, one from each of as many equal parts.
    part = tl.program_id(0) * AT_ONCE + tl.arange(0, AT_ONCE)
    key = _mixed(tl.load(run_keys_ptr + run).to(tl.uint32))
    key = _mixed(batch_index.to(tl.uint32) ^ key)
    uniform = _mixed(part.to(tl.uint32) ^ key).to(tl.float64) / 4294967296.0
    wanted = (part.to(tl.float64) + uniform) / BATCH * total
    before = cumulated[None, :] <= wanted[:, None]
    chunk = tl.sum(before.to(tl.int32), axis=1)
    chunk = tl.minimum(chunk, num_chunks - 1)
    passed = tl.sum(tl.where(which[None, :] == chunk[:, None] - 1, cumulated[None, :], 0.0), axis=1)
    inside = tl.arange(0, CHUNK)
    frame = chunk[:, None] * CHUNK + inside[None, :]
    mass = _held_mass(
        mass_ptr,
        position_ptr,
        run,
        frame,
        num_of_run,
        batch_index,
        frames,
        BATCH,
        CAPACITY,
        WINDOWED,
    )
    within = tl.cumsum(mass.to(tl.float64), axis=1)
    left = (wanted - passed)[:, None]
    place = tl.sum((within <= left).to(tl.int32), axis=1)
    # Rounding may lead past the last frame of the chunk that can be drawn at all.
    last = tl.max(tl.where(mass > 0, inside[None, :], 0), axis=1)
    place = tl.minimum(place, last)
    chosen = tl.sum(tl.where(inside[None, :] == place[:, None], mass, 0.0), axis=1)
    to = run * BATCH + part
    row = chunk.to(tl.int64) * CHUNK + place
    tl.store(rows_ptr + to, row, mask=part < BATCH)
    tl.store(chance_ptr + to, chosen / total.to(tl.float32), mask=part < BATCH)


@triton.jit
def _weigh(
    chance_ptr,
    num_of_run_ptr,
    batch_index_ptr,
    weight_ptr,
    START: tl.constexpr,
    RISE: tl.constexpr,
    CAPACITY: tl.constexpr,
    WINDOWED: tl.constexpr,
    BATCH: tl.constexpr,
    BLOCK: tl.constexpr,
):
    run = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, BLOCK)
    inside = place < BATCH
    num = tl.load(num_of_run_ptr + run)
    if WINDOWED:
        num = tl.minimum(num, CAPACITY)
    exponent = START + RISE * tl.load(batch_index_ptr).to(tl.float32)
    chance = tl.load(chance_ptr + run * BATCH + place, mask=inside, other=1.0)
    weight = tl.exp2(-exponent * tl.log2(num.to(tl.float32) * chance))
    weight = tl.where(inside, weight, 0.0)
    weight = weight / tl.max(weight, axis=0)
    tl.store(weight_ptr + run * BATCH + place, weight, mask=inside)

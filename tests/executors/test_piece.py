"""What a worker says of a piece that failed: whose trouble it was."""

import errno
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from safetensors import SafetensorError

from goalward.errors import GoalwardError, RolloutError
from goalward.executors.piece import answer_to


@dataclass(frozen=True)
class Fails:
    error: Exception
    cause: Exception | None = None

    def do(self, station: object, /) -> None:
        raise self.error from self.cause


FULL = SafetensorError("Error while serializing: I/O error: No space left (os error 28)")


@pytest.mark.parametrize(
    "piece",
    [
        Fails(OSError(errno.EIO, "a lost mount")),
        Fails(GoalwardError("no space left for embeddings"), FULL),
        Fails(MemoryError("another program has it all")),
        Fails(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")),
        Fails(RuntimeError("CUDA error: uncorrectable ECC error encountered")),
        Fails(GoalwardError("cannot be encoded"), RuntimeError("cuDNN error: MAPPING_ERROR")),
    ],
    ids=str,
)
def test_trouble_of_a_machine_is_for_another_one(piece):
    assert answer_to(pickle.dumps(piece), None).is_passing


@pytest.mark.parametrize(
    "piece",
    [
        Fails(RolloutError("the video is damaged")),
        Fails(ValueError("cannot be added")),
        Fails(RuntimeError("mat1 and mat2 shapes cannot be multiplied (CUDA kernels or not)")),
        Fails(np.linalg.LinAlgError("no solution")),
    ],
    ids=str,
)
def test_what_is_wrong_with_a_piece_stays_wrong(piece):
    assert not answer_to(pickle.dumps(piece), None).is_passing

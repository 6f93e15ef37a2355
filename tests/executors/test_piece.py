"""What a worker says of a piece that failed: whose trouble it was."""

import errno
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from safetensors import SafetensorError

from goalward.errors import GoalwardError, RolloutError
from goalward.executors.piece import Failure, PiecesFailed, answer_to


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


# ---- what is said of pieces that failed ----------------------------------------------------------


def full(number: int, machine: str = "") -> Failure:
    problem = f"out/{number}.npz: cannot be written (No space left on device)"
    return Failure(f"number {number}", problem, is_passing=True, machine=machine, num_tries=2)


def test_a_full_disk_is_said_once_whatever_file_had_no_room():
    assert str(PiecesFailed([full(3), full(4), full(5)], 4)) == (
        "out/3.npz: cannot be written (No space left on device): 3 pieces, each tried 2 times "
        "(number 3; number 4; number 5) (3 of 7 failed, the others are done)"
    )


def test_where_many_fail_alike_a_few_are_named():
    told = str(PiecesFailed([full(number, f"node{number % 7}") for number in range(20)], 0))
    assert told.count("No space left") == 1
    assert ", on node0, node1, node2, node3, node4, and 2 others: 20 pieces, each tried 2" in told
    assert told.endswith(" (number 0; number 1; number 2; number 3; number 4; and 15 others)")


def test_other_problems_stand_beside_it():
    """Which file is damaged is not the same trouble twice."""
    damaged = [Failure(f"number {n}", f"videos/{n}.mp4: is damaged") for n in (7, 8)]
    assert str(PiecesFailed([full(3), damaged[0], full(4), damaged[1]], 0)) == (
        "out/3.npz: cannot be written (No space left on device): 2 pieces, each tried 2 times "
        "(number 3; number 4); number 7: videos/7.mp4: is damaged; number 8: videos/8.mp4: is "
        "damaged"
    )


def test_of_many_problems_a_few_are_told_and_the_pieces_of_the_others_counted():
    failures = [Failure(f"number {n}", f"problem {n // 2}") for n in range(14)]
    told = str(PiecesFailed(failures, 0))
    assert told.endswith("; problem 4: 2 pieces (number 8; number 9); and 4 others")

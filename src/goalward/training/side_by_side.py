"""Runs on the cores of a CPU: each on one, several at a time.

Threads that share one small matrix product wait for each other dozens of times in a step, and where
a core is busy with something else they wait for it: a training is then ten times slower. A run on a
core of its own waits for nobody, and its numbers do not depend on how many cores there are.
"""

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")
# Does something to each of some items; the results are in their order.
Each = Callable[[Callable[[Item], Result], Iterable[Item]], list[Result]]


def one_by_one(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    return [work(item) for item in items]


@contextmanager
def side_by_side(device: torch.device) -> Generator[Each]:
    """Inside, torch computes with one thread, and what is yielded uses as many as torch had.

    On CUDA nothing changes: all runs are one product there.
    """
    num_threads = torch.get_num_threads()
    if device.type != "cpu" or num_threads == 1:
        yield one_by_one
        return
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(num_threads, thread_name_prefix="run") as pool:
            yield lambda work, items: list(pool.map(work, items))
    finally:
        torch.set_num_threads(num_threads)

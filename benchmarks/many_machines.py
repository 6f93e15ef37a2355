"""What it costs to cut work into pieces, and what more workers bring, on this machine.

    python benchmarks/many_machines.py [--pieces 200] [--rounds 3]

First pieces that do nothing: the time of one is what the executor takes for itself. Then pieces
that compute for a twentieth of a second, by 1 and by 2 workers: the efficiency is how much of the
second one arrives, judged by the best of some rounds, as other programs may be at work. Starting
is apart.
"""

import argparse
import time
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np

from goalward.executors.choice import executor_on

BUSY_S = 0.05


@dataclass(frozen=True)
class Nothing:
    number: int

    def do(self, station: float, /) -> int:
        return self.number


@dataclass(frozen=True)
class Busy:
    """Computes until it has had so many seconds of a processor, whoever else wants it."""

    number: int

    def do(self, station: float, /) -> float:
        until = time.process_time() + BUSY_S
        matrix = np.random.default_rng(self.number).normal(size=(64, 64))
        while time.process_time() < until:
            matrix = np.tanh(matrix @ matrix)
        return float(matrix.sum())


def build(seconds: float) -> float:
    return seconds


def measure(on: str, num_workers: int, num_pieces: int, rounds: int) -> tuple[float, float, float]:
    """Seconds to start, per piece that does nothing, and for a busy piece; the best of rounds."""
    started = time.perf_counter()
    with executor_on(on, partial(build, 0.0), num_workers) as executor:
        # All workers are there when each has had something to do.
        for _ in executor.results(iter([Busy(n) for n in range(4 * num_workers)])):
            pass
        start_s = time.perf_counter() - started
        nothing, busy = [], []
        for _ in range(rounds):
            began = time.perf_counter()
            for _ in executor.results(iter([Nothing(n) for n in range(num_pieces)])):
                pass
            nothing.append((time.perf_counter() - began) / num_pieces)
            began = time.perf_counter()
            count = max(2 * num_workers, num_pieces // 10)
            for _ in executor.results(iter([Busy(n) for n in range(count)])):
                pass
            busy.append((time.perf_counter() - began) / count)
    return start_s, min(nothing), min(busy)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pieces", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    print("| executor | workers | start, s | per piece, ms | busy piece, ms | efficiency |")
    print("|---|---|---|---|---|---|")
    for on in ("local", "ray"):
        if on == "ray" and find_spec("ray") is None:
            print("ray is not installed (make ray)")
            continue
        alone = None
        for num_workers in (1, 2):
            start, nothing, busy = measure(on, num_workers, asked.pieces, asked.rounds)
            alone = busy if alone is None else alone
            efficiency = alone / (busy * num_workers)
            times = f"{start:.1f} | {1e3 * nothing:.2f} | {1e3 * busy:.1f} | {efficiency:.2f}"
            print(f"| {on} | {num_workers} | {times} |", flush=True)


if __name__ == "__main__":
    # Workers of other machines find pieces by the name of their module, which is not __main__.
    import many_machines

    many_machines.main()

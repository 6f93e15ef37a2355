"""Time and memory of `goalward compare` for many policies and rollouts, from csv to words.

    python benchmarks/comparing/speed.py

Each comparison is a process of its own: seconds of processor time, seconds on the clock, peak
memory. Three tasks where it says so, else one.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SIZES = ((2, 200, 1), (50, 200, 1), (50, 200, 3), (2, 10_000, 1), (50, 10_000, 1))


def write_table(path: Path, num_policies: int, num_rollouts: int, num_tasks: int) -> None:
    rng = np.random.default_rng(0)
    rates = rng.uniform(0.3, 0.9, num_policies)
    with path.open("w") as file:
        file.write("policy,task,success\n")
        for i in range(num_rollouts):
            for policy, won in enumerate(rng.random(num_policies) < rates):
                file.write(f"p{policy},t{i % num_tasks},{int(won)}\n")


def main() -> None:
    print("| policies | rollouts of each | tasks | processor | clock | memory |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            table = Path(folder) / "all.csv"
            write_table(table, *size)
            child = subprocess.Popen(
                [sys.executable, "-c", _MEASURED, str(table)],
                stdout=subprocess.PIPE,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                text=True,
            )
            told = child.communicate()[0].split()[-3:]
            processor, clock, memory = map(float, told)
            sizes = " | ".join(f"{number:,}" for number in size)
            print(f"| {sizes} | {processor:.1f} s | {clock:.1f} s | {memory:.0f} MB |", flush=True)


_MEASURED = """
import resource, sys, time
start = time.perf_counter()
from goalward.cli import main
try:
    sys.argv = ["goalward", "compare", sys.argv[1]]
    main()
except SystemExit:
    pass
used = resource.getrusage(resource.RUSAGE_SELF)
print()
print(used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 1024)
"""


if __name__ == "__main__":
    main()

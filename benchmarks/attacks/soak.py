"""Many evaluations in one process: memory, open files and values stay what they were."""

import gc
import hashlib
import json
from pathlib import Path

import numpy as np

from attacks.processes import in_fork
from attacks.results import Outcome, Tried
from attacks.small_files import emptied, write_small_features

PART = "soak"
NUM_EVALUATIONS = 200
# Caches fill in the first of them: fonts, figures, compiled regular expressions.
_SETTLED = 0.3
_LOOK_EVERY = 10
_MOST_MIB = 16.0
_NUM_KINDS = 4


class Soak:
    """The part of the campaign that goes on and on."""

    def __init__(self, folder: Path, num_evaluations: int = NUM_EVALUATIONS) -> None:
        self._place = folder / "try"
        self._num_evaluations = num_evaluations

    def is_simulated(self, number: int) -> bool:
        return False

    def attack(self, number: int, draws: np.random.Generator) -> Tried:
        emptied(self._place)
        found = self._place / "found.json"
        often = self._num_evaluations
        ended = in_fork(
            lambda: _evaluate_often(self._place, often, found), self._place, limit_s=3600
        )
        outcome, note = Outcome.TRACEBACK, ended.err[-400:]
        if ended.is_hang:
            outcome = Outcome.HANG
        elif ended.code == 0:
            outcome, note = _judged(json.loads(found.read_text()))
        return Tried(
            part=PART,
            number=number,
            kind="evaluations in one process",
            outcome=outcome,
            note=note,
            peak_mib=ended.peak_mib,
            cpu_s=ended.cpu_s,
            num_attacks=often,
        )


def _evaluate_often(place: Path, often: int, found: Path) -> None:
    import psutil

    import goalward

    for kind in range(_NUM_KINDS):
        write_small_features(place / f"features{kind}.npz", seed=kind)
    process = psutil.Process()
    looks: list[tuple[int, float, int, int]] = []
    values: dict[int, set[str]] = {}
    for index in range(often):
        kind = index % _NUM_KINDS
        run = goalward.evaluate(
            place / f"features{kind}.npz",
            place / f"run{kind}",
            seeds=1,
            device="cpu",
            force=True,
            progress=False,
            report=index % _LOOK_EVERY == 0,
            width=8,
            num_layers=2,
            num_steps=24,
            batch_size=16,
        )
        digest = hashlib.sha256(run.values.steps_to_goal.tobytes()).hexdigest()
        values.setdefault(kind, set()).add(digest)
        goalward.open_run(run.folder.path).export("csv")
        if index % _LOOK_EVERY == _LOOK_EVERY - 1 or index == often - 1:
            gc.collect()
            resident = process.memory_info().rss / 2**20
            num_open = process.num_fds()
            looks.append((index + 1, resident, num_open, process.num_threads()))
    num_answers = [len(answers) for answers in values.values()]
    found.write_text(json.dumps({"looks": looks, "num_answers": num_answers}))


def _judged(found: dict[str, list]) -> tuple[Outcome, str]:
    settled = [look for look in found["looks"] if look[0] >= _SETTLED * found["looks"][-1][0]]
    first, last = settled[0], settled[-1]
    note = (
        f"after {first[0]} and {last[0]}: {first[1]:.1f} and {last[1]:.1f} MiB, "
        f"{first[2]} and {last[2]} open files, {first[3]} and {last[3]} threads"
    )
    if max(found["num_answers"]) > 1:
        return Outcome.DIFFERENT, f"the same evaluation gave other values; {note}"
    if last[1] - first[1] > _MOST_MIB or last[2] > first[2] or last[3] > first[3]:
        return Outcome.DIFFERENT, f"it grows; {note}"
    return Outcome.RIGHT, note

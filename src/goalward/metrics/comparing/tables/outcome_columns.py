"""Which column of a table of outcomes means what.

Columns, by any of these names (upper or lower case; spaces, dots and hyphens count as _):

| column | names | needed |
|---|---|---|
| policy | policy, policy_name, model, method, checkpoint | no: the name of the file or folder |
| success | success, is_success, succeeded, episode_success | this, outcome or score |
| outcome | outcome (success, time_out or failure) | this, success or score |
| score | score, progress, partial_credit, task_progress: from 0 to 1 | no: no partial credit |
| prediction | prediction, predicted_success, success_prediction: from 0 to 1 | no |
| training_step | training_step, checkpoint_step, global_step | no: a number in the policy's name |
| time_out | time_out, timeout, timed_out, truncated | no: without success it was a time-out |
| steps | steps, num_steps, episode_steps, episode_length, length | no: no comparison of time |
| steps_to_success | steps_to_success | no: success came with the last step |
| task | task_index, task_id, task, task_name, task_instruction, instruction (all of them) | no |
| initial_state | initial_state, init_state, either with _id or _index behind | no: no pairs |
| seed | seed, rollout_seed, episode_seed | no |
| episode | episode, rollout or trial, any with _index or _id behind | no: the row |
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from goalward.errors import GoalwardError, argument

_NAMES: dict[str, tuple[str, ...]] = {
    "policy": ("policy", "policy_name", "model", "method", "checkpoint"),
    "success": ("success", "is_success", "succeeded", "episode_success"),
    "outcome": ("outcome",),
    "score": ("score", "progress", "partial_credit", "task_progress"),
    "prediction": ("prediction", "predicted_success", "success_prediction"),
    "training_step": ("training_step", "checkpoint_step", "global_step"),
    "time_out": ("time_out", "timeout", "timed_out", "truncated"),
    "steps": ("steps", "num_steps", "episode_steps", "episode_length", "length"),
    "steps_to_success": ("steps_to_success",),
    "initial_state": tuple(
        f"{name}{end}" for name in ("initial_state", "init_state") for end in ("", "_id", "_index")
    ),
    "seed": ("seed", "rollout_seed", "episode_seed"),
}
_TASK_NAMES = ("task_index", "task_id", "task", "task_name", "task_instruction", "instruction")
_EPISODE_NAMES = tuple(
    f"{name}{end}" for name in ("episode", "rollout", "trial") for end in ("", "_index", "_id")
)
# Without these a comparison says less, but nothing wrong. Tasks thrown together may mislead.
_DISPENSABLE = ("time_out", "steps", "initial_state", "seed", "score", "prediction")
_NOTHING = frozenset({"", "nan", "none", "null", "na", "n/a"})

Row = Mapping[str, str]


@dataclass(frozen=True)
class Columns:
    """Which column of a file means what. Tasks may have several: a number and a name, say."""

    by_meaning: Mapping[str, str]
    tasks: tuple[str, ...]
    episode: str | None

    def wanted(self, row: Row, meaning: str, where: str) -> str:
        """The entry of a row; an error if there is none."""
        hint = ", or leave the column out" if meaning in _DISPENSABLE else ""
        return _entry(row, self.by_meaning[meaning], where, hint)

    def optional(self, row: Row, meaning: str, where: str) -> str | None:
        """The entry of a row; None if the file has no such column."""
        return self.wanted(row, meaning, where) if meaning in self.by_meaning else None

    def task(self, row: Row, where: str) -> str:
        return ": ".join(_entry(row, column, where) for column in self.tasks)


def find_columns(file: Path, header: Sequence[str], pair_by: str | None) -> Columns:
    """The columns of a table with a row per episode, which must say how each ended."""
    columns = named_columns(file, header, pair_by)
    if not columns.by_meaning.keys() & {"success", "outcome", "score"}:
        raise GoalwardError(
            f"{file}: no column success or outcome; columns: {_listed(header)}. If columns are "
            f"policies, name them: {argument('columns', ('a', 'b'))}"
        )
    return columns


def named_columns(file: Path, header: Sequence[str], pair_by: str | None) -> Columns:
    """The columns among normalised names; `pair_by` is the one to call initial_state."""
    by_meaning: dict[str, str] = {}
    for meaning, names in _NAMES.items():
        there = [name for name in names if name in header]
        if len(there) > 1:
            raise GoalwardError(f"{file}: {' and '.join(there)} both mean {meaning}; keep one")
        if there:
            by_meaning[meaning] = there[0]
    if pair_by is not None:
        column = normalised(pair_by)
        if column not in header:
            raise GoalwardError(
                f"{file}: no column {pair_by} to pair by; columns: {_listed(header)}"
            )
        by_meaning["initial_state"] = column
        by_meaning = {m: c for m, c in by_meaning.items() if m != "seed" or c != column}
    episode = next((name for name in _EPISODE_NAMES if name in header), None)
    return Columns(by_meaning, tuple(name for name in _TASK_NAMES if name in header), episode)


def _listed(header: Sequence[str]) -> str:
    return ", ".join(name for name in header if name)


def normalised(name: str) -> str:
    """
    >>> normalised(" Episode Index"), normalised("Is-Success")
    ('episode_index', 'is_success')
    """
    return re.sub(r"[\s.\-]+", "_", name.strip().lower())


def says_nothing(cell: str) -> bool:
    """
    >>> says_nothing(""), says_nothing("NaN"), says_nothing("0")
    (True, True, False)
    """
    return cell.lower() in _NOTHING


def _entry(row: Row, column: str, where: str, hint: str = "") -> str:
    cell = row[column]
    if says_nothing(cell):
        shown = repr(cell) if cell else "empty"
        raise GoalwardError(f"{where}: {column} is {shown}; every row needs an entry{hint}")
    return cell

"""Outcome tables from csv files: a row per episode says which policy ran it and how it ended.

`outcome_columns.py` lists the columns. Nothing is guessed: a cell that is empty or
cannot be read is an error that names it.
"""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from goalward.errors import GoalwardError
from goalward.metrics.comparing.outcome_columns import (
    Columns,
    Row,
    find_columns,
    normalised,
    says_nothing,
)
from goalward.metrics.comparing.outcome_table import EpisodeOutcome, OutcomeTable, PolicyOutcomes
from goalward.rollouts.episode import Outcome
from goalward.rollouts.findings import counted, some_of
from goalward.rollouts.labels.evidence import evidence_from_outcome, evidence_from_value
from goalward.run_folder import RunFolder

# What `goalward evaluate` writes into its folder.

_TRUTH = frozenset({"true", "false", "yes", "no", "y", "n", "1", "0", "1.0", "0.0"})


def read_outcomes(paths: Sequence[Path], *, pair_by: str | None = None) -> OutcomeTable:
    """The outcomes in csv files, or in folders that hold an `outcomes.csv`.

    A file without a column for the policy is one policy, named after the file or folder. `pair_by`
    names the column that says from which initial state an episode started, where its name is not
    one of the usual ones.
    """
    found: dict[str, list[EpisodeOutcome]] = {}
    named_by_file: dict[str, Path] = {}
    have_tasks: dict[Path, bool] = {}
    read: set[Path] = set()
    for path in paths:
        file = _file_of(path)
        if file.resolve() in read:
            raise GoalwardError(f"{file}: named twice")
        read.add(file.resolve())
        header_line, *lines = _read_lines(file)
        header = _header(file, *header_line)
        columns = find_columns(file, header, pair_by)
        have_tasks[path] = bool(columns.tasks)
        if "policy" not in columns.by_meaning:
            name = path.resolve().name if path.is_dir() else path.stem
            if name in found:
                other = named_by_file.get(name, "a column policy")
                raise GoalwardError(
                    f"{file}: no column policy, and the name {name!r} is taken by {other}; "
                    "add the column, or rename one of them"
                )
            named_by_file[name] = path
        else:
            name = None
        for line, row in _rows(file, header, lines):
            where = f"{file}, line {line}"
            policy = name if name is not None else columns.wanted(row, "policy", where)
            if policy in named_by_file and name is None:
                raise GoalwardError(f"{where}: {policy!r} is also the name of a file")
            found.setdefault(policy, []).append(_episode(columns, row, where, str(line)))
    _same_about_tasks(have_tasks)
    if len(found) < 2:
        raise GoalwardError(
            f"{', '.join(map(str, paths))}: wanted two policies or more to compare, found only "
            f"{', '.join(map(repr, found)) or 'none'}; name one more file, or add a column policy"
        )
    table = OutcomeTable(tuple(PolicyOutcomes(name, tuple(rows)) for name, rows in found.items()))
    for policy in table.policies:
        _no_repeats(policy)
    return table


def _file_of(path: Path) -> Path:
    if not path.is_dir():
        return path
    outcomes = RunFolder(path).outcomes
    if not outcomes.is_file():
        others = sorted(file.name for file in path.glob("*.csv"))
        instead = f"name its csv files: {some_of(others, most=3)}" if others else "name a csv file"
        raise GoalwardError(f"{path}: no {outcomes.name} in this folder; {instead}")
    return outcomes


def _read_lines(file: Path) -> list[tuple[int, list[str]]]:
    """The cells of every line that has any, with its number. The first is the header."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            reader = csv.reader(opened, strict=True)
            lines = [(reader.line_num, cells) for cells in reader if any(map(str.strip, cells))]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise GoalwardError(f"{file}: cannot be read ({reason})") from error
    except csv.Error as error:
        raise GoalwardError(f"{file}: not a csv file ({error})") from error
    if not lines:
        raise GoalwardError(f"{file}: the file is empty; wanted a header and a row per episode")
    return lines


def _header(file: Path, line: int, cells: Sequence[str]) -> list[str]:
    for separator, name in ((";", "semicolons"), ("\t", "tabs")):
        if len(cells) == 1 and separator in cells[0].strip():
            raise GoalwardError(f"{file}: columns are separated by {name}; wanted commas")
    header = [normalised(name) for name in cells]
    for name in header:
        if name and header.count(name) > 1:
            raise GoalwardError(f"{file}, line {line}: the column {name} stands there twice")
    return header


def _rows(
    file: Path, header: Sequence[str], lines: Sequence[tuple[int, list[str]]]
) -> list[tuple[int, Row]]:
    if not lines:
        raise GoalwardError(f"{file}: only a header; wanted a row per episode")
    for line, cells in lines:
        if len(cells) != len(header):
            raise GoalwardError(
                f"{file}, line {line}: {counted(cells, 'cell')}, but the header has {len(header)}"
            )
    return [(line, dict(zip(header, map(str.strip, cells), strict=True))) for line, cells in lines]


def _episode(columns: Columns, row: Row, where: str, line: str) -> EpisodeOutcome:
    outcome = _outcome(columns, row, where)
    return EpisodeOutcome(
        episode=row[columns.episode] if columns.episode else line,
        outcome=outcome,
        steps=_steps(columns, row, outcome, where),
        task=columns.task(row, where),
        initial_state=columns.optional(row, "initial_state", where),
        seed=columns.optional(row, "seed", where),
        where=where,
    )


def _outcome(columns: Columns, row: Row, where: str) -> Outcome:
    named = _named_outcome(columns, row, where)
    success = _truth(columns, row, "success", where)
    time_out = _truth(columns, row, "time_out", where)
    if success is None:
        success = named is Outcome.SUCCESS
    if named is None:
        ended_early = time_out is False
        named = Outcome.FAILURE if ended_early else Outcome.TIME_OUT
        named = Outcome.SUCCESS if success else named
    if success != (named is Outcome.SUCCESS):
        raise GoalwardError(f"{where}: the columns success and outcome contradict each other")
    if time_out is not None and time_out != (named is Outcome.TIME_OUT):
        raise GoalwardError(
            f"{where}: {columns.by_meaning['time_out']} is {str(time_out).lower()}, but the "
            f"episode is a {named}"
        )
    return named


def _named_outcome(columns: Columns, row: Row, where: str) -> Outcome | None:
    value = columns.optional(row, "outcome", where)
    if value is None:
        return None
    evidence = evidence_from_outcome(value)
    if evidence is not None and evidence.success:
        return Outcome.SUCCESS
    if evidence is None or evidence.outcome is None:
        raise GoalwardError(f"{where}: outcome is {value!r}; wanted success, time_out or failure")
    return evidence.outcome


def _truth(columns: Columns, row: Row, meaning: str, where: str) -> bool | None:
    value = columns.optional(row, meaning, where)
    if value is None:
        return None
    # The word "timeout" says no to success, but not to a column of that name.
    evidence = evidence_from_value(value)
    if evidence is None or (meaning == "time_out" and value.lower() not in _TRUTH):
        raise GoalwardError(
            f"{where}: {columns.by_meaning[meaning]} is {value!r}; wanted true or false"
        )
    return evidence.success


def _steps(columns: Columns, row: Row, outcome: Outcome, where: str) -> int | None:
    steps = _whole_number(columns, columns.optional(row, "steps", where), "steps", where)
    column = columns.by_meaning.get("steps_to_success")
    if column is None or outcome is not Outcome.SUCCESS or says_nothing(row[column]):
        return steps
    reached = _whole_number(columns, row[column], "steps_to_success", where)
    if steps is not None and reached is not None and reached > steps:
        raise GoalwardError(f"{where}: success after {reached} steps of an episode with {steps}")
    # Without a column for time-outs' steps, those of successes alone compare nothing.
    return None if steps is None else reached


def _whole_number(columns: Columns, value: str | None, meaning: str, where: str) -> int | None:
    if value is None:
        return None
    try:
        number = float(value)
        if number != int(number) or number < 0:
            raise ValueError
    except (ValueError, OverflowError) as error:
        raise GoalwardError(
            f"{where}: {columns.by_meaning[meaning]} is {value!r}; wanted a whole number of steps"
        ) from error
    return int(number)


def _same_about_tasks(have_tasks: Mapping[Path, bool]) -> None:
    if len(set(have_tasks.values())) > 1:
        with_tasks, without = (
            next(path for path, there in have_tasks.items() if there is wanted)
            for wanted in (True, False)
        )
        raise GoalwardError(
            f"{without}: no column task, but {with_tasks} has one; rollouts of unknown tasks "
            "cannot be compared with it"
        )


def _no_repeats(policy: PolicyOutcomes) -> None:
    """One rollout must not count twice: same task, initial state and seed, or same episode."""
    seen: dict[tuple[str | None, ...], str] = {}
    for episode in policy.episodes:
        start = (episode.task, episode.initial_state, episode.seed)
        key = start if episode.initial_state is not None else (*start, episode.episode)
        if key in seen:
            what = f"episode {episode.episode}"
            if episode.initial_state is not None:
                what = f"initial state {episode.initial_state}"
                what += f" with seed {episode.seed}" if episode.seed is not None else ""
            task = f" in task {episode.task!r}" if episode.task else ""
            raise GoalwardError(
                f"{episode.where}: {policy.policy!r} has {what}{task} twice, first in "
                f"{seen[key]}; remove one, or tell them apart by a column seed"
            )
        seen[key] = episode.where

"""Outcome tables from csv files: which policy ran which episode and how it ended.

`outcome_columns.py` lists the columns of a table with a row per episode, `layouts.py` the others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from goalward.errors import GoalwardError
from goalward.files import resolved
from goalward.metrics.comparing.tables.csv_lines import CsvLines, csv_lines, digest, file_of
from goalward.metrics.comparing.tables.layouts import (
    Found,
    count_columns,
    counted_episodes,
    wide_episodes,
)
from goalward.metrics.comparing.tables.outcome_columns import (
    Columns,
    Row,
    find_columns,
    named_columns,
)
from goalward.metrics.comparing.tables.outcome_rows import (
    episode_of,
    is_unlabelled,
    share_in,
    whole_number,
)
from goalward.metrics.comparing.tables.outcome_table import (
    EpisodeOutcome,
    OutcomeTable,
    PolicyOutcomes,
)

_ROWS_AT_A_TIME = 10_000
NO_SUCCESS_COLUMN = "no column success or outcome: a score of 1 counts as success"


@dataclass
class _Reading:
    """What was found so far, over all files."""

    found: dict[str, list[EpisodeOutcome]] = field(default_factory=dict[str, list[EpisodeOutcome]])
    named_by_file: dict[str, Path] = field(default_factory=dict[str, Path])
    have_tasks: dict[Path, bool] = field(default_factory=dict[Path, bool])
    unordered: set[str] = field(default_factory=set[str])
    notes: list[str] = field(default_factory=list[str])
    unlabelled: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    training_steps: dict[str, float] = field(default_factory=dict[str, float])
    says_outcomes: bool = False
    by_folder: frozenset[Path] = frozenset()


def read_outcomes(
    paths: Sequence[Path],
    *,
    pair_by: str | None = None,
    columns: Sequence[str] | None = None,
    on_rows: Callable[[int], None] | None = None,
) -> OutcomeTable:
    """The outcomes in csv files, or in folders that hold an `outcomes.csv`.

    A file without a column for the policy is one policy, named after the file or folder. `pair_by`
    names the column that says from which initial state an episode started, where its name is not
    one of the usual ones; `columns` those that each are a policy, where a row is not an episode.
    `on_rows` hears how many rows were read.
    """
    reading = _Reading()
    contents = _contents(paths)
    reading.by_folder = _of_one_name(contents, reading.notes)
    for path, file in contents.items():
        with csv_lines(file) as table:
            reading.have_tasks[path] = bool(named_columns(file, table.header, pair_by).tasks)
            episodes = _episodes(path, table, reading, pair_by, columns)
            for number, (policy, episode) in enumerate(episodes):
                reading.found.setdefault(policy, []).append(episode)
                if on_rows is not None and number % _ROWS_AT_A_TIME == 0:
                    on_rows(number)
    _same_about_tasks(reading.have_tasks)
    unknown = [policy for policy in reading.unlabelled if policy not in reading.found]
    if unknown:
        raise GoalwardError(
            f"{', '.join(map(str, paths))}: {unknown[0]!r} has predictions and no rollout whose "
            "outcome is known; label some, chosen at random"
        )
    if len(reading.found) < 2:
        raise GoalwardError(
            f"{', '.join(map(str, paths)) or 'no tables'}: wanted two policies or more to compare, "
            f"found only {', '.join(map(repr, reading.found)) or 'none'}; name one more file, or "
            "add a column policy"
        )
    policies = tuple(
        PolicyOutcomes(
            name,
            tuple(rows),
            in_order=name not in reading.unordered,
            training_step=reading.training_steps.get(name),
            unlabelled=tuple(reading.unlabelled.get(name, ())),
        )
        for name, rows in reading.found.items()
    )
    for policy in policies:
        if policy.in_order:
            _no_repeats(policy)
    notes = tuple(dict.fromkeys(reading.notes))
    return OutcomeTable(policies, notes, scores_only=not reading.says_outcomes)


def _contents(paths: Sequence[Path]) -> dict[Path, Path]:
    """The file of each path; an error where one is named twice or is a copy of another."""
    files: dict[Path, Path] = {}
    digests: dict[str, Path] = {}
    for path in paths:
        file = file_of(path)
        if resolved(file) in [resolved(other) for other in files.values()]:
            raise GoalwardError(f"{file}: named twice")
        files[path] = file
    if len(files) > 1:
        for file in files.values():
            if not file.is_file():
                continue
            same = digests.setdefault(digest(file), file)
            if same is not file and _has_policies(file):
                raise GoalwardError(
                    f"{file}: holds the same as {same}, to the last letter; every rollout would "
                    "count twice"
                )
    return files


def _has_policies(file: Path) -> bool:
    with csv_lines(file) as table:
        return "policy" in named_columns(file, table.header, None).by_meaning


def _of_one_name(contents: Mapping[Path, Path], notes: list[str]) -> frozenset[Path]:
    """Folders of runs that each hold one policy and call it by the same name.

    Runs of two data sets that are called alike are two policies, named after their folders.
    """
    holding: dict[str, list[Path]] = {}
    for path, file in contents.items():
        if path.is_dir():
            with csv_lines(file) as table:
                column = named_columns(file, table.header, None).by_meaning.get("policy")
                if column is not None:
                    place = table.header.index(column)
                    names = {cells[place] for _, cells in table.lines}
                    if len(names) == 1:
                        holding.setdefault(names.pop(), []).append(path)
    alike = {name: folders for name, folders in holding.items() if len(folders) > 1}
    notes += [
        f"{len(folders)} folders call their policy {name!r}: named after the folders"
        for name, folders in alike.items()
    ]
    return frozenset(path for folders in alike.values() for path in folders)


def _episodes(
    path: Path,
    table: CsvLines,
    reading: _Reading,
    pair_by: str | None,
    columns: Sequence[str] | None,
) -> Found:
    """Policies and episodes of one file, however it lays them out."""
    counting = count_columns(table.header)
    if columns is None and counting is None:
        yield from _rows(path, table, reading, pair_by)
        return
    reading.says_outcomes = True
    if columns is not None:
        yield from wide_episodes(table, columns, pair_by)
        return
    assert counting is not None
    has_policies = "policy" in named_columns(table.file, table.header, None).by_meaning
    name = None if has_policies else _name_of(path, table.file, reading)
    for policy, episode in counted_episodes(table, counting, name, pair_by):
        reading.unordered.add(policy)
        yield policy, episode


def _rows(path: Path, table: CsvLines, reading: _Reading, pair_by: str | None) -> Found:
    """A row per episode."""
    file, header = table.file, table.header
    columns = find_columns(file, header, pair_by)
    if columns.by_meaning.keys() & {"success", "outcome"}:
        reading.says_outcomes = True
    else:
        reading.notes.append(NO_SUCCESS_COLUMN)
    name = None
    if "policy" not in columns.by_meaning or path in reading.by_folder:
        name = _name_of(path, file, reading)
    for line, cells in table.lines:
        where = f"{file}, line {line}"
        row = dict(zip(header, cells, strict=True))
        policy = name if name is not None else columns.wanted(row, "policy", where)
        if policy in reading.named_by_file and name is None:
            raise GoalwardError(f"{where}: {policy!r} is also the name of a file")
        _note_training_step(policy, columns, row, reading, where)
        if is_unlabelled(columns, row):
            prediction = share_in(columns, row, "prediction", where)
            reading.unlabelled.setdefault(policy, []).append(prediction or 0.0)
            continue
        # A line stands for its episode, in its own file.
        yield policy, episode_of(columns, row, where, where)


def _note_training_step(
    policy: str, columns: Columns, row: Row, reading: _Reading, where: str
) -> None:
    value = columns.optional(row, "training_step", where)
    if value is None:
        return
    step = whole_number(value)
    if step is None or reading.training_steps.setdefault(policy, step) != step:
        column = columns.by_meaning["training_step"]
        wanted = "a whole number" if step is None else "one for all rows of a policy"
        raise GoalwardError(f"{where}: {column} is {value!r}; wanted {wanted}")


def _name_of(path: Path, file: Path, reading: _Reading) -> str:
    name = path.resolve().name if path.is_dir() else path.stem
    if name in reading.found:
        other = reading.named_by_file.get(name, "a column policy")
        raise GoalwardError(
            f"{file}: no column policy, and the name {name!r} is taken by {other}; "
            "add the column, or rename one of them"
        )
    reading.named_by_file[name] = path
    return name


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

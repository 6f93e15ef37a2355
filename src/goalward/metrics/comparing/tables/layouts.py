"""Tables that are not a row per episode: a column per policy, or counts of successes."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from goalward.errors import GoalwardError, argument
from goalward.metrics.comparing.tables.csv_lines import CsvLines
from goalward.metrics.comparing.tables.outcome_columns import (
    Columns,
    named_columns,
    normalised,
    says_nothing,
)
from goalward.metrics.comparing.tables.outcome_rows import truth_of, whole_number
from goalward.metrics.comparing.tables.outcome_table import EpisodeOutcome
from goalward.rollouts.episode import Outcome

_SUCCESSES = ("successes", "num_successes", "num_success")
_TOTALS = ("rollouts", "num_rollouts", "episodes", "num_episodes", "trials", "num_trials", "total")
# More in one table are a mistake; each would take its place in memory.
_MOST_ROLLOUTS = 1_000_000

Found = Generator[tuple[str, EpisodeOutcome]]


# ---- a column per policy ------------------------------------------------------------------------


def wide_episodes(table: CsvLines, policies: Sequence[str], pair_by: str | None) -> Found:
    """Policies and their episodes from a table in which each policy has a column.

    A row is one start: what stands in it was run from the same initial state, named by a column or
    else by the row. An empty cell is a policy that was not run there.
    """
    names = dict(zip(table.header, table.written, strict=True))
    wanted = [normalised(policy) for policy in policies]
    missing = [policy for policy, name in zip(policies, wanted, strict=True) if name not in names]
    if missing:
        listed = ", ".join(filter(None, table.written))
        raise GoalwardError(f"{table.file}: no column {missing[0]}; columns: {listed}")
    rest = [name for name in table.header if name not in wanted]
    columns = named_columns(table.file, rest, pair_by)
    for line, cells in table.lines:
        where = f"{table.file}, line {line}"
        row = dict(zip(table.header, cells, strict=True))
        state = columns.optional(row, "initial_state", where) or f"{table.file.name}:{line}"
        for name in wanted:
            if not says_nothing(row[name]):
                yield names[name], _cell_episode(columns, row, name, state, where)


def _cell_episode(
    columns: Columns, row: dict[str, str], name: str, state: str, where: str
) -> EpisodeOutcome:
    success = truth_of(row[name])
    if success is None:
        raise GoalwardError(f"{where}: {name} is {row[name]!r}; wanted true or false")
    return EpisodeOutcome(
        episode=row[columns.episode] if columns.episode else state,
        outcome=Outcome.SUCCESS if success else Outcome.TIME_OUT,
        steps=None,
        task=columns.task(row, where),
        initial_state=state,
        seed=columns.optional(row, "seed", where),
        where=where,
    )


# ---- counts -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CountColumns:
    """Which columns count successes and rollouts."""

    successes: str
    total: str


def count_columns(header: Sequence[str]) -> CountColumns | None:
    """The columns of a table of counts; None if it is none.

    >>> count_columns(["policy", "successes", "trials"])
    CountColumns(successes='successes', total='trials')
    """
    successes = [name for name in _SUCCESSES if name in header]
    totals = [name for name in _TOTALS if name in header]
    return CountColumns(successes[0], totals[0]) if successes and totals else None


def counted_episodes(
    table: CsvLines, counting: CountColumns, name: str | None, pair_by: str | None
) -> Found:
    """Policies and as many episodes as were counted, in no order that means anything."""
    if pair_by is not None:
        raise GoalwardError(
            f"{table.file}: counts cannot be paired; leave out {argument('pair_by', pair_by)}"
        )
    rest = [c for c in table.header if c not in (counting.successes, counting.total)]
    columns = named_columns(table.file, rest, None)
    seen: dict[tuple[str, str], str] = {}
    in_all = 0
    for line, cells in table.lines:
        where = f"{table.file}, line {line}"
        row = dict(zip(table.header, cells, strict=True))
        policy = columns.wanted(row, "policy", where) if name is None else name
        task = columns.task(row, where)
        if (policy, task) in seen:
            of_task = f" of task {task!r}" if task else ""
            raise GoalwardError(
                f"{where}: {policy!r}{of_task} stands there twice, first in {seen[policy, task]}"
            )
        seen[policy, task] = where
        successes, total = (
            _count(row, column, where) for column in (counting.successes, counting.total)
        )
        in_all += total
        if successes > total or not total or in_all > _MOST_ROLLOUTS:
            wanted = f"at most {_MOST_ROLLOUTS:,} in all" if in_all > _MOST_ROLLOUTS else (
                "at least one rollout, and no more successes than rollouts"
            )  # fmt: skip
            raise GoalwardError(f"{where}: {successes} of {total} rollouts; wanted {wanted}")
        for outcome, times in (
            (Outcome.SUCCESS, successes),
            (Outcome.TIME_OUT, total - successes),
        ):
            # One object for all that are alike: nobody can tell them apart.
            episode = EpisodeOutcome("", outcome, None, task, None, None, where)
            for _ in range(times):
                yield policy, episode


def _count(row: dict[str, str], column: str, where: str) -> int:
    number = whole_number(row[column])
    if number is None:
        raise GoalwardError(f"{where}: {column} is {row[column]!r}; wanted a whole number")
    return number

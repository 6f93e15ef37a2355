"""What one row of a table says about an episode.

Nothing is guessed: a cell that is empty or cannot be read is an error that names it.
"""

from functools import lru_cache

from goalward.errors import GoalwardError
from goalward.metrics.comparing.tables.outcome_columns import Columns, Row, says_nothing
from goalward.metrics.comparing.tables.outcome_table import EpisodeOutcome
from goalward.rollouts.episode import Outcome
from goalward.rollouts.labels.evidence import evidence_from_outcome, evidence_from_value

_TRUTH = frozenset({"true", "false", "yes", "no", "y", "n", "1", "0", "1.0", "0.0"})
# Eleven days of a robot that is controlled a thousand times a second.
_MOST_STEPS = 1_000_000_000


def episode_of(columns: Columns, row: Row, where: str, name: str) -> EpisodeOutcome:
    """The episode of a row; `name` is what to call it where no column does."""
    score = share_in(columns, row, "score", where)
    outcome = _outcome(columns, row, score, where)
    return EpisodeOutcome(
        episode=row[columns.episode] if columns.episode else name,
        outcome=outcome,
        steps=_steps(columns, row, outcome, where),
        task=columns.task(row, where),
        initial_state=columns.optional(row, "initial_state", where),
        seed=columns.optional(row, "seed", where),
        where=where,
        score=score,
        prediction=share_in(columns, row, "prediction", where),
    )


@lru_cache(maxsize=1024)
def truth_of(cell: str) -> bool | None:
    """Whether a cell says yes or no to success; None if neither.

    >>> truth_of("TRUE"), truth_of("0"), truth_of("perhaps")
    (True, False, None)
    """
    evidence = evidence_from_value(cell)
    return None if evidence is None else evidence.success


def _outcome(columns: Columns, row: Row, score: float | None, where: str) -> Outcome:
    named = _named_outcome(columns, row, where)
    success = _truth(columns, row, "success", where)
    time_out = _truth(columns, row, "time_out", where)
    if success is None and named is None:
        # Scores alone: all of the task is success.
        success = score == 1
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
    found = _outcome_of(value)
    if found is None:
        raise GoalwardError(f"{where}: outcome is {value!r}; wanted success, time_out or failure")
    return found


@lru_cache(maxsize=1024)
def _outcome_of(value: str) -> Outcome | None:
    evidence = evidence_from_outcome(value)
    if evidence is not None and evidence.success:
        return Outcome.SUCCESS
    return None if evidence is None else evidence.outcome


def _truth(columns: Columns, row: Row, meaning: str, where: str) -> bool | None:
    value = columns.optional(row, meaning, where)
    if value is None:
        return None
    # The word "timeout" says no to success, but not to a column of that name.
    found = truth_of(value)
    if found is None or (meaning == "time_out" and value.lower() not in _TRUTH):
        raise GoalwardError(
            f"{where}: {columns.by_meaning[meaning]} is {value!r}; wanted true or false"
        )
    return found


def is_unlabelled(columns: Columns, row: Row) -> bool:
    """Whether a row has a prediction, and no word on how the episode ended."""
    ends = [
        columns.by_meaning[m] for m in ("success", "outcome", "score") if m in columns.by_meaning
    ]
    return "prediction" in columns.by_meaning and all(says_nothing(row[end]) for end in ends)


def share_in(columns: Columns, row: Row, meaning: str, where: str) -> float | None:
    """A number from 0 to 1; None if the file has no such column."""
    value = columns.optional(row, meaning, where)
    if value is None:
        return None
    try:
        score = float(value)
        if not 0 <= score <= 1:
            raise ValueError
    except ValueError as error:
        raise GoalwardError(
            f"{where}: {columns.by_meaning[meaning]} is {value!r}; wanted a number from 0 to 1"
        ) from error
    return score


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
    number = whole_number(value)
    if number is None:
        raise GoalwardError(
            f"{where}: {columns.by_meaning[meaning]} is {value!r}; wanted a whole number of steps"
        )
    if number > _MOST_STEPS:
        raise GoalwardError(
            f"{where}: {columns.by_meaning[meaning]} is {value!r}; no episode has more than "
            f"{_MOST_STEPS:,} steps"
        )
    return number


@lru_cache(maxsize=1 << 16)
def whole_number(value: str) -> int | None:
    """A number that counts something; None if it is none.

    >>> whole_number("12"), whole_number("3.0"), whole_number("-1"), whole_number("x")
    (12, 3, None, None)
    """
    try:
        number = float(value)
        return int(number) if number == int(number) and number >= 0 else None
    except (ValueError, OverflowError):
        return None

"""Errors that are meant to be read by people: the command line prints them without a traceback."""


class GoalwardError(Exception):
    """Something the user can act on. Its text names the file or episode and says what to do."""


class RolloutError(GoalwardError):
    """Recorded rollouts that cannot be read as they are."""

"""A score is a number, or the reason in words why there is none."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Score:
    """One number, or none and the reason: never NaN.

    >>> print(Score(0.9125))
    0.912
    >>> print(Score(None, "no episode succeeded"))
    not defined: no episode succeeded
    """

    value: float | None
    """The number; none where it is not defined."""
    reason: str = ""
    """Why there is none."""

    def __post_init__(self) -> None:
        if (self.value is None) != bool(self.reason):
            raise ValueError("a score has either a value or a reason why there is none")
        if self.value is not None and math.isnan(self.value):
            raise ValueError("a score is never NaN: give the reason why there is none")

    @property
    def defined(self) -> bool:
        return self.value is not None

    def __str__(self) -> str:
        return f"not defined: {self.reason}" if self.value is None else f"{self.value:.3f}"


@dataclass(frozen=True)
class Interval:
    """Where the true number lies with confidence `level`, or the reason why nobody can say.

    >>> print(Interval(0.81, 0.95))
    0.810 to 0.950
    >>> print(Interval(None, None, reason="one episode"))
    not defined: one episode
    """

    low: float | None
    """Its lower end."""
    high: float | None
    """Its upper end."""
    level: float = 0.95
    reason: str = ""
    """Why there is none."""

    def __post_init__(self) -> None:
        if (self.low is None) != bool(self.reason) or (self.low is None) != (self.high is None):
            raise ValueError("an interval has either two ends or a reason why there are none")
        if self.low is not None and self.high is not None and not self.low <= self.high:
            raise ValueError(f"an interval from {self.low} to {self.high}")

    @property
    def defined(self) -> bool:
        return self.low is not None

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"not defined: {self.reason}"
        return f"{self.low:.3f} to {self.high:.3f}"


def no_interval(reason: str, level: float) -> Interval:
    """An interval that is not defined."""
    return Interval(None, None, level, reason)

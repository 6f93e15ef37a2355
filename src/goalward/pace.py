"""How fast some work goes, from what is heard of it, and how long the rest takes."""

import time
from collections import deque

# Pieces of a cluster may take minutes each; of quick ones not every one is remembered.
_REMEMBERED_S = 600.0
_BETWEEN_S = 1.0


class Pace:
    """How fast it goes, by what was heard in the last minutes.

    What was there when it was first heard of (work of an earlier command) was not done since.
    """

    def __init__(self) -> None:
        self._opened = time.monotonic()
        self._heard: deque[tuple[float, int]] = deque()

    def hear(self, so_far: int) -> None:
        now = time.monotonic()
        if len(self._heard) > 1 and now - self._heard[-2][0] < _BETWEEN_S:
            self._heard.pop()
        self._heard.append((now, so_far))
        while len(self._heard) > 2 and now - self._heard[1][0] > _REMEMBERED_S:
            self._heard.popleft()

    @property
    def per_second(self) -> float | None:
        if not self._heard:
            return None
        began, before = self._heard[0]
        now, so_far = self._heard[-1]
        if len(self._heard) == 1:
            # Nothing is done in an instant.
            began, before = (self._opened, 0) if now - self._opened > _BETWEEN_S else (now, so_far)
        return (so_far - before) / (now - began) if so_far > before and now > began else None

    def left(self, total: int) -> float | None:
        """Seconds that the rest takes."""
        pace = self.per_second
        return None if pace is None else max(total - self._heard[-1][1], 0) / pace

    def in_words(self, unit: str) -> str:
        pace = self.per_second
        if pace is None:
            return ""
        return f"{pace:,.0f} {unit}/s" if pace >= 9.95 else f"{pace:.2g} {unit}/s"

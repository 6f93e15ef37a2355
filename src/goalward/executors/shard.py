"""A share of the work, for schedulers that start many processes which do not know each other."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from goalward.errors import GoalwardError, argument

Item = TypeVar("Item")


@dataclass(frozen=True)
class Shard:
    """Number `number` of `count` equal shares; numbers begin at 1."""

    number: int
    count: int

    @classmethod
    def of(cls, text: str) -> "Shard":
        """
        >>> Shard.of("3/16")
        Shard(number=3, count=16)
        >>> Shard.of("17/16")
        Traceback (most recent call last):
        ...
        goalward.errors.GoalwardError: shard='17/16': there are 16 shards, numbered 1 to 16
        """
        found = re.fullmatch(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", text)
        given = argument("shard", text)
        if found is None:
            raise GoalwardError(f"{given}: write which shard of how many, as in 3/16")
        number, count = int(found[1]), int(found[2])
        if count < 1 or not 1 <= number <= count:
            numbered = f"numbered 1 to {count}" if count else "which is none"
            raise GoalwardError(f"{given}: there are {count} shards, {numbered}")
        return cls(number, count)

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @property
    def file_part(self) -> str:
        """What names of files say of it: all shards of one count sort in their order."""
        return f"shard-{self.number:0{len(str(self.count))}d}-of-{self.count}"

    def has(self, position: int) -> bool:
        return position % self.count == self.number - 1

    def share(self, items: Iterable[Item]) -> Iterator[Item]:
        """Every so many-th: long and short ones are spread over all shards.

        >>> list(Shard(2, 3).share("abcdefgh"))
        ['b', 'e', 'h']
        """
        return islice(items, self.number - 1, None, self.count)

"""What became of every try: kept line by line, so that a campaign goes on, and told as a table."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent.parent / "src" / "goalward"


class Outcome(StrEnum):
    """What became of a try, from good to bad; the words are the columns of the table."""

    RIGHT = "right"
    REMADE = "remade"
    REFUSED = "refused"
    TOLD = "told"
    DIFFERENT = "silently different"
    TRACEBACK = "traceback"
    HANG = "hang"


MEANINGS = {
    Outcome.RIGHT: "the result equals the undisturbed one",
    Outcome.REMADE: "so it does, and the damaged file was made anew",
    Outcome.REFUSED: "an error that says what is wrong: exit status 1 or 2, no traceback",
    Outcome.TOLD: "a result without what is damaged, and a warning that says so",
    Outcome.DIFFERENT: "another result, and not a word",
    Outcome.TRACEBACK: "an error that is not meant for people, or a crash",
    Outcome.HANG: "no end within 60 s (`--limit`), or processes that stayed behind",
}


@dataclass(frozen=True)
class Tried:
    """One try. `number` and the campaign's seed are all that it takes to repeat it."""

    part: str
    number: int
    kind: str
    outcome: Outcome
    note: str = ""
    num_leftovers: int = 0
    peak_mib: float = 0.0
    # Of the command that took most, of both the processor's kinds of time.
    cpu_s: float = 0.0
    # How many attacks there were in it: a command may be stopped three times on its way.
    num_attacks: int = 1
    # What was done to which kind of file, where that is drawn.
    change: str = ""


def source_digest() -> str:
    """Of the code that is attacked: results of other code are not in the same table."""
    digest = hashlib.blake2b(digest_size=6)
    for path in sorted(SOURCES.rglob("*.py")):
        digest.update(path.relative_to(SOURCES).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


class Results:
    """The tries of one part, in a file that grows by a line a try."""

    def __init__(self, folder: Path, part: str) -> None:
        self._path = folder / f"{part}.jsonl"
        self.tried: list[Tried] = []
        if self._path.exists():
            whole = self._path.read_text().rpartition("\n")[0]
            self.tried = [_read(line) for line in whole.splitlines()]
            # A line that was torn by a kill is written again.
            self._path.write_text(whole + "\n" if whole else "")

    @property
    def numbers(self) -> set[int]:
        return {tried.number for tried in self.tried}

    @property
    def num_attacks(self) -> int:
        return sum(tried.num_attacks for tried in self.tried)

    def add(self, tried: Tried) -> None:
        self.tried.append(tried)
        with self._path.open("a") as file:
            file.write(json.dumps(asdict(tried)) + "\n")


def _read(line: str) -> Tried:
    content = json.loads(line)
    return Tried(**content | {"outcome": Outcome(content["outcome"])})


def table(tried: Sequence[Tried], row_of: Callable[[Tried], str] | None = None) -> str:
    """Rows by kind, as Markdown, with a row for each part as a whole.

    >>> for line in table([Tried("kills", 0, "fit", Outcome.RIGHT, num_attacks=2)]).splitlines():
    ...     print(line[:32])
    | what | tried | right | remade
    |---|---|---|---|---|---|---|---
    | **kills** | 2 | 2 | 0 | 0 | 0
    | fit | 2 | 2 | 0 | 0 | 0 | 0 |
    """
    row_of = row_of or (lambda one: one.kind)
    heads = ("what", "tried", *Outcome, "leftover files", "peak MiB", "most CPU s")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for part in dict.fromkeys(one.part for one in tried):
        of_part = [one for one in tried if one.part == part]
        lines.append(_row(f"**{part}**", of_part))
        for kind in sorted({row_of(one) for one in of_part}):
            lines.append(_row(kind, [one for one in of_part if row_of(one) == kind]))
    return "\n".join(lines)


def _row(name: str, tried: Sequence[Tried]) -> str:
    counts = [_attacks(one for one in tried if one.outcome is outcome) for outcome in Outcome]
    leftovers = sum(one.num_leftovers for one in tried)
    peak = max((one.peak_mib for one in tried), default=0.0)
    most_cpu = max((one.cpu_s for one in tried), default=0.0)
    cells = (name, _attacks(tried), *counts, leftovers, f"{peak:.0f}", f"{most_cpu:.0f}")
    return f"| {' | '.join(map(str, cells))} |"


def _attacks(tried: Iterable[Tried]) -> int:
    return sum(one.num_attacks for one in tried)

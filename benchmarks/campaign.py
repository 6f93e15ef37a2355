"""Does anything go wrong without a word? Kills, damaged files, shared folders, full disks.

    python benchmarks/campaign.py [PART ...] [--minutes 60] [--seed 0] [--share 1.0]
    python benchmarks/campaign.py flips --only 517     # one try again; its folder stays to look at
    python benchmarks/campaign.py flips --slice 2/15   # every 15th try, for many processors

A try counts as right only if its result equals, to the bit, that of the same command on the same
files undisturbed. The parts: kills, flips, mutations, together, full-disk, every-write, soak;
without one, all.
The numbers of tries are those of docs/damage.md, times `--share`. Results stay in build/campaign,
by the code that was attacked, and are taken up again: a campaign that is out of minutes goes on
where it stopped. Parts, and slices of one, may run side by side, each in a process of its own. At
the end, and by
`--table` alone, a table by kind is printed and written as Markdown, every try as JSON.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Protocol

import numpy as np

from attacks.flips import Flips
from attacks.full_disk import EveryWrite, FullDisk
from attacks.kills import COMMANDS, SIMULATED, Kills
from attacks.mutations import Mutations
from attacks.processes import limit_to, warm_up
from attacks.results import MEANINGS, Outcome, Results, Tried, source_digest, table
from attacks.soak import NUM_EVALUATIONS, Soak
from attacks.together import Together
from goalward.locks import HeldByOther, alone_in

REPOSITORY = Path(__file__).resolve().parent.parent


class Attacks(Protocol):
    """A part of the campaign: try number so-and-so, drawn from a generator of its own."""

    def is_simulated(self, number: int) -> bool:
        """Whether the try draws a simulated world, or needs one that was drawn."""
        ...

    def attack(self, number: int, draws: np.random.Generator) -> Tried: ...


# How many attacks of each part there are in a whole campaign; None: as many as there are things to
# try.
PARTS: dict[str, int | None] = {
    "kills": 300,
    "flips": 1000,
    "mutations": 2000,
    "together": 60,
    "full-disk": 60,
    "every-write": None,
    "soak": NUM_EVALUATIONS,
}


def _attacks(part: str, place: Path, wanted: int, simulator: str) -> Attacks:
    names = [
        name
        for name in COMMANDS
        if simulator == "yes" or (name in SIMULATED) == (simulator == "only")
    ]
    makers: dict[str, Callable[[], Attacks]] = {
        "kills": lambda: Kills(place),
        "flips": lambda: Flips(place, simulator=simulator != "no"),
        "mutations": lambda: Mutations(place),
        "together": lambda: Together(place),
        "full-disk": lambda: FullDisk(place),
        "every-write": lambda: EveryWrite(place, names),
        "soak": lambda: Soak(place, wanted),
    }
    return makers[part]()


def main() -> None:
    arguments = _arguments()
    folder = arguments.folder / source_digest()
    folder.mkdir(parents=True, exist_ok=True)
    if not arguments.table:
        warm_up()
        limit_to(arguments.limit)
        until = time.monotonic() + 60 * arguments.minutes
        for part in arguments.parts or PARTS:
            # Two of one part would disturb each other's tries, which would look like a fault.
            try:
                with alone_in(folder / _name(part, arguments), wait=False):
                    _run(part, folder, until, arguments)
            except HeldByOther as error:
                sys.exit(str(error))
    if arguments.only is None:
        _tell(folder)


def _name(part: str, arguments: argparse.Namespace) -> str:
    """Of a part or a slice of it: its folder, its results."""
    index, num_slices = arguments.slice
    name = part if num_slices == 1 else f"{part}.{index}of{num_slices}"
    return name if arguments.simulator == "yes" else f"{name}.simulator-{arguments.simulator}"


def _run(part: str, folder: Path, until: float, arguments: argparse.Namespace) -> None:
    usual = PARTS[part]
    name = _name(part, arguments)
    index, num_slices = arguments.slice
    wanted = arguments.tries or round((usual or 0) * arguments.share)
    results = Results(folder, name)
    place = folder / name
    place.mkdir(exist_ok=True)
    attacks = _attacks(part, place, wanted, arguments.simulator)
    if isinstance(attacks, EveryWrite):
        wanted = min(wanted, attacks.num_tries) or round(attacks.num_tries * arguments.share)
    if arguments.only is not None:
        print(attacks.attack(arguments.only, _draws(arguments.seed, part, arguments.only)))
        return
    # A part that cannot be done here attacks nothing, and ends all the same.
    number, most = index, wanted
    left_out = {"yes": (), "no": (True,), "only": (False,)}[arguments.simulator]
    is_mine = [attacks.is_simulated(one) not in left_out for one in range(most)]
    mine = sum(is_mine[index::num_slices])
    while results.num_attacks < mine and number < most and time.monotonic() < until:
        if is_mine[number] and number not in results.numbers:
            tried = attacks.attack(number, _draws(arguments.seed, part, number))
            results.add(tried)
            if tried.outcome not in (Outcome.RIGHT, Outcome.REMADE) or tried.num_leftovers:
                print(f"{part} {number}: {tried.kind}: {tried.outcome}: {tried.note}", flush=True)
        number += num_slices
    print(f"{name}: {results.num_attacks} of {mine}", flush=True)


def _draws(seed: int, part: str, number: int) -> np.random.Generator:
    return np.random.default_rng([seed, *part.encode(), number])


def _tell(folder: Path) -> None:
    names = [path.stem for path in sorted(folder.glob("*.jsonl"))]
    tried: list[Tried] = [
        one
        for part in PARTS
        for name in names
        if name.partition(".")[0] == part
        for one in Results(folder, name).tried
    ]
    different = [one for one in tried if one.outcome is Outcome.DIFFERENT]
    text = table(tried)
    if different:
        listed = table(different, lambda one: f"{one.kind}: {one.change or one.note}")
        text += f"\n\nSilently different, by what was changed:\n\n{listed}"
    (folder / "table.md").write_text(text + "\n")
    (folder / "tries.json").write_text(json.dumps([asdict(one) for one in tried], indent=1))
    print(text)
    print("\n".join(f"{outcome}: {meaning}" for outcome, meaning in MEANINGS.items()))
    print(f"{folder}/table.md, tries.json")
    if any(one.outcome in (Outcome.TRACEBACK, Outcome.HANG) for one in tried):
        sys.exit(1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--minutes", type=float, default=60.0, help="stop after so many")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other tries")
    parser.add_argument("--share", type=float, default=1.0, help="of the usual number of tries")
    parser.add_argument("--tries", type=int, help="so many of each part, instead")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds until it hangs")
    parser.add_argument("--slice", type=_slice, default=(0, 1), help="K/N: every Nth try, from K")
    parser.add_argument(
        "--simulator",
        choices=("yes", "no", "only"),
        default="yes",
        help="no: leave out tries that draw worlds, on a machine that cannot; only: those alone",
    )
    parser.add_argument("--only", type=int, help="the try of this number alone")
    parser.add_argument("--table", action="store_true", help="only tell what was tried")
    parser.add_argument("--folder", type=Path, default=REPOSITORY / "build" / "campaign")
    arguments = parser.parse_args()
    unknown: Sequence[str] = [part for part in arguments.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part {unknown[0]}: there are {', '.join(PARTS)}")
    return arguments


def _slice(text: str) -> tuple[int, int]:
    index, num_slices = map(int, text.split("/"))
    if not 0 <= index < num_slices:
        raise ValueError(text)
    return index, num_slices


if __name__ == "__main__":
    main()

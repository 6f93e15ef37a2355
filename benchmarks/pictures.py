"""Which pictures of the pages are older than what they show, and making them again.

    python benchmarks/pictures.py             # says which are out of date
    python benchmarks/pictures.py --make      # makes those again that can be made here

Every picture in docs/ and case_studies/ belongs to a group that one command makes. The command
notes in docs/pictures/made.json a digest of each picture and of what it shows: the code that draws
it, or the results that it draws. Comments, docstrings and spaces do not count. Pictures of code go
out of date often, and mostly nobody would see it: `make docs` says so and goes on. A picture that
no command is noted for, or that was changed by hand, fails a test.
"""

import argparse
import ast
import hashlib
import json
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from goalward.files import write_text

ROOT = Path(__file__).parent.parent
NOTES = "docs/pictures/made.json"
PLACES = ("docs", "case_studies")
KINDS = (".jpg", ".png", ".svg")
FIGURES = "src/goalward/report/figures"


@dataclass(frozen=True)
class Group:
    """Pictures by patterns, the command that makes them, and patterns of the files they show.

    `why_not` says why the command cannot be run on any machine in minutes.
    """

    command: str
    pictures: tuple[str, ...]
    shows: tuple[str, ...]
    why_not: str = ""


def study(name: str, size: str) -> dict[str, Group]:
    """The figures of a case study: what they show are its results."""
    place, needs = f"case_studies/{name}", "needs a simulator, a GPU and hours"
    return {
        f"{name}, scores": Group(
            f"goalward reproduce {place}/recipe.toml --data rollouts/{name} --out results/{name}",
            (f"{place}/figures/paper_metrics_*", f"{place}/figures/success_*"),
            (f"{place}/recipe.toml", f"{place}/results/all_scores_effnet-lite0_{size}.md"),
            needs,
        ),
        f"{name}, truth": Group(
            f"goalward reproduce {place}/recipe.toml --data rollouts/{name} --out results/{name}",
            (f"{place}/figures/truth_*",),
            (f"{place}/results/truth_effnet-lite0_{size}.csv",),
            needs,
        ),
        f"{name}, episodes": Group(
            f"python case_studies/episode_figures.py rollouts/{name}/test "
            f"results/{name}/values/effnet-lite0_{size}.parquet --out {place}/figures",
            (f"{place}/figures/episode_*",),
            (f"{place}/recipe.toml", f"{place}/results/all_scores_effnet-lite0_{size}.md"),
            needs,
        ),
    }


GROUPS: dict[str, Group] = {
    "first screens": Group(
        "python benchmarks/first_screens.py build/first_screens",
        ("docs/pictures/*.jpg",),
        (
            *("benchmarks/first_screens.py", "src/goalward/report/pages/**/*"),
            "src/goalward/report/words/*.py",
        ),
    ),
    "methods": Group(
        "python benchmarks/method_figures.py --out docs/pictures/methods",
        ("docs/pictures/methods/*",),
        ("benchmarks/method_figures.py", f"{FIGURES}/episode.py", "src/goalward/targets/*.py"),
    ),
    "validation": Group(
        "python benchmarks/validation.py",
        ("docs/pictures/validation/*",),
        (
            *("benchmarks/validation.py", "case_studies/truth/results/truth_summary.md"),
            "case_studies/truth/results/truth_by_world.md",
            *("src/goalward/metrics/comparing/rates/boschloo.py",),
            *("src/goalward/metrics/comparing/watching/sequential.py",),
            "src/goalward/metrics/uncertainty/*.py",
        ),
    ),
    **study("pick", "200"),
    **study("square", "200"),
    **study("cloth", "150"),
    **study("libero", "100"),
}


def files_of(patterns: Iterable[str], root: Path = ROOT) -> list[Path]:
    found = {path for pattern in patterns for path in root.glob(pattern)}
    return sorted(p for p in found if p.is_file() and "__pycache__" not in p.parts)


def pictures_of(group: Group, root: Path = ROOT) -> list[str]:
    files = files_of(group.pictures, root)
    return [path.relative_to(root).as_posix() for path in files if path.suffix in KINDS]


def all_pictures(root: Path = ROOT) -> list[str]:
    found = files_of((f"{place}/**/*" for place in PLACES), root)
    return [path.relative_to(root).as_posix() for path in found if path.suffix in KINDS]


def meaning_of(path: Path) -> bytes:
    """What a file says: Python without comments and docstrings, texts without their spaces."""
    content = path.read_bytes()
    if path.suffix == ".py":
        tree = ast.parse(content)
        for node in ast.walk(tree):
            body = getattr(node, "body", None)
            if isinstance(body, list):
                node.body = [part for part in body if not _is_text(part)]  # type: ignore[attr-defined]
        return ast.dump(tree).encode()
    return b" ".join(content.split())


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def shown_by(group: Group, root: Path = ROOT) -> str:
    """One digest of all that a group shows."""
    hasher = hashlib.sha256()
    for path in files_of(group.shows, root):
        hasher.update(path.relative_to(root).as_posix().encode())
        hasher.update(hashlib.sha256(meaning_of(path)).digest())
    return hasher.hexdigest()[:16]


def picture_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def read_notes(root: Path = ROOT) -> dict[str, dict]:
    path = root / NOTES
    return json.loads(path.read_text()) if path.is_file() else {}


def note(*names: str, root: Path = ROOT, groups: dict[str, Group] = GROUPS) -> None:
    """That these groups were made just now; what makes pictures says so at its end."""
    notes = read_notes(root)
    for name in names:
        pictures = {p: picture_digest(root / p) for p in pictures_of(groups[name], root)}
        if not pictures:
            continue
        made = {"command": groups[name].command, "shows": shown_by(groups[name], root)}
        notes[name] = {**made, "pictures": pictures}
    kept = {name: notes[name] for name in groups if name in notes}
    write_text(root / NOTES, json.dumps(kept, indent=1) + "\n")


def out_of_date(root: Path = ROOT, groups: dict[str, Group] = GROUPS) -> list[str]:
    """Groups whose pictures show what is no longer so."""
    notes = read_notes(root)
    return [
        name
        for name, group in groups.items()
        if pictures_of(group, root) and notes.get(name, {}).get("shows") != shown_by(group, root)
    ]


def unaccounted(root: Path = ROOT, groups: dict[str, Group] = GROUPS) -> list[str]:
    """What is wrong with the notes: pictures of no command, changed ones, ones that are gone."""
    notes = read_notes(root)
    noted = {p: digest for made in notes.values() for p, digest in made["pictures"].items()}
    there = all_pictures(root)
    wrong = [f"{p}: no command is noted for it" for p in there if p not in noted]
    wrong += [
        f"{p}: is not as its command left it"
        for p in there
        if p in noted and noted[p] != picture_digest(root / p)
    ]
    wrong += [f"{p}: is noted and not there" for p in noted if p not in there]
    return wrong + [f"{name}: no such group of pictures" for name in notes if name not in groups]


def told(names: Sequence[str]) -> list[str]:
    lines: list[str] = []
    for name in names:
        group = GROUPS[name]
        how = group.why_not or "make pictures"
        lines.append(f"out of date: {name} ({how}): {group.command}")
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--make", action="store_true", help="make again what can be made here")
    parser.add_argument("--note", nargs="+", metavar="GROUP", help="groups that were made just now")
    given = parser.parse_args(arguments)
    if given.note:
        note(*given.note)
    stale = out_of_date()
    for name in stale if given.make else ():
        group = GROUPS[name]
        if not group.why_not:
            print(f"{name}: {group.command}", flush=True)
            program, *words = shlex.split(group.command)
            assert program == "python"
            subprocess.run([sys.executable, *words], cwd=ROOT, check=True)
            note(name)
    for line in (*told(out_of_date()), *unaccounted()):
        print(line)


if __name__ == "__main__":
    main()

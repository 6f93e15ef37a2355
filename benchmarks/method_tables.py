"""How far every method is from the truth, in the pages of the methods.

    python benchmarks/method_tables.py      # at once: reads case_studies/truth/results

The numbers are those of `case_studies/truth` (hours on a GPU): worlds in which every method was
fitted with the same number of seeds.
"""

import re
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).parent.parent
BY_WORLD = ROOT / "case_studies" / "truth" / "results" / "truth_by_world.md"
PAGES = ROOT / "docs" / "methods"
METHODS = ("lambda-returns", "liveness", "liveness-nb", "survival", "mc-dist", "mc", "td")
# The method that a page is about, and those beside it.
OF_PAGES = {"td": ("td",), "monte_carlo": ("mc", "mc-dist"), "survival": ("survival",)}
START, END = "<!-- measured -->\n", "<!-- end of measured -->"


def errors() -> dict[str, dict[str, float]]:
    """World -> method -> mean absolute error of its value, where all methods were fitted alike."""
    found: dict[str, dict[str, float]] = {}
    seeds: dict[str, set[str]] = {}
    world = ""
    for line in BY_WORLD.read_text().splitlines():
        if line.startswith("## "):
            world = line[3:]
        elif line.startswith("| "):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if cells[0] in METHODS and (size := re.match(r"[\d.]+", cells[1])):
                found.setdefault(world, {})[cells[0]] = float(size.group())
                seeds.setdefault(world, set()).add(cells[8])
    return {
        name: row
        for name, row in found.items()
        if set(row) == set(METHODS) and len(seeds[name]) == 1
    }


def table(found: dict[str, dict[str, float]]) -> str:
    lines = [f"| off by | {' | '.join(f'`{m}`' for m in METHODS)} |", "|---" * 8 + "|"]
    for world, row in found.items():
        least = min(row.values())
        cells = [f"**{row[m]:.3f}**" if row[m] == least else f"{row[m]:.3f}" for m in METHODS]
        lines.append(f"| {world} | {' | '.join(cells)} |")
    means = [mean(row[m] for row in found.values()) for m in METHODS]
    return "\n".join([*lines, f"| mean | {' | '.join(f'{size:.3f}' for size in means)} |"]) + "\n"


def sentence(methods: tuple[str, ...], found: dict[str, dict[str, float]]) -> str:
    """What a page says of its own methods, beside the one that gives the answers."""
    told = [f"`{name}` by {_sizes(name, found)}" for name in methods]
    return (
        f"Over {len(found)} sets of simulated rollouts, values are off from the truth (on a scale "
        f"from -1 to 1): those of {', those of '.join(told)}, those of `{METHODS[0]}` "
        f"by {_sizes(METHODS[0], found)}. [All methods](overview.md#measured) are in one table.\n"
    )


def _sizes(name: str, found: dict[str, dict[str, float]]) -> str:
    sizes = [row[name] for row in found.values()]
    return f"{min(sizes):.3f} to {max(sizes):.3f} ({mean(sizes):.3f} in the mean)"


def measured(page: str) -> str:
    """What stands between the marks of a page."""
    found = errors()
    return table(found) if page == "overview" else sentence(OF_PAGES[page], found)


def main() -> None:
    for name in ("overview", *OF_PAGES):
        path = PAGES / f"{name}.md"
        before, _, rest = path.read_text().partition(START)
        path.write_text(before + START + measured(name) + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()

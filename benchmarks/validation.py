"""Do intervals hold the truth, do tests keep quiet where nothing is, how far are estimators off?

    python benchmarks/validation.py         # a minute: figures and numbers of docs/validation.md

Rates are counted out exactly over all results that there can be; the rest is simulated with a fixed
seed. Estimators are held against the truth in case_studies/truth, whose results are read.
"""

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import signal, stats

from goalward.metrics.comparing.rates.boschloo import boschloo_tests
from goalward.metrics.comparing.watching.sequential import log_e_value
from goalward.metrics.uncertainty.intervals import limits
from goalward.metrics.uncertainty.proportions import clopper_pearson, difference, wilson
from goalward.metrics.uncertainty.weighing import FrameMean
from goalward.report.figures.paper import FONT_SIZE, plain_axes

FloatArray = npt.NDArray[np.float64]
ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "validation.md"
FIGURES = ROOT / "docs" / "pictures" / "validation"
TRUTH = ROOT / "case_studies" / "truth" / "results"
SUMMARY, BY_WORLD = TRUTH / "truth_summary.md", TRUTH / "truth_by_world.md"
RATES = np.linspace(0.02, 0.98, 49)
LEVEL, Z = 0.95, float(stats.norm.ppf(0.975))
OURS, USUAL, THIRD = "#0072b2", "#d55e00", "#009e73"


# ---- a rate, and the difference of two: exact ---------------------------------------------------


def wald(successes: FloatArray, total: int) -> tuple[FloatArray, FloatArray]:
    """What is usually done: rate +- 1.96 sqrt(rate (1 - rate) / n)."""
    rate = successes / total
    half = Z * np.sqrt(rate * (1 - rate) / total)
    return rate - half, rate + half


def rate_coverage(total: int) -> dict[str, FloatArray]:
    """How often the interval of so many rollouts holds each rate, over all numbers of successes."""
    successes = np.arange(total + 1.0)
    chance = stats.binom.pmf(successes, total, RATES[:, None])
    methods = {
        "Wilson": wilson(successes, total),
        "Clopper-Pearson": clopper_pearson(successes, total),
        "plus or minus 1.96 s.e.": wald(successes, total),
    }
    return {
        name: (chance * ((low <= RATES[:, None]) & (RATES[:, None] <= high))).sum(axis=1)
        for name, (low, high) in methods.items()
    }


def difference_coverage(total: int) -> dict[str, FloatArray]:
    """The same for the difference of two rates with so many rollouts each, over pairs of rates."""
    counts = np.arange(total + 1.0)
    first, second = (part.ravel() for part in np.meshgrid(counts, counts, indexing="ij"))
    low, high = difference(first, total, second, total)
    rates = first / total, second / total
    half = Z * np.sqrt(sum(rate * (1 - rate) for rate in rates) / total)
    gap = rates[1] - rates[0]
    intervals = {"Newcombe": (low, high), "plus or minus 1.96 s.e.": (gap - half, gap + half)}
    chance = stats.binom.pmf(counts, total, RATES[:, None])
    found: dict[str, list[float]] = {name: [] for name in intervals}
    for i in range(0, len(RATES), 4):
        for j in range(0, len(RATES), 4):
            weights = np.outer(chance[i], chance[j]).ravel()
            truth = RATES[j] - RATES[i]
            for name, (least, most) in intervals.items():
                found[name].append(float(weights[(least <= truth) & (truth <= most)].sum()))
    return {name: np.array(values) for name, values in found.items()}


def false_alarms(total: int) -> dict[str, FloatArray]:
    """How often two equal policies with so many rollouts each are told apart at 5 %, by rate."""
    counts = np.arange(total + 1)
    first, second = (part.ravel() for part in np.meshgrid(counts, counts, indexing="ij"))
    pooled = (first + second) / (2 * total)
    spread = np.sqrt(np.maximum(2 * pooled * (1 - pooled) / total, 1e-300))
    tests = {
        "Boschloo": boschloo_tests(first, total, second, total) <= 1 - LEVEL,
        "z-test": np.abs(second - first) / total / spread > Z,
    }
    chance = stats.binom.pmf(counts, total, RATES[:, None])
    return {
        name: np.array([float(np.outer(row, row).ravel()[alarm].sum()) for row in chance])
        for name, alarm in tests.items()
    }


# ---- looking after every rollout, frames of episodes: simulated ---------------------------------


def alarms_while_watching(
    rate: float, num_pairs: int = 300, num_experiments: int = 4000
) -> dict[str, FloatArray]:
    """Share of experiments with two equal policies that ever gave alarm, after each pair."""
    draws = np.random.default_rng(round(100 * rate)).random((num_experiments, num_pairs, 2)) < rate
    wins = (~draws[..., 0] & draws[..., 1]).cumsum(axis=1)
    losses = (draws[..., 0] & ~draws[..., 1]).cumsum(axis=1)
    pairs = np.arange(1, num_pairs + 1)
    rates = draws.cumsum(axis=1) / pairs[:, None]
    pooled = rates.mean(axis=-1)
    spread = np.sqrt(np.maximum(2 * pooled * (1 - pooled) / pairs, 1e-300))
    unlike = np.abs(rates[..., 1] - rates[..., 0]) / spread > Z
    alarms = {
        "ours": log_e_value(wins, losses) >= np.log(1 / (1 - LEVEL)),
        "z-test after every pair": unlike & (pairs >= 5),
    }
    return {
        name: np.logical_or.accumulate(alarm, axis=1).mean(axis=0) for name, alarm in alarms.items()
    }


def frame_coverage(share: float, num_episodes: int, num_experiments: int = 1000) -> list[float]:
    """Share of frames that are right, frames of an episode alike: our interval, and by frames."""
    rng = np.random.default_rng(num_episodes)
    num_frames, alike = 24, 0.95
    noise = rng.standard_normal((num_experiments, 1, num_episodes, num_frames))
    noise[..., 1:] *= np.sqrt(1 - alike**2)
    latent = signal.lfilter([1.0], [1.0, -alike], noise, axis=-1)
    latent = latent + rng.standard_normal((num_experiments, 1, num_episodes, 1))
    right = latent < stats.norm.ppf(share) * np.sqrt(2)
    lengths = np.full((num_experiments, num_episodes), float(num_frames))
    low, high = limits(
        FrameMean(right.sum(axis=-1).astype(float), lengths, scale="share"), with_seeds=False
    )
    ours = float(((low <= share) & (share <= high)).mean())
    counted = right.sum(axis=(1, 2, 3))
    least, most = wilson(counted, num_episodes * num_frames)
    return [ours, float(((least <= share) & (share <= most)).mean())]


# ---- estimators against the truth ---------------------------------------------------------------


def truth_tables() -> tuple[list[list[str]], list[list[str]]]:
    """The rows of both tables of case_studies/truth: values, and shares of time-outs."""
    tables: list[list[list[str]]] = []
    for line in SUMMARY.read_text().splitlines():
        if line.startswith("| world"):
            tables.append([])
        elif line.startswith("| ") and tables:
            tables[-1].append([cell.strip() for cell in line.strip("|").split("|")])
    return tables[0], tables[1]


def halves_of_intervals() -> dict[tuple[str, str], float]:
    """(world, method) -> half of the 95 % interval of its mean absolute error, over episodes."""
    found: dict[tuple[str, str], float] = {}
    world = ""
    for line in BY_WORLD.read_text().splitlines():
        if line.startswith("## "):
            world = line[3:]
        elif row := re.match(r"\| (\S+) \| [\d.]+ ± ([\d.]+)", line):
            found[world, row[1]] = float(row[2])
    return found


def number(cell: str) -> float:
    found = re.match(r"[\d.]+", cell)
    assert found, cell
    return float(found.group())


# ---- figures and the page -----------------------------------------------------------------------


def panel(figure: Figure, rows: int, columns: int, place: int):
    axes = figure.add_subplot(rows, columns, place)
    plain_axes(axes)
    return axes


def head(axes: Axes, text: str) -> None:
    axes.set_title(text, fontsize=FONT_SIZE)


def save(figure: Figure, name: str) -> None:
    FIGURES.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURES / f"{name}.png", dpi=110, metadata={"Software": None})


def draw_rates(sizes: tuple[int, ...]) -> None:
    figure = Figure(figsize=(7.5, 2.6), layout="constrained")
    for place, total in enumerate(sizes, start=1):
        axes = panel(figure, 1, len(sizes), place)
        for (name, share), colour in zip(
            rate_coverage(total).items(), (OURS, THIRD, USUAL), strict=True
        ):
            axes.plot(100 * RATES, 100 * share, color=colour, linewidth=1.1, label=name)
        axes.axhline(95, color="#777777", linewidth=0.7, linestyle=":")
        axes.set(ylim=(60, 101), xlabel="true rate, %")
        head(axes, f"{total} rollouts")
        if place == 1:
            axes.set_ylabel("interval holds it, %")
            axes.legend(frameon=False, fontsize=7, loc="lower center")
    save(figure, "rates")


def draw_alarms(sizes: tuple[int, ...]) -> None:
    figure = Figure(figsize=(7.5, 2.6), layout="constrained")
    for place, total in enumerate(sizes, start=1):
        axes = panel(figure, 1, len(sizes) + 1, place)
        for (name, share), colour in zip(false_alarms(total).items(), (OURS, USUAL), strict=True):
            axes.plot(100 * RATES, 100 * share, color=colour, linewidth=1.1, label=name)
        axes.axhline(5, color="#777777", linewidth=0.7, linestyle=":")
        axes.set(ylim=(0, 8), xlabel="rate of both, %")
        head(axes, f"{total} rollouts each")
        if place == 1:
            axes.set_ylabel("told apart, %")
            axes.legend(frameon=False, fontsize=7)
    axes = panel(figure, 1, len(sizes) + 1, len(sizes) + 1)
    for (name, share), colour in zip(
        alarms_while_watching(0.5).items(), (OURS, USUAL), strict=True
    ):
        axes.plot(np.arange(1, len(share) + 1), 100 * share, color=colour, label=name)
    axes.axhline(5, color="#777777", linewidth=0.7, linestyle=":")
    axes.set(xlabel="pairs so far", ylim=(0, 45))
    head(axes, "looked at after every pair")
    axes.legend(frameon=False, fontsize=7)
    save(figure, "tests")


def draw_estimators() -> None:
    values, shares = truth_tables()
    figure = Figure(figsize=(7.5, 3.5), layout="constrained")
    draw_errors(panel(figure, 1, 2, 1), values)
    figure.legend(frameon=False, fontsize=7, ncols=3, loc="outside upper left")
    draw_shares(panel(figure, 1, 2, 2), shares)
    save(figure, "estimators")


def draw_errors(axes: Axes, values: list[list[str]]) -> None:
    """Mean absolute errors by world; intervals over episodes where there are any."""
    places, halves = np.arange(len(values)), halves_of_intervals()
    for shift, (column, name, colour) in zip(
        (-0.27, 0.0, 0.27),
        ((1, "liveness", USUAL), (2, "lambda-returns", OURS), (5, "the same in hindsight", THIRD)),
        strict=True,
    ):
        sizes = [number(row[column]) for row in values]
        axes.barh(places + shift, sizes, height=0.25, color=colour, label=name)
        known = [halves.get((row[0], name), np.nan) for row in values]
        axes.errorbar(
            sizes, places + shift, xerr=known, fmt="none", ecolor="#222222", linewidth=0.7
        )
    axes.set_yticks(places, [row[0] for row in values], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("off from the true value by (lines: 95 % intervals)")


def draw_shares(axes: Axes, shares: list[list[str]]) -> None:
    for row in shares:
        measured, expected = number(row[5]), number(row[4])
        axes.plot(measured, expected, "o", color=OURS, markersize=4)
        # Away from the line, where there is room for the name.
        is_left = expected > measured > 30
        axes.annotate(
            row[0], (measured, expected), fontsize=6, ha="right" if is_left else "left",
            xytext=(-4 if is_left else 4, 5 if measured < 10 else 1 if expected > measured else -5),
            textcoords="offset points",
        )  # fmt: skip
    axes.plot([0, 100], [0, 100], color="#777777", linewidth=0.7, linestyle=":")
    axes.set(xlabel="measured, %", ylabel="expected, %", xlim=(-3, 100), ylim=(-3, 100))
    head(axes, "time-outs that succeed in another clock")


def exact_rows() -> list[str]:
    rows: list[str] = []
    for total in (10, 20, 50, 200):
        for name, share in rate_coverage(total).items():
            rows.append(row_of(f"a rate, {total} rollouts", name, share))
    for total in (20, 50):
        for name, share in difference_coverage(total).items():
            rows.append(row_of(f"a difference, {total} rollouts each", name, share))
    return rows


def row_of(what: str, name: str, share: FloatArray) -> str:
    return f"| {what} | {name} | {100 * share.mean():.1f} | {100 * share.min():.1f} |"


def alarm_rows() -> list[str]:
    rows: list[str] = []
    for total in (20, 50):
        for name, share in false_alarms(total).items():
            rows.append(
                f"| {total} rollouts each | {name} | {100 * share.mean():.1f} | "
                f"{100 * share.max():.1f} |"
            )
    for rate in (0.1, 0.5, 0.9):
        for name, share in alarms_while_watching(rate).items():
            rows.append(f"| 300 looks, both {rate:.0%} | {name} | | {100 * share[-1]:.1f} |")
    return rows


def frame_rows() -> list[str]:
    return [
        f"| {share} | {num_episodes} | {100 * ours:.1f} | {100 * by_frames:.1f} |"
        for share in (0.6, 0.85, 0.95)
        for num_episodes in (20, 50)
        for ours, by_frames in [frame_coverage(share, num_episodes)]
    ]


def replace_rows(page: str, name: str, rows: list[str]) -> str:
    start, end = f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
    before, _, rest = page.partition(start)
    head, _, after = rest.partition(end)
    kept = "\n".join(head.splitlines()[:2])
    return before + start + kept + "\n" + "\n".join(rows) + end + after


def main() -> None:
    # Tests take the functions above, from elsewhere.
    from pictures import note

    page = PAGE.read_text()
    for name, rows in (
        ("coverage", exact_rows()),
        ("false alarms", alarm_rows()),
        ("frames", frame_rows()),
    ):
        page = replace_rows(page, name, rows)
    PAGE.write_text(page)
    draw_rates((10, 20, 50))
    draw_alarms((20, 50))
    draw_estimators()
    note("validation")


if __name__ == "__main__":
    main()

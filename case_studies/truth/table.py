"""The table of all methods against the truth, from what `fit.py` stored.

    python case_studies/truth/table.py worlds fits --out case_studies/truth/results

Frames are those of test episodes: `spread`, taken evenly from successes and time-outs, and `at the
end`, where the clock ran out. Errors are of the mean over seeds; tests between methods are paired
over episodes (metrics/uncertainty), Benjamini-Hochberg over the pairs of a world. Means are over
worlds of equal weight; a world with fresh test episodes (`pick_fresh`) stands for its task.
`numbers/<world>.json` keeps all that is told of a world, so that worlds which are not at hand any
more stay in the tables.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from worlds import RecordedWorld, read_world

from goalward.files import written_whole
from goalward.metrics.truth.known_frames import KnownFrames, known_frames
from goalward.metrics.uncertainty.intervals import over_episodes, zero_test
from goalward.metrics.uncertainty.significance import benjamini_hochberg
from goalward.metrics.uncertainty.weighing import mean_by_episode

OURS = "lambda-returns"
LIMITS = ("no-clock", f"{OURS} x 4")
# Methods and their numbers were chosen with the truth of these tasks in view.
DEVELOPED_ON = ("pick", "square", "cloth")
DEFAULT_HINDSIGHT = "0.98"
ALPHA = 0.05
NUMBERS_FOLDER = "numbers"


class Judged:
    """One world, all that was fitted on it, and the truth of its frames."""

    def __init__(self, world: RecordedWorld, fits: Path) -> None:
        self.world = world
        held_out = np.ones(len(world.test), dtype=np.bool_)
        self.known: KnownFrames = known_frames(world.truth, world.test, held_out)
        self.rows: dict[str, dict[str, Any]] = {}
        for kind, suffix in (("ours", ""), ("paper", ""), ("limit", ""), ("more", " x 4")):
            path = fits / f"{world.name}_{kind}.npz"
            if path.is_file():
                with np.load(path, allow_pickle=False) as stored:
                    self._add(dict(stored), suffix)
        position, ends = self.known.position, world.test.episode_ends[self.known.episode]
        late = np.array(self.known.outcome) != "success"
        self.late = late
        self.at_end = late & (position == ends - 1)
        self.spread = ~self.at_end

    def _add(self, arrays: dict[str, Any], suffix: str) -> None:
        """Of all frames that were asked for those whose truth is known, in its order."""
        asked = arrays.get("position", self.known.position)
        row_of = {int(position): row for row, position in enumerate(asked)}
        rows = [row_of[int(position)] for position in self.known.position]
        for index, method in enumerate(arrays["methods"]):
            self.rows[str(method) + suffix] = {
                "value": arrays["by_seed"][index][:, rows].mean(axis=0).astype(np.float64),
                "hindsight": arrays[f"hindsight_{DEFAULT_HINDSIGHT}"][index][rows].astype(
                    np.float64
                ),
                "chances": arrays["chances"][:, index][:, rows].astype(np.float64),
                "composite": arrays["composite"][index],
                "asked": arrays["asked"],
                "ends": arrays.get("ends"),
                "seconds": float(arrays["seconds"]),
                "seeds": arrays["by_seed"].shape[1],
                "discount": float(arrays["discount"]),
            }

    def true_value(self, row: dict[str, Any]) -> Any:
        return self.known.truth.true_value(row["discount"]).mean

    def noise(self, row: dict[str, Any]) -> float:
        """What a perfect prediction would show: the error of means over so few branches."""
        error = self.known.truth.true_value(row["discount"]).standard_error[self.spread]
        return float(np.nanmean(error) * np.sqrt(2 / np.pi))

    def brier(self, row: dict[str, Any], point: int, frames: Any) -> tuple[float, float]:
        """Of the chance within a number of steps against single branches, and of the base rate."""
        steps, within = self.known.truth.steps[frames], int(row["asked"][point])
        there = ~np.isnan(steps)
        reached = np.where(there, steps <= within, np.nan)
        chance = row["chances"][point][frames]
        rate = np.nanmean(reached)
        squared = np.nanmean((chance[:, None] - reached) ** 2, axis=1)
        base = np.nanmean((rate - reached) ** 2, axis=1)
        return float(squared.mean()), float(base.mean())

    def shares(self, row: dict[str, Any], point: int) -> tuple[float, float]:
        """Predicted and measured share of time-outs that succeed within so many more steps."""
        measured = self.known.truth.success_within(float(row["asked"][point])).mean
        return float(row["chances"][point][self.at_end].mean()), float(measured[self.at_end].mean())

    def mean_error(self, error: Any, frames: Any) -> tuple[float, float]:
        mean = mean_by_episode(error[frames], self.known.episode[frames], scale="line")
        low, high = over_episodes(mean).low, over_episodes(mean).high
        size = np.nan if low is None or high is None else (high - low) / 2
        return float(error[frames].mean()), float(size)

    def p_value(self, first: Any, second: Any, frames: Any) -> float:
        difference = mean_by_episode(
            (first - second)[frames], self.known.episode[frames], scale="line"
        )
        found = zero_test(difference).p_value
        return 1.0 if found is None else found


def method_rows(judged: Judged) -> list[dict[str, Any]]:
    """The numbers of every method of a world."""
    ours = judged.rows.get(OURS)
    errors = {
        name: np.abs(row["value"] - judged.true_value(row)) for name, row in judged.rows.items()
    }
    others = [name for name in errors if name != OURS]
    p_values = {}
    if ours is not None:
        raw = [judged.p_value(errors[OURS], errors[name], judged.spread) for name in others]
        p_values = dict(zip(others, benjamini_hochberg(raw), strict=True))
    found: list[dict[str, Any]] = []
    for name, row in judged.rows.items():
        true = judged.true_value(row)
        error, hindsight = row["value"] - true, np.abs(row["hindsight"] - true)
        success = judged.spread & ~judged.late
        time_out = judged.spread & judged.late
        mae, half = judged.mean_error(errors[name], judged.spread)
        after, _ = judged.mean_error(hindsight, judged.spread)
        brier, base = judged.brier(row, 0, np.ones(len(true), dtype=np.bool_))
        predicted, measured = judged.shares(row, 3)
        found.append(
            {
                "method": name,
                "mae": mae,
                "half": half,
                "bias_successes": float(error[success].mean()),
                "bias_time_outs": float(error[time_out].mean()),
                "r": float(np.corrcoef(row["value"][judged.spread], true[judged.spread])[0, 1]),
                "hindsight": after,
                "brier": brier,
                "base": base,
                "share": predicted,
                "measured": measured,
                "composite": float(row["composite"][2]),
                "noise": judged.noise(row),
                "seeds": int(row["seeds"]),
                "seconds": row["seconds"],
                "differs": name in p_values and p_values[name] < ALPHA,
            }
        )
    return found


def numbers_of(judged: Judged) -> dict[str, Any]:
    """All that is told of a world."""
    truth, world = judged.known.truth, judged.world
    return {
        "train": len(world.train),
        "test": len(world.test),
        "time_out": world.time_out,
        "horizon": world.horizon,
        "discount": next(iter(judged.rows.values()))["discount"],
        "spread": int(judged.spread.sum()),
        "at_end": int(judged.at_end.sum()),
        "branches": [int(truth.num_branches.min()), int(truth.num_branches.max())],
        "cap": truth.cap,
        "rows": method_rows(judged),
    }


def world_text(name: str, world: dict[str, Any]) -> str:
    rows, (fewest, most) = world["rows"], world["branches"]
    lines = [
        f"| {row['method']} | {row['mae']:.3f} ± {row['half']:.3f}{' *' if row['differs'] else ''} "
        f"| {row['bias_successes']:+.2f} / {row['bias_time_outs']:+.2f} | {row['r']:.2f} | "
        f"{row['hindsight']:.3f} | {row['brier']:.3f} | {100 * row['share']:.0f} % | "
        f"{row['composite']:.3f} | {row['seeds']} | {row['seconds']:.0f} |"
        for row in rows
    ]
    text = [
        f"## {name}",
        "",
        f"{world['train']} episodes to learn from, {world['test']} test episodes, clock "
        f"{world['time_out']} frames, N_s {world['horizon']}, discount {world['discount']:.4g}. "
        f"Truth: {world['spread']} frames spread over all episodes and {world['at_end']} where the "
        f"clock ran out, {fewest} to {most} branches each, up to {world['cap']} steps.",
        "",
        "| method | MAE of value | bias in successes / time-outs | r | MAE in hindsight | Brier "
        f"within {world['horizon']} | time-outs there with twice the time | composite | seeds | "
        "seconds |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *lines,
        f"| a perfect prediction | {rows[0]['noise']:.3f} | 0 / 0 | | | base rate "
        f"{rows[0]['base']:.3f} | measured {100 * rows[0]['measured']:.0f} % | | | |",
        "",
        f"± half of a 95 % interval over episodes; * differs from `{OURS}` (paired over episodes).",
        "",
    ]
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("worlds", type=Path)
    parser.add_argument("fits", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--no-goal", action="store_true", help="fits were made with it too")
    options = parser.parse_args()
    kept = options.out / NUMBERS_FOLDER
    kept.mkdir(parents=True, exist_ok=True)
    for name in sorted({path.name.rsplit("_", 1)[0] for path in options.fits.glob("*_ours.npz")}):
        world = read_world(options.worlds, name, at_goal=not options.no_goal)
        numbers = json.dumps(numbers_of(Judged(world, options.fits)), indent=1)
        _write(kept / f"{name}.json", numbers + "\n")
    found = {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(kept.glob("*.json"), key=lambda path: path.stem)
    }
    by_world = "\n".join(world_text(name, world) for name, world in found.items())
    _write(options.out / "truth_by_world.md", by_world)
    rows = [{"world": name, **row} for name, world in found.items() for row in world["rows"]]
    summary = summary_text(rows)
    _write(options.out / "truth_summary.md", summary)
    print(summary)


def _write(path: Path, text: str) -> None:
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def summary_text(rows: list[dict[str, Any]]) -> str:
    """Per world what the paper's method, ours and the limits come to, and means over worlds."""
    by_world: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        by_world.setdefault(row["world"], {})[row["method"]] = row
    values = [
        "| world | MAE liveness (seeds) | MAE lambda-returns (seeds) | difference | told apart | "
        "hindsight | against the value of liveness | perfect | no clock | 4 x the episodes |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    chances = [
        "| world | Brier lambda-returns | best other | base rate | share predicted | measured | "
        "predicted by liveness | composite lambda-returns | liveness |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for world, here in by_world.items():
        ours, paper = here[OURS], here["liveness"]
        limits = [f"{here[name]['mae']:.3f}" if name in here else "" for name in LIMITS]
        values.append(
            f"| {world} | {paper['mae']:.3f} ({paper['seeds']}) | {ours['mae']:.3f} "
            f"({ours['seeds']}) | {_less(ours['mae'], paper):+.0f} % | "
            f"{'yes' if paper['differs'] else 'no'} | {ours['hindsight']:.3f} | "
            f"{_less(ours['hindsight'], paper):+.0f} % | {ours['noise']:.3f} | "
            f"{' | '.join(limits)} |"
        )
        best = _best_other(here)
        chances.append(
            f"| {world} | {ours['brier']:.3f} | {best['brier']:.3f} ({best['method']}) | "
            f"{ours['base']:.3f} | {100 * ours['share']:.0f} % | {100 * ours['measured']:.0f} % | "
            f"{100 * paper['share']:.0f} % | {ours['composite']:.3f} | {paper['composite']:.3f} |"
        )
    tasks = {name: here for name, here in by_world.items() if f"{name}_fresh" not in by_world}
    fresh = {name: here for name, here in tasks.items() if _task(name) not in DEVELOPED_ON}
    groups = {"all tasks": tasks, "tasks not developed on": fresh}
    means = [_means_text(words, found) for words, found in groups.items() if found]
    return "\n".join([*values, "", *chances, "", *means, ""])


def _task(world: str) -> str:
    return world.removesuffix("_fresh")


def _less(error: float, paper: dict[str, Any]) -> float:
    """In percent of the error of the paper's value."""
    return 100 * (error / paper["mae"] - 1)


def _best_other(here: dict[str, dict[str, Any]]) -> dict[str, Any]:
    others = [row for name, row in here.items() if name not in (OURS, *LIMITS)]
    return min(others, key=lambda row: row["brier"])


def _means_text(words: str, worlds: dict[str, dict[str, dict[str, Any]]]) -> str:
    pairs = [(here[OURS], here["liveness"]) for here in worlds.values()]
    off = np.array([100 * (ours["share"] - ours["measured"]) for ours, _ in pairs])
    return (
        f"- {words} ({', '.join(worlds)}): value "
        f"{np.mean([_less(ours['mae'], paper) for ours, paper in pairs]):+.1f} %, hindsight "
        f"{np.mean([_less(ours['hindsight'], paper) for ours, paper in pairs]):+.1f} % against the "
        f"value of `liveness`; share off by {np.abs(off).mean():.1f} points in the mean, "
        f"{np.abs(off).max():.1f} at most, root mean square {np.sqrt((off**2).mean()):.1f}"
    )


if __name__ == "__main__":
    main()

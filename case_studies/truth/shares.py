"""The share of time-outs expected to succeed with their clock again: how far off, and how sure.

    python case_studies/truth/record.py pick --frames 0 --at-end 0 --cap 500 --out worlds
    python case_studies/truth/shares.py worlds pick --fits fits --out case_studies/truth/results

Per world 16 data sets, a third of its episodes each (half of them where it has fewer than 300), as
many successes as time-outs, learned from as `evaluate` does at normal effort with one seed: every
episode is judged by the networks of the fold without it. Then 20 times 24 of its time-outs, drawn
with replacement. Measured is the share of all time-outs of the world that succeeded within one
more clock when they were let go on.

`as networks say it` is before chances are held against outcomes (`values/landmarks.py`), `told`
after; intervals are those of the summary (`metrics/more_time.py`), the model's error among them.
A fit is stored, so that the table can be made again in seconds.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from goalward.files import written_whole
from goalward.metrics.expected_share import expected_share
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.endings import BoolArray, FloatArray
from goalward.rollouts.episode import Episode, Outcome
from goalward.seeds import generator
from goalward.training.methods.efforts import with_effort
from goalward.training.methods.table import METHODS
from goalward.values.fit import fit
from goalward.values.landmarks import landmarks, log_odds_step, moved

NUM_SETS = 16
NUM_JUDGED = 24
DRAWS_PER_SET = 20


def fitted_shares(folder: Path, name: str) -> Mapping[str, Any]:
    """What held-out networks of many data sets say at landmarks and at the end of the clock."""
    parts = [dict(np.load(folder / f"{name}_{part}.npz")) for part in ("train", "test")]
    inputs = [np.concatenate([p["proprioception"], p["state"]], axis=1) for p in parts]
    lengths = np.concatenate([np.diff(part["episode_ends"], prepend=0) for part in parts])
    success = np.concatenate([part["success"] for part in parts])
    episodes = [
        Episode(
            id=str(position),
            num_frames=int(length),
            outcome=Outcome.SUCCESS if reached else Outcome.TIME_OUT,
            goal_frame=int(length) - 1 if reached else None,
        )
        for position, (length, reached) in enumerate(zip(lengths, success, strict=True))
    ]
    world = Rollouts(episodes, features=np.concatenate(inputs).astype(np.float32))
    size = 100 if len(world) >= 300 else len(world) // 4 * 2
    sets = {
        str(number): sorted(int(i) for i in world.balanced(size, seed=number).ids)
        for number in range(NUM_SETS)
    }
    numbers = with_effort("normal", "default", {})
    ours = [METHODS["lambda-returns"]]
    fitted = fit(world, ours, seeds=1, subsets=sets, preset="default", **numbers)
    clock = int(parts[0]["time_out"]) - 1
    hidden = np.concatenate([part["steps_on"] for part in parts])
    found: dict[str, Any] = {
        "went_on": (hidden >= 0) & (hidden <= clock),
        "success": success,
    }
    for key, positions in sets.items():
        chosen = np.isin(np.arange(len(world)), positions)
        seen = landmarks(world.endings, [""] * len(world), chosen)
        asked = np.unique(np.concatenate([[0, clock, 3 * clock], seen.num_steps]))
        table = fitted.chance_table(world, asked, subset=key, unseen=True)
        by_frame = np.zeros(table.num_frames)
        by_frame[seen.frame] = seen.num_steps
        found[f"chosen_{key}"] = chosen
        found[f"came_{key}"] = seen.came
        found[f"landmarks_{key}"] = table.within_steps(table.methods[0], by_frame)[seen.frame]
        found[f"ends_{key}"] = table.within_steps_at_end(table.methods[0], clock)
    return found


def row(name: str, found: Mapping[str, Any]) -> tuple[str, float, float]:
    """A line of the table, the error of the mean told share, and how often it is covered."""
    success: BoolArray = found["success"]
    measured = float(found["went_on"][~success].mean())
    draws = generator(0, "coverage", name)
    said, told, steps = [], [], []
    for key in map(str, range(NUM_SETS)):
        late = np.flatnonzero(found[f"chosen_{key}"] & ~success)
        steps.append(log_odds_step(found[f"landmarks_{key}"], found[f"came_{key}"]))
        for _ in range(DRAWS_PER_SET):
            ends: FloatArray = found[f"ends_{key}"][:, :, draws.choice(late, NUM_JUDGED)]
            said.append(_numbers(ends))
            told.append(_numbers(moved(ends, steps[-1])))
    before, after = np.array(said), np.array(told)
    cells = [
        name,
        f"{100 * measured:.0f} %",
        f"{100 * before[:, 0].mean():.0f} %",
        f"{_covered(before, measured):.0f} %",
        f"{np.mean(steps):+.2f}",
        f"{100 * after[:, 0].mean():.0f} % "
        f"({100 * after[:, 0].min():.0f} to {100 * after[:, 0].max():.0f})",
        f"{100 * (after[:, 2] - after[:, 1]).mean():.0f} points",
        f"{_covered(after, measured):.0f} %",
    ]
    line = "| " + " | ".join(cells) + " |"
    return line, float(after[:, 0].mean()) - measured, _covered(after, measured)


def _numbers(ends: FloatArray) -> tuple[float, float, float]:
    share, interval = expected_share(ends)
    return share.value or 0.0, interval.low or 0.0, 1.0 if interval.high is None else interval.high


def _covered(told: FloatArray, measured: float) -> float:
    return 100 * float(((told[:, 1] <= measured) & (measured <= told[:, 2])).mean())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("worlds", nargs="+")
    parser.add_argument("--fits", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    for folder in (options.fits, options.out):
        folder.mkdir(parents=True, exist_ok=True)
    lines = [
        "| world | measured | as networks say it | covered | step | told (least to most) | width "
        "| covered |",
        "|---|---|---|---|---|---|---|---|",
    ]
    errors, covered = [], []
    for name in options.worlds:
        path = options.fits / f"{name}_shares.npz"
        if not path.exists():
            found = fitted_shares(options.folder, name)
            with written_whole(path) as temporary, temporary.open("wb") as file:
                np.savez_compressed(file, **found)
        line, error, share = row(name, dict(np.load(path)))
        lines.append(line)
        errors.append(error)
        covered.append(share)
    off, most = 100 * np.mean(np.abs(errors)), 100 * np.abs(errors).max()
    mean = f"off by {off:.0f} points in the mean, {most:.0f} at most"
    lines.append(f"| mean over worlds | | | | | {mean} | | {np.mean(covered):.0f} % |")
    text = "\n".join([*lines, ""])
    with written_whole(options.out / "shares.md") as temporary:
        temporary.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()

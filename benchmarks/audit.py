"""Labels made wrong on purpose: how many does `goalward audit` find among the first N looked at?

    python case_studies/truth/record.py mw-pick-place --out worlds --test 2 --frames 1 --at-end 0
    python benchmarks/audit.py worlds mw-pick-place mw-peg-insert --episodes 100 --draws 2
    python benchmarks/audit.py worlds mw-pick-place --marks
    python benchmarks/audit.py worlds cloth --episodes 150 --unsure 0.005 0.01 0.02 --draws 3

Episodes of a world recorded from the simulator's state; 1, 5 or 10 % of their labels are turned
round (a time-out becomes a success at its last frame), a run learns from them, and its audit ranks
the episodes. Beside it: ranking by loss, the mean squared error of held-out values against what the
label says, and looking at random. `--marks` films every episode on for a while (its last frame
again, with a little noise) and moves the goal frame of a tenth of the successes instead. `--unsure`
labels like a person whose eye is off by so many metres: wrong where the goal was just reached or
just missed, as `goalward simulate --label-noise` does (worlds whose goal has a distance: cloth).
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import goalward
from goalward.metrics.auditing.audit import FindingKind
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.seeds import generator
from goalward.simulate.recording.label_noise import noisy_label
from goalward.targets.liveness import liveness_value

# Looks, in multiples of the number of wrong labels.
LOOKS = (1, 2, 3)
MARKS = (FindingKind.GOAL_EARLY, FindingKind.GOAL_LATE)


@dataclass(frozen=True, eq=False)
class Recorded:
    """Some episodes of a world: what the simulator knows of every frame, and how they ended."""

    name: str
    features: list[np.ndarray]
    success: np.ndarray
    # Metres to the goal at the last frame, in worlds that have it; success is below a boundary.
    goal_error: np.ndarray | None = None


def recorded(folder: Path, name: str, num_episodes: int) -> Recorded:
    with np.load(folder / f"{name}_train.npz", allow_pickle=False) as stored:
        rows = np.concatenate([stored["proprioception"], stored["state"]], axis=1)
        parts = np.split(rows.astype(np.float32), stored["episode_ends"][:-1])
        errors = stored["goal_error"][:num_episodes] if "goal_error" in stored else None
        return Recorded(name, parts[:num_episodes], stored["success"][:num_episodes], errors)


def rollouts_of(features: Sequence[np.ndarray], goals: Sequence[int | None]) -> Rollouts:
    episodes = [
        Episode(str(i), len(rows), Outcome.TIME_OUT if goal is None else Outcome.SUCCESS, goal)
        for i, (rows, goal) in enumerate(zip(features, goals, strict=True))
    ]
    return Rollouts(episodes, features=np.concatenate(features))


def evaluated(rollouts: Rollouts, effort: str) -> Iterator[tuple[Any, goalward.Audit]]:
    with tempfile.TemporaryDirectory() as folder:
        run = goalward.evaluate(rollouts, folder, effort=effort, report=False, progress=False)
        yield run, goalward.audit(run, progress=False)


def loss_order(run: Any, rollouts: Rollouts) -> list[int]:
    """Episodes by how far held-out values are from what the label says, the farthest first."""
    endings = rollouts.endings
    steps = np.where(endings.steps >= 0, endings.steps, np.inf)
    error = (run.curves().value - liveness_value(steps, run.discount)) ** 2
    spans = zip(endings.starts, endings.episode_ends, strict=True)
    return np.argsort([-error[start:end].mean() for start, end in spans]).tolist()


def share_found(order: Sequence[int], is_wrong: np.ndarray) -> list[float]:
    """Of the wrong labels, the share among the first so many looked at."""
    count = int(is_wrong.sum())
    return [float(is_wrong[list(order[: looks * count])].sum() / count) for looks in LOOKS]


def flipped(world: Recorded, share: float, draw: int, effort: str) -> list[str]:
    count = max(round(share * len(world.success)), 1)
    is_wrong = np.zeros(len(world.success), dtype=np.bool_)
    draws = generator(draw, "flip", world.name)
    is_wrong[draws.choice(len(is_wrong), count, replace=False)] = True
    return found_in(world, is_wrong, [f"{count} of {len(is_wrong)}", str(draw)], effort)


def unsure(world: Recorded, spread: float, draw: int, effort: str) -> list[str]:
    """Labels of a person who cannot see the boundary of success to `spread` metres."""
    if world.goal_error is None:
        raise SystemExit(f"{world.name} was recorded without its goal's distance: record it again")
    draws = generator(draw, "label", world.name)
    labels = [noisy_label(error, draws, spread) for error in world.goal_error.tolist()]
    is_wrong = np.array(labels) != world.success
    lost = int((is_wrong & world.success).sum())
    told = f"{1000 * spread:.0f} mm: {is_wrong.sum()} of {len(is_wrong)}, {lost} of them successes"
    if not is_wrong.any():
        return [world.name, told, str(draw)]
    return found_in(world, is_wrong, [told, str(draw)], effort)


def found_in(world: Recorded, is_wrong: np.ndarray, told: list[str], effort: str) -> list[str]:
    """A run learns from labels of which these are wrong; a row of what its audit finds."""
    count = int(is_wrong.sum())
    goals = [
        len(rows) - 1 if success else None
        for rows, success in zip(world.features, world.success ^ is_wrong, strict=True)
    ]
    rollouts = rollouts_of(world.features, goals)
    run, audit = next(evaluated(rollouts, effort))
    ours = share_found([int(episode.id) for episode in audit.episodes], is_wrong)
    loss = share_found(loss_order(run, rollouts), is_wrong)
    shown = {int(found.episode) for found in audit.findings}
    right = sum(is_wrong[i] for i in shown)
    random = [looks * count / len(is_wrong) for looks in LOOKS]
    return [
        *(world.name, *told),
        *(" ".join(f"{number:.2f}" for number in found) for found in (ours, loss, random)),
        f"{len(shown)}, {right} of them wrong",
        f"{run.trust.skill.value:.2f}",
    ]


def moved_marks(world: Recorded, draw: int, effort: str) -> list[str]:
    """A tenth of the goal frames of successes a sixth of the clock early, a tenth late."""
    draws = generator(draw, "marks", world.name)
    longest = max(map(len, world.features))
    extra = longest // 4
    features, goals = [], []
    successes = np.flatnonzero(world.success)
    moved = draws.permutation(successes)[: 2 * max(len(successes) // 10, 1)]
    early, late = set(moved[::2].tolist()), set(moved[1::2].tolist())
    for i, rows in enumerate(world.features):
        still = np.repeat(rows[-1:], extra, axis=0)
        still = still + 0.01 * rows.std(axis=0) * draws.normal(size=still.shape)
        features.append(np.concatenate([rows, still.astype(np.float32)]))
        shift = -longest // 6 if i in early else longest // 6 if i in late else 0
        goal = len(rows) - 1 + shift if world.success[i] else None
        goals.append(None if goal is None else max(goal, 0))
    _, audit = next(evaluated(rollouts_of(features, goals), effort))
    marked = {int(f.episode): f for f in audit.findings if f.kind in MARKS}
    told = []
    for wrong, kind in ((early, FindingKind.GOAL_EARLY), (late, FindingKind.GOAL_LATE)):
        right = {i for i in wrong if i in marked and marked[i].kind is kind}
        ends = {i: len(world.features[i]) - 1 for i in right}
        suggested = ((marked[i].suggested_goal_frame, end) for i, end in ends.items())
        off = [abs(at - end) for at, end in suggested if at is not None]
        median = f", {np.median(off):.0f} frames off" if off else ""
        told.append(f"{len(right)} of {len(wrong)}{median}")
    others = len(set(marked) - early - late)
    return [world.name, *told, f"{others} of {len(successes) - len(moved)}"]


def print_row(cells: Sequence[str]) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("worlds", nargs="+")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--shares", type=float, nargs="+", default=[0.01, 0.05, 0.1])
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--effort", default="quick")
    parser.add_argument("--marks", action="store_true", help="move goal frames instead")
    parser.add_argument("--unsure", type=float, nargs="+", help="metres by which an eye is off")
    options = parser.parse_args()
    worlds = [recorded(options.folder, name, options.episodes) for name in options.worlds]
    if options.marks:
        print_row(["world", "early marks found", "late marks found", "other marks called wrong"])
        print_row(["---"] * 4)
        for world in worlds:
            print_row(moved_marks(world, 0, options.effort))
        return
    looks = ", ".join(f"{n}N" for n in LOOKS)
    ranks = [f"{how}: share found in {looks} looks" for how in ("audit", "by loss", "at random")]
    print_row(["world", "wrong labels N", "draw", *ranks, "listed by audit", "AUROC"])
    print_row(["---"] * 8)
    spoil = flipped if options.unsure is None else unsure
    for amount in options.shares if options.unsure is None else options.unsure:
        for draw in range(options.draws):
            for world in worlds:
                print_row(spoil(world, amount, draw, options.effort))


if __name__ == "__main__":
    main()

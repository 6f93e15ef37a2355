"""Which reading of the paper's training budget and first stage comes closest to the truth?

    python benchmarks/readings.py [--small] [--seeds 5] [--worlds recovers final] [--device cuda]

`--small` is for machines without a GPU: a tenth of the steps at ten times the learning rate
(what counts here is their product), 128 wide, batches of 256.

A carried object on a chain of 40 positions: grasps are good or bad, a slip sends the policy back
to the start (`recovers`) or ends all hope (`final`). Observations are noisy, and every episode
has a look of its own that says nothing about success but everything about which episode it is.
True values, E[1 - 2 discount^K] without a clock, come from solving the chain.

Columns: mean absolute error and bias of the value on unseen frames, before successes and in
time-outs; correlation with the truth; the paper's success, failure and composite metrics; and
the mean anchor value on timed-out training frames (1: the labels were memorised).
"""

import argparse
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

import goalward
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Outcome
from goalward.training.frames.lens import Sight
from goalward.training.frames.training_frames import training_frames
from goalward.training.methods.presets import hyperparameters
from goalward.training.networks.anchors import anchor_values
from goalward.values.fit import fit
from goalward.values.fitted import Fitted

GOAL, CARRY, HORIZON = 40, 12, 80
LOST = 2 * (GOAL + 1)
DISCOUNT = 1 - 1.75 / HORIZON
BAD_GRASP = 0.4
# The paper's training with the constants of this world's clock.
PAPER: dict[str, Any] = {
    "preset": "libero",
    "discount": DISCOUNT,
    "td_discount": None,
    "td_normaliser": None,
    "mc_normaliser": None,
}
DEFAULT: dict[str, Any] = {"discount": DISCOUNT}
READINGS: dict[str, dict[str, Any]] = {
    "10,000 steps": PAPER,
    "100,000 steps (lr x 10)": PAPER | {"learning_rate": 1e-4},
    "stage 1 on successes alone": PAPER | {"anchor_frames": "success"},
    "default, terminal": DEFAULT | {"time_out": "terminal"},
    "default, open": DEFAULT | {"time_out": "open"},
    "default, terminal, held out": DEFAULT | {"time_out": "terminal", "held_out_fraction": 0.2},
    "default, open, held out": DEFAULT | {"time_out": "open", "held_out_fraction": 0.2},
    "default, terminal, cross-fit": DEFAULT | {"time_out": "terminal", "cross_fit": 3},
    "default, open, cross-fit": DEFAULT | {"time_out": "open", "cross_fit": 3},
    "100,000 steps, cross-fit 3": PAPER | {"learning_rate": 1e-4, "cross_fit": 3},
    "inputs as they are": PAPER | {"standardise": False},
    "time-out open": PAPER | {"time_out": "open"},
    "100,000 steps, held out 0.2": PAPER | {"learning_rate": 1e-4, "held_out_fraction": 0.2},
}


def smaller(chosen: dict[str, Any]) -> dict[str, Any]:
    numbers = hyperparameters(**chosen)
    return chosen | {
        "learning_rate": numbers.learning_rate * 10,
        "num_steps": numbers.num_steps // 10,
        "width": 128,
        "batch_size": 256,
    }


def transitions(recovers: bool) -> npt.NDArray[np.float64]:
    """P(s' | s) over states 2 * position + bad grasp, and LOST."""
    chance = np.zeros((LOST + 1, LOST + 1))
    chance[LOST, LOST] = 1
    for position in range(GOAL + 1):
        for bad in range(2):
            state = 2 * position + bad
            if position == GOAL:
                chance[state, state] = 1
                continue
            slip = (0.10 if bad else 0.01) if position >= CARRY else 0.0
            if recovers:
                chance[state, 0] += slip * (1 - BAD_GRASP)
                chance[state, 1] += slip * BAD_GRASP
            else:
                chance[state, LOST] += slip
            chance[state, state + 2] += (1 - slip) * 0.9
            chance[state, state] += (1 - slip) * 0.1
    return chance


def true_values(chance: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    worth = np.zeros(len(chance))
    worth[2 * GOAL : 2 * GOAL + 2] = 1
    for _ in range(5000):
        worth[: 2 * GOAL] = DISCOUNT * (chance @ worth)[: 2 * GOAL]
    return 1 - 2 * worth


def roll_out(
    chance: npt.NDArray[np.float64], num_episodes: int, seed: int
) -> tuple[Rollouts, npt.NDArray[np.int64]]:
    """Half successes, half time-outs, as in the paper; and the states of all frames."""
    rng = np.random.default_rng(seed)
    cumulated = chance.cumsum(axis=1)
    looks = np.random.default_rng(0)
    project, shift = looks.normal(size=(5, 48)), looks.uniform(0, 6, 48)
    episodes: list[tuple[npt.NDArray[np.int64], bool]] = []
    wanted = {True: num_episodes // 2, False: num_episodes // 2}
    while sum(wanted.values()):
        states = [2 * int(rng.integers(6)) + int(rng.random() < BAD_GRASP)]
        while len(states) <= HORIZON and states[-1] // 2 != GOAL:
            states.append(int(np.searchsorted(cumulated[states[-1]], rng.random())))
        success = states[-1] // 2 == GOAL
        if wanted[success]:
            wanted[success] -= 1
            episodes.append((np.array(states), success))
    features: list[npt.NDArray[np.float64]] = []
    for states, _ in episodes:
        place = states // 2 / GOAL
        lost = states == LOST
        bad = (states % 2 == 1) & ~lost
        seen = np.stack([6 * place, np.sin(3 * place), 0.7 * bad, 2.0 * lost, place >= 0.3], axis=1)
        picture = np.sin(seen @ project + shift) + rng.normal(0, 0.3, (len(states), 48))
        own_look = np.tile(rng.normal(size=16), (len(states), 1))
        features.append(np.concatenate([picture, own_look], axis=1))
    rollouts = goalward.from_arrays(features, success=[success for _, success in episodes])
    return rollouts, np.concatenate([states for states, _ in episodes])


def anchor_on_time_outs(fitted: Fitted, training: Rollouts) -> float:
    frames = training_frames(training)
    sight = Sight(frames, fitted.numbers, torch.device("cpu"), 0)
    runs = tuple(run for members in fitted.answers.values() for run in members if run.anchors)
    if not runs:
        return np.nan
    values = anchor_values(frames, sight, runs, list(fitted.nets), fitted.numbers)
    timed_out = frames.ended_in(Outcome.TIME_OUT)
    return float(np.mean([value[timed_out] for value in values.values()]))


def report(name: str, fitted: Fitted, training: Rollouts, test: Rollouts, truth: Any) -> None:
    frames = training_frames(test)
    table = fitted.predict(test)
    before = frames.reached & (frames.steps < HORIZON)
    length = frames.endings.lengths[frames.endings.episode_of]
    for method in fitted.methods:
        value, steps = table.raw_values(method), table.steps(method)
        error = value - truth
        quick = (steps[:, before] < np.minimum(length, HORIZON)[before]).mean()
        slow = (steps[:, ~frames.reached] > HORIZON).mean()
        correlation = np.mean([np.corrcoef(row, truth)[0, 1] for row in value])
        on_scale = not method.startswith(("td", "mc"))
        numbers = (
            [np.abs(error).mean(), error[:, before].mean(), error[:, ~frames.reached].mean()]
            if on_scale
            else [np.nan] * 3
        )
        anchor = anchor_on_time_outs(fitted, training) if method == "liveness" else np.nan
        columns = [*numbers, abs(correlation), quick, slow, (quick + slow) / 2, anchor]
        print(f"{name:<28} {method:<12}" + "".join(f"{x:8.3f}" for x in columns), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--worlds", nargs="+", default=["recovers", "final"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--device", default=None)
    parser.add_argument("--only", default="", help="readings whose names start like this")
    options = parser.parse_args()
    for world in options.worlds:
        chance = transitions(world == "recovers")
        training, _ = roll_out(chance, 200, seed=1)
        test, states = roll_out(chance, 100, seed=2)
        truth = true_values(chance)[states]
        print(f"\n{world}: {training.num_frames} frames, true value {truth.mean():.3f} on average")
        heads = ("MAE", "before", "timeout", "corr", "succ", "fail", "comp", "anchor")
        print(f"{'reading':<28} {'method':<12}" + "".join(f"{head:>8}" for head in heads))
        for name, chosen in READINGS.items():
            if not name.startswith(options.only):
                continue
            methods = ("liveness", "liveness-nb")
            if name in ("default, terminal", "default, open"):
                methods += ("liveness-exact", "survival", "td", "mc", "mc-dist")
            numbers = smaller(chosen) if options.small else chosen
            started = time.perf_counter()
            fitted = fit(training, methods, seeds=options.seeds, device=options.device, **numbers)
            report(name, fitted, training, test, truth)
            print(f"{'':<28} {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()

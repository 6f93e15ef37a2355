"""Every method on every recorded world: what it says of the test frames, for `table.py`.

    python case_studies/truth/fit.py worlds --out fits pick square cloth ...

Per world one `.npz` per set of methods: values and steps of every seed at the frames whose truth is
known, the chance of success within many numbers of steps there, scores that need all frames, and
seconds. The paper's methods train by the paper's numbers; minutes on a GPU, hours on two cores.
"""

import argparse
import functools
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from worlds import RecordedWorld, read_world

from goalward.files import written_whole
from goalward.metrics.scores.card import scorecard
from goalward.metrics.truth.known_frames import known_frames
from goalward.targets.lambda_returns import lambda_return
from goalward.targets.liveness import discounted_goal, liveness_value
from goalward.targets.survival import seen_of_bins
from goalward.training.methods.outputs import survival_edges
from goalward.training.methods.stages import DARK
from goalward.training.methods.table import METHODS, Method
from goalward.values.fit import fit
from goalward.values.fitted import Fitted

PAPER = ("liveness", "liveness-nb", "td", "mc", "mc-dist", "survival")
OURS = "lambda-returns"
HINDSIGHTS = (0.9, 0.95, 0.98, 0.99, 1.0)
# Shares of the clock that chances are asked for, besides the standard horizon.
CLOCKS = (0.25, 0.5, 1.0, 2.0)


def without_clock(world: RecordedWorld) -> Method:
    """Monte Carlo on the same frames, told what the clock hid: a limit, not a method."""

    def table(frames: Any, anchor: Any, numbers: Any) -> Any:
        edges = survival_edges(numbers).numpy()
        hidden = world.steps_on[frames.endings.episode_of]
        reached = frames.reached | (hidden >= 0)
        steps = np.where(frames.reached, frames.steps, frames.steps + hidden)
        steps = np.where(reached, steps, np.inf).astype(edges.dtype)
        return seen_of_bins(steps, reached, edges)[None]

    stage = replace(DARK, name="no-clock", table=table)
    return Method("no-clock", (stage,), is_folded=True)


def fitted_world(
    world: RecordedWorld,
    methods: Sequence[str | Method],
    seeds: int,
    preset: str | None = None,
    **numbers: Any,
) -> tuple[Fitted, float]:
    """All methods on a world's episodes, by the paper's numbers unless a preset is given."""
    started = time.monotonic()
    preset = world.preset if preset is None else preset
    found = fit(world.train, methods, seeds=seeds, preset=preset, **world.numbers, **numbers)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return found, time.monotonic() - started


def said(world: RecordedWorld, fitted: Fitted) -> dict[str, Any]:
    """What the table needs of the test frames, by array."""
    held_out = np.ones(len(world.test), dtype=np.bool_)
    known = known_frames(world.truth, world.test, held_out)
    values = fitted.predict(world.test)
    discount = fitted.numbers.discount
    assert discount is not None
    endings = world.test.endings
    steps = values.steps_to_goal.astype(np.float64)
    by_seed = liveness_value(steps, discount)
    value = by_seed.mean(axis=1)
    hindsight = {
        str(decay): 1
        - 2
        * lambda_return(
            discounted_goal(value),
            endings.episode_ends,
            endings.goal_frames,
            endings.failures,
            discount,
            decay,
        )[:, known.position]
        for decay in HINDSIGHTS
    }
    asked = [world.horizon, *(round(share * (world.time_out - 1)) for share in CLOCKS)]
    chances = np.stack([fitted.chances(world.test, steps) for steps in asked])
    cards = [scorecard(steps[i], endings, world.horizon) for i in range(len(values.methods))]
    scores = ("success", "failure", "composite", "frame_auroc")
    return {
        "methods": np.array(values.methods),
        "position": known.position,
        "discount": discount,
        "by_seed": by_seed[:, :, known.position].astype(np.float32),
        "at_goal": at_goal_frames(world, value),
        "asked": np.array(asked),
        "chances": chances.mean(axis=2)[:, :, known.position].astype(np.float32),
        "composite": np.array(
            [[card[name].over_seeds.mean.value for name in scores] for card in cards],
            dtype=np.float64,
        ),
        "composite_by_seed": np.array(
            [[score.value for score in card["composite"].by_seed] for card in cards],
            dtype=np.float64,
        ),
        **{f"hindsight_{decay}": array.astype(np.float32) for decay, array in hindsight.items()},
    }


def at_goal_frames(world: RecordedWorld, value: Any) -> Any:
    """Mean value where test episodes reach the goal, which is -1 there by definition: (methods,)"""
    endings = world.test.endings
    goals = endings.starts[endings.success] + endings.goal_frames[endings.success]
    return value[:, goals].mean(axis=1)


def ends_by_network(world: RecordedWorld, fitted: Fitted) -> Mapping[str, Any]:
    """The chance within one more clock where test clocks ran out, network by network."""
    late = world.test.select(world.late)
    found: list[Any] = []
    for seed in fitted.seeds:
        for run in fitted.answers[OURS, seed, "", ""]:
            one = replace(fitted, answers={(OURS, seed, "", ""): (run,)})
            chance = one.chances(late, world.time_out - 1)[0, 0]
            found.append(chance[late.episode_ends - 1])
    return {"ends": np.stack(found).reshape(len(fitted.seeds), -1, len(late))}


def fit_variants(folder: Path, names: Sequence[str], variants: Path, out: Path, seeds: int) -> None:
    """Our method with other numbers; `action` is no number: it adds the actions to the inputs."""
    for label, numbers in json.loads(variants.read_text(encoding="utf-8")).items():
        for name in names:
            world = read_world(folder, name, action=bool(numbers.get("action", False)))
            own = {f"{OURS}.{key}": value for key, value in numbers.items() if key != "action"}
            fitted, seconds = fitted_world(world, [METHODS[OURS]], seeds, **own)
            save(out / f"{name}_variant_{label}.npz", said(world, fitted) | {"seconds": seconds})


def save(path: Path, arrays: Mapping[str, Any]) -> None:
    with written_whole(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)
    print(f"{path.name}: {float(arrays['seconds']):.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("worlds", nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--sets", nargs="+", default=["ours", "paper", "limit", "more"], help="what to fit"
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--preset", help="for the paper's methods; default: the paper's numbers")
    parser.add_argument("--methods", default=",".join(PAPER), help="of the set `paper`")
    parser.add_argument(
        "--variants", type=Path, help="JSON, name -> numbers of lambda-returns: each in turn"
    )
    parser.add_argument(
        "--no-goal", action="store_true", help="without the second after success, where recorded"
    )
    parser.add_argument(
        "--planned", action="store_true", help="at frames whose branches are still to be run too"
    )
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", dest="numbers")
    options = parser.parse_args()
    numbers: dict[str, Any] = {}
    for text in options.numbers:
        name, value = text.split("=")
        numbers[name] = float(value) if "." in value or "e" in value else int(value)
    options.out.mkdir(parents=True, exist_ok=True)
    if options.variants is not None:
        fit_variants(options.folder, options.worlds, options.variants, options.out, options.seeds)
        return
    for kind in options.sets:
        for name in options.worlds:
            more = 4 if kind == "more" else 1
            try:
                kept = {"at_goal": not options.no_goal, "planned": options.planned}
                read = functools.partial(read_world, options.folder, name, **kept)
                world = read()
                if more > 1:
                    world = read(num_train=more * len(world.train))
            except FileNotFoundError as error:
                print(f"{name}, {kind}: {error}", flush=True)
                continue
            methods: Sequence[str | Method] = [METHODS[OURS]]
            if kind == "paper":
                methods = options.methods.split(",")
            elif kind == "limit":
                methods = [without_clock(world)]
            fitted, seconds = fitted_world(world, methods, options.seeds, options.preset, **numbers)
            arrays = said(world, fitted) | {"seconds": seconds}
            if kind in ("ours", "more"):
                arrays |= ends_by_network(world, fitted)
            save(options.out / f"{name}_{kind}.npz", arrays)


if __name__ == "__main__":
    main()

"""Minutes of training against the error of the value, by effort.

    python case_studies/truth/efforts.py worlds pick square --episodes 100
    python case_studies/truth/efforts.py worlds pick square --efforts thorough --seeds 1

Per world and effort: seconds of training on this machine (all of torch's threads), the mean error
of the value over the frames whose truth is known, and what share of time-outs is expected to
succeed with their clock again.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from many_tasks import METHOD, error
from worlds import read_world

from goalward.training.methods.efforts import EFFORTS, find_effort, with_effort
from goalward.values.fit import fit


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("worlds", nargs="+")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--efforts", nargs="+", default=list(EFFORTS))
    parser.add_argument("--seeds", type=int, help="default: as the effort says")
    options = parser.parse_args()
    print("| world | frames | effort | seeds | seconds | MAE | share expected |")
    print("|---|---|---|---|---|---|---|")
    for name in options.worlds:
        world = read_world(options.folder, name, num_train=options.episodes)
        for effort in options.efforts:
            seeds = options.seeds or find_effort(effort).seeds
            numbers = with_effort(effort, "default", {})
            started = time.monotonic()
            fitted = fit(world.train, METHOD, seeds=seeds, **numbers)
            seconds = time.monotonic() - started
            discount = fitted.numbers.discount
            assert discount is not None
            mae = error(world, fitted.predict(world.test), discount)
            late = world.test.select(world.late)
            chance = fitted.chances(late, world.time_out - 1)[0].mean(axis=0)
            share = float(np.mean(chance[late.episode_ends - 1]))
            frames = f"{world.train.num_frames:,}"
            line = f"| {name} | {frames} | {effort} | {seeds} | {seconds:.0f} | {mae:.3f} | "
            print(f"{line}{100 * share:.0f} % |", flush=True)


if __name__ == "__main__":
    main()

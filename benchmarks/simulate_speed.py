"""What a simulated frame costs: physics and policy against drawing, per task, on one core.

python benchmarks/simulate_speed.py                 # needs the extra `sim`
python benchmarks/simulate_speed.py --tasks cloth --steps 300
"""

import argparse
import os
import time

from goalward.simulate.worlds.gl import choose_gl

# Both count only before numpy and mujoco are there.
os.environ.setdefault("OMP_NUM_THREADS", "1")
choose_gl()

from goalward.seeds import generator  # noqa: E402
from goalward.simulate.tasks import find_task  # noqa: E402
from goalward.simulate.worlds.cameras import Cameras  # noqa: E402


def seconds_per_frame(task: str, num_steps: int, num_pictures: int, size: int) -> tuple[float, ...]:
    """Of a step of world and policy, and of the pictures of all cameras of a frame."""
    found = find_task(task)
    world, policy = found.make_world(), found.make_policy(found.default_policy)
    world.reset(generator(0, "world"))
    policy.reset(world, generator(0, "policy"))
    world.step(policy.act(world))
    started = time.perf_counter()
    for _ in range(num_steps):
        world.step(policy.act(world))
    per_step = (time.perf_counter() - started) / num_steps
    with Cameras(world, size) as cameras:
        for camera in world.cameras:
            cameras.picture(camera)
        started = time.perf_counter()
        for _ in range(num_pictures):
            for camera in world.cameras:
                cameras.picture(camera)
        per_frame = (time.perf_counter() - started) / num_pictures
    return per_step, per_frame


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", nargs="+", default=["square", "pick", "cloth"])
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--pictures", type=int, default=30)
    parser.add_argument("--size", type=int, default=128)
    arguments = parser.parse_args()
    print("| task | step of world and policy | its pictures | pictures / step |")
    print("|---|---:|---:|---:|")
    for task in arguments.tasks:
        step, pictures = seconds_per_frame(
            task, arguments.steps, arguments.pictures, arguments.size
        )
        ratio = pictures / step
        print(f"| {task} | {1e3 * step:.1f} ms | {1e3 * pictures:.1f} ms | {ratio:.1f} |")


if __name__ == "__main__":
    main()

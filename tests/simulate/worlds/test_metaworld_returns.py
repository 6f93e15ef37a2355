"""Returns to a frame of metaworld's tasks: exact, in another world and in another process."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs mujoco: pip install 'goalward[sim]'")
pytest.importorskip("metaworld", reason="needs metaworld: pip install 'goalward[metaworld]'")

from goalward.seeds import generator
from goalward.simulate.policies.metaworld_policy import MetaworldScript
from goalward.simulate.tasks import find_task
from goalward.simulate.worlds.metaworld_world import MetaworldWorld
from simulate.metaworld_episodes import SEED, TASKS, begin, go_on


@pytest.fixture(scope="module", params=TASKS)
def task(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def world(task: str) -> MetaworldWorld:
    return TASKS[task]()


@pytest.fixture(scope="module")
def other_world(task: str) -> MetaworldWorld:
    return TASKS[task]()


def test_a_return_knows_how_long_the_object_has_been_at_its_goal(
    world: MetaworldWorld, other_world: MetaworldWorld, task: str
):
    script = begin(world, task, "clean")
    snapshots = [world.snapshot()]
    while not world.succeeded():
        snapshots += go_on(world, script, 1)
    other_world.reset(generator(SEED, "world"))
    other_world.restore(snapshots[-1])
    assert other_world.succeeded()
    other_world.restore(snapshots[-2])
    assert not other_world.succeeded()
    other_world.step(np.array([0.0, 0.0, 0.0, 1.0]))
    assert other_world.succeeded()


def test_a_restored_episode_goes_on_as_it_did_in_another_world(
    world: MetaworldWorld, other_world: MetaworldWorld, task: str
):
    script, snapshot, memory = in_the_middle_of_a_slip(world, task)
    expected = go_on(world, script, 60)
    assert "drop" in script.noted()

    go_on(other_world, begin(other_world, task, "retry", seed=9), 30)
    other_script = find_task(task).make_policy("retry")
    assert isinstance(other_script, MetaworldScript)
    other_world.restore(snapshot)
    np.testing.assert_array_equal(other_world.snapshot(), snapshot)
    other_script.recall(memory)
    np.testing.assert_array_equal(go_on(other_world, other_script, 60), expected)
    assert other_script.remember() == script.remember()
    assert other_world.succeeded() == world.succeeded()
    np.testing.assert_array_equal(other_world.state(), world.state())


def in_the_middle_of_a_slip(
    world: MetaworldWorld, task: str
) -> tuple[MetaworldScript, np.ndarray, str]:
    """Fingers on their way, the arm in motion, all of the mind in use."""
    script = begin(world, task, "retry")
    script.mind |= {"grasp_error": [0.0, 0.0, 0.0], "pause_steps_left": 0}
    while script.mind["phase"] != "carry":
        world.step(script.act(world))
        script.mind["slip_steps_left"] = 0
    script.mind["slip_steps_left"] = 12
    go_on(world, script, 3)
    return script, world.snapshot(), script.remember()


_CHILD = """
import hashlib, sys
import numpy as np
from goalward.simulate.tasks import find_task

task, folder = sys.argv[1:]
found = find_task(task)
world, script = found.make_world(), found.make_policy("retry")
world.restore(np.load(f"{folder}/snapshot.npy"))
script.recall(open(f"{folder}/memory.json").read())
digest = hashlib.sha256()
for _ in range(60):
    world.step(script.act(world))
    digest.update(world.snapshot().tobytes() + script.remember().encode())
print(digest.hexdigest())
"""


def test_a_restored_episode_goes_on_as_it_did_in_a_new_process(
    world: MetaworldWorld, task: str, tmp_path: Path
):
    script, snapshot, memory = in_the_middle_of_a_slip(world, task)
    np.save(tmp_path / "snapshot.npy", snapshot)
    (tmp_path / "memory.json").write_text(memory)
    digest = hashlib.sha256()
    for _ in range(60):
        world.step(script.act(world))
        digest.update(world.snapshot().tobytes() + script.remember().encode())
    child = subprocess.run(
        [sys.executable, "-c", _CHILD, task, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert child.stdout.strip() == digest.hexdigest()


def test_all_that_the_script_has_in_mind_comes_back_from_json(world: MetaworldWorld, task: str):
    script, _, memory = in_the_middle_of_a_slip(world, task)
    assert json.loads(memory)["mind"] == script.mind
    # Nothing is kept beside the mind: what a script is made of does not change as it acts.
    made_of = vars(find_task(task).make_policy("retry")).keys() | {"generator"}
    assert vars(script).keys() == made_of


def test_a_world_that_only_draws_shows_what_the_world_that_ran_shows(task: str):
    from goalward.simulate.worlds.cameras import Cameras
    from simulate.ball_world import skip_where_nothing_is_drawn

    skip_where_nothing_is_drawn()
    world = TASKS[task]()
    go_on(world, begin(world, task, "retry"), 40)
    snapshot = world.snapshot()
    with Cameras(world, 64) as cameras:
        ran = [cameras.picture(camera) for camera in world.cameras]
    world = TASKS[task]()
    with Cameras(world, 64) as cameras:
        elsewhere = [cameras.picture(camera) for camera in world.cameras]
        world.restore(snapshot)
        drawn = [cameras.picture(camera) for camera in world.cameras]
    np.testing.assert_array_equal(drawn, ran)
    assert not any(np.array_equal(a, b) for a, b in zip(elsewhere, drawn, strict=True))

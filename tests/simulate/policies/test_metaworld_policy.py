"""The script for metaworld's tasks: how it errs, when it tries again, and when it gives up."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs mujoco: pip install 'goalward[sim]'")
pytest.importorskip("metaworld", reason="needs metaworld: pip install 'goalward[metaworld]'")

from goalward.seeds import generator
from goalward.simulate.policies.hand_motion import OPEN
from goalward.simulate.policies.metaworld_policy import (
    ROUTES,
    MetaworldHabits,
    MetaworldScript,
    metaworld_habits,
)
from goalward.simulate.tasks import find_task
from goalward.simulate.worlds.metaworld_world import MetaworldWorld

SEED = 4
TASKS = tuple(ROUTES)


@pytest.fixture(scope="module", params=TASKS)
def task(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def world(task: str) -> MetaworldWorld:
    world = find_task(task).make_world()
    assert isinstance(world, MetaworldWorld)
    return world


def begin(
    world: MetaworldWorld, task: str, habits: MetaworldHabits, seed: int = SEED
) -> MetaworldScript:
    world.reset(generator(seed, "world"))
    script = MetaworldScript(ROUTES[task], habits)
    script.reset(world, generator(seed, "policy"))
    return script


def until(world: MetaworldWorld, script: MetaworldScript, phase: str) -> None:
    for _ in range(300):
        if script.mind["phase"] == phase:
            return
        world.step(script.act(world))
    raise AssertionError(f"still in {script.mind['phase']}, not in {phase}")


@pytest.mark.parametrize(("chance", "attempts", "phase"), [(1.0, 1, "rise"), (0.0, 0, "give up")])
def test_a_drop_is_followed_by_another_attempt_only_where_the_habits_say_so(
    world: MetaworldWorld, task: str, chance: float, attempts: int, phase: str
):
    script = begin(world, task, replace(metaworld_habits(task, "clean"), retry_chance=chance))
    until(world, script, "carry")
    assert world.holds()
    script.mind["slip_steps_left"] = 40
    until(world, script, phase)
    assert script.noted() == ["drop"]
    assert script.mind["attempt"] == attempts
    for _ in range(30):
        world.step(script.act(world))
    assert not world.holds()


def test_what_is_given_up_stays_so(world: MetaworldWorld, task: str):
    script = begin(world, task, replace(metaworld_habits(task, "clean"), retry_chance=0.0))
    script.mind["grasp_error"] = [0.0, 0.12, 0.0]
    until(world, script, "give up")
    assert script.noted() == ["miss"]
    for _ in range(150):
        action = script.act(world)
        assert action[3] == OPEN
        world.step(action)
    assert script.mind["phase"] == "give up"
    assert script.noted() == []
    assert np.linalg.norm(world.hand() - world.grasp_point()) > 0.1


def test_after_a_miss_it_believes_the_object_elsewhere_and_succeeds(
    world: MetaworldWorld, task: str
):
    script = begin(world, task, metaworld_habits(task, "clean"))
    script.mind["grasp_error"] = [0.0, 0.12, 0.0]
    for _ in range(400):
        world.step(script.act(world))
        if world.succeeded():
            break
    assert world.succeeded()
    assert script.noted() == ["miss"]
    assert script.mind["attempt"] == 1
    np.testing.assert_array_equal(script.mind["grasp_error"], 0.0)


def test_errors_are_kept_within_an_attempt_and_drawn_anew_for_the_next(
    world: MetaworldWorld, task: str
):
    habits = replace(metaworld_habits(task, "retry"), grasp_error_m=0.06, retry_chance=1.0)
    errors: dict[int, set[tuple[float, ...]]] = {}
    script = begin(world, task, habits, seed=5)
    for _ in range(500):
        attempt = script.mind["attempt"]
        errors.setdefault(attempt, set()).add(tuple(script.mind["grasp_error"]))
        world.step(script.act(world))
    assert len(errors) > 2
    assert all(len(of_attempt) == 1 for of_attempt in errors.values())
    assert len(set.union(*errors.values())) > 2


def test_a_ring_that_jams_is_kept_in_hand_and_placed_anew():
    task = "mw-assembly"
    world = find_task(task).make_world()
    assert isinstance(world, MetaworldWorld)
    script = begin(world, task, metaworld_habits(task, "clean"))
    script.mind["place_error"] = [0.0, 0.03, 0.0]
    until(world, script, "place")
    until(world, script, "lift")
    assert script.noted() == ["jam"]
    assert world.holds()
    for _ in range(200):
        world.step(script.act(world))
        if world.succeeded():
            break
    assert world.succeeded()
    assert script.noted() == []


def test_slips_and_rests_come_as_often_as_their_chances_say(world: MetaworldWorld, task: str):
    habits = replace(
        metaworld_habits(task, "clean"),
        slip_chance=0.05,
        fewest_slip_steps=1,
        most_slip_steps=1,
        pause_chance=0.1,
        fewest_pause_steps=1,
        most_pause_steps=1,
    )
    script = begin(world, task, habits)
    until(world, script, "carry")
    anchor = dict(script.mind)
    slips = rests = 0
    for _ in range(2000):
        script.mind = dict(anchor)
        action = script.act(world)
        slips += action[3] == OPEN
        rests += bool(np.all(action[:3] == 0.0))
    # Six standard deviations of the counts.
    assert slips == pytest.approx(100, abs=60)
    assert rests == pytest.approx(200, abs=80)


def test_another_generator_makes_another_branch(world: MetaworldWorld, task: str):
    script = begin(world, task, metaworld_habits(task, "retry"))
    for _ in range(10):
        world.step(script.act(world))
    memory = script.remember()
    as_before = script.act(world)
    script.recall(memory)
    np.testing.assert_array_equal(script.act(world), as_before)
    script.recall(memory, generator(6, "branch"))
    assert not np.array_equal(script.act(world), as_before)

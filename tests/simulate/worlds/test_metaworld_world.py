"""metaworld's four tasks: its starts, its steps, its successes."""

import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs mujoco: pip install 'goalward[sim]'")

from goalward.errors import GoalwardError
from goalward.seeds import generator
from goalward.simulate.tasks import find_task
from goalward.simulate.worlds.metaworld_world import (
    AssemblyWorld,
    MetaworldWorld,
    PickPlaceWorld,
)
from simulate.metaworld_episodes import SEED, TASKS, begin, go_on


def test_without_metaworld_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "metaworld", None)
    for name in [name for name in sys.modules if name.startswith("metaworld.")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(GoalwardError, match="--no-deps metaworld==3.1.1") as told:
        PickPlaceWorld()
    assert "metaworld cannot be imported" in str(told.value)


@pytest.fixture(scope="module", params=TASKS)
def task(request: pytest.FixtureRequest) -> str:
    pytest.importorskip("metaworld", reason="needs metaworld: pip install 'goalward[metaworld]'")
    return request.param


@pytest.fixture(scope="module")
def world(task: str) -> MetaworldWorld:
    return TASKS[task]()


@pytest.fixture(scope="module")
def other_world(task: str) -> MetaworldWorld:
    return TASKS[task]()


def judged_by_metaworld(world: MetaworldWorld) -> bool:
    now = world.env._get_curr_obs_combined_no_goal()
    seen = np.concatenate([now, now, world.goal()])
    return bool(world.env.evaluate_state(seen, np.zeros(4))[1]["success"])


def test_names_and_numbers_are_equally_many(world: MetaworldWorld, task: str):
    begin(world, task, "clean")
    assert world.proprioception().shape == (len(world.proprioception_names),) == (4,)
    assert world.state().shape == (len(world.state_names),) == (21,)
    state = dict(zip(world.state_names, world.state(), strict=True))
    assert world.hand()[0] + state["hand_to_object_x"] == pytest.approx(state["object_x"])
    assert world.tip()[1] + state["tip_to_goal_y"] == pytest.approx(state["goal_y"])
    assert state["object_up_z"] == pytest.approx(1.0, abs=1e-3)


def test_the_fingers_are_as_far_apart_as_metaworld_sees_them(world: MetaworldWorld, task: str):
    script = begin(world, task, "clean")
    apart = []
    for _ in range(90):
        world.step(script.act(world))
        apart.append(world.proprioception()[3])
        assert apart[-1] == pytest.approx(world.env._get_curr_obs_combined_no_goal()[3])
    assert max(apart) == 1.0
    assert min(apart) < 0.8


def test_a_start_depends_on_its_generator_alone(world: MetaworldWorld, task: str):
    world.reset(generator(5, "world"))
    fresh, placed = world.snapshot(), world.model.body_pos.copy()
    go_on(world, begin(world, task, "retry", seed=6), 70)
    assert not np.array_equal(world.goal(), fresh[world._state_size :][:3])
    before = common_generator_state()
    # What an episode before placed just where the hand begins.
    world.model.body_pos[world._placed] = [0.0, 0.6, 0.1]
    world.reset(generator(5, "world"))
    np.testing.assert_array_equal(world.snapshot(), fresh)
    np.testing.assert_array_equal(world.model.body_pos, placed)
    assert common_generator_state() == before


def common_generator_state() -> list[Any]:
    _, key, *rest = np.random.get_state()  # noqa: NPY002
    return [list(key), *rest]


def test_starts_differ_in_where_the_goal_is(world: MetaworldWorld):
    goals = []
    for seed in range(10, 22):
        world.reset(generator(seed, "world"))
        goals.append(world.goal())
        assert not world.at_goal()
    assert np.ptp(goals, axis=0)[:2].max() > 0.05


def test_the_mark_is_at_the_goal_after_a_start_and_after_a_return(
    world: MetaworldWorld, other_world: MetaworldWorld
):
    mark = "pegTop" if isinstance(world, AssemblyWorld) else "goal"
    world.reset(generator(7, "world"))
    other_world.reset(generator(8, "world"))
    other_world.restore(world.snapshot())
    for shown in (world, other_world):
        np.testing.assert_allclose(shown.data.site(mark).xpos, world.goal(), atol=1e-12)
    np.testing.assert_array_equal(other_world.model.body_pos, world.model.body_pos)


def test_a_step_is_metaworld_s_own(world: MetaworldWorld, task: str):
    """Its own leaves the solver another start for the next step, hence not to the bit."""
    actions = generator(2, "actions").uniform(-1.0, 1.0, (20, 4))
    world.reset(generator(SEED, "world"))
    start, before = world.snapshot(), world.state()
    for action in actions:
        world.step(action)
    ours = world.state()
    world.restore(start)
    world.env.curr_path_length = 0
    world.env._partially_observable = False
    for action in actions:
        world.env.step(action)
    world.restore(world.snapshot())
    assert np.abs(ours - before).max() > 0.02
    np.testing.assert_allclose(world.state(), ours, atol=1e-6)


def test_the_clean_script_succeeds_at_once_and_metaworld_agrees_at_every_step(
    world: MetaworldWorld, task: str
):
    script = begin(world, task, "clean")
    held, at_goal = 0, []
    for _ in range(find_task(task).time_out):
        world.step(script.act(world))
        held += world.holds()
        at_goal.append(world.at_goal())
        assert at_goal[-1] == judged_by_metaworld(world)
        if world.succeeded():
            break
    assert world.succeeded()
    assert at_goal[-world.goal_steps :] == [True] * world.goal_steps
    assert not at_goal[-world.goal_steps - 1]
    assert held > 20
    assert (script.mind["attempt"], script.noted()) == (0, [])


def test_an_object_is_held_only_between_both_fingers(world: MetaworldWorld, task: str):
    script = begin(world, task, "clean")
    assert not world.holds()
    while script.mind["phase"] != "carry":
        world.step(script.act(world))
    assert world.holds()
    for _ in range(20):
        world.step(np.array([0.0, 0.0, 0.0, -1.0]))
    assert not world.holds()


def test_no_clock_of_metaworld_s_stops_the_world(world: MetaworldWorld):
    world.reset(generator(SEED, "world"))
    for _ in range(world.env.max_path_length + 5):
        world.step(np.zeros(4))
    before = world.hand()
    for _ in range(5):
        world.step(np.array([0.0, 0.0, 1.0, 0.0]))
    assert world.hand()[2] > before[2] + 0.01


def test_the_camera_in_the_corner_is_upright(world: MetaworldWorld):
    world.reset(generator(SEED, "world"))
    corner = world.data.cam_xmat[world.model.camera(world.cameras[0]).id].reshape(3, 3)
    assert corner[2, 1] > 0.5
    np.testing.assert_allclose(corner.T @ corner, np.eye(3), atol=1e-9)

"""Pictures: upright, of this moment, and the same whether or not hidden bodies are drawn."""

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs mujoco: pip install 'goalward[sim]'")


from goalward.seeds import generator
from goalward.simulate.worlds.cameras import Cameras
from simulate.ball_world import BallWorld, skip_where_nothing_is_drawn

skip_where_nothing_is_drawn()


def test_one_set_of_cameras_at_a_time():
    world = BallWorld()
    with Cameras(world, 32):
        with pytest.raises(RuntimeError, match="close the other cameras"):
            Cameras(world, 32)
    with Cameras(world, 32) as cameras:
        assert cameras.picture(world.cameras[0]).shape == (32, 32, 3)


@pytest.mark.parametrize("task", ["square", "pick"])
def test_what_a_camera_never_sees_may_be_left_out(task):
    pytest.importorskip("robosuite", reason="needs robosuite")
    from goalward.simulate.tasks import find_task

    found = find_task(task)
    world, policy = found.make_world(), found.make_policy("retry")
    world.reset(generator(4, "world"))
    policy.reset(world, generator(4, "policy"))
    with Cameras(world, 64) as cameras:
        unseen = cameras._unseen["robot0_eye_in_hand"]
        assert len(unseen) > 10
        for _ in range(6):
            for _ in range(15):
                world.step(policy.act(world))
            quick = cameras.picture("robot0_eye_in_hand")
            cameras._unseen["robot0_eye_in_hand"] = unseen[:0]
            assert np.array_equal(quick, cameras.picture("robot0_eye_in_hand"))
            cameras._unseen["robot0_eye_in_hand"] = unseen
            # The other camera does see them.
            whole = cameras.picture("agentview")
            cameras._unseen["agentview"] = unseen
            assert not np.array_equal(whole, cameras.picture("agentview"))
            cameras._unseen["agentview"] = unseen[:0]


@pytest.mark.parametrize("task", ["square", "pick", "cloth"])
def test_a_world_that_only_draws_shows_what_the_world_that_ran_shows(task):
    if task != "cloth":
        pytest.importorskip("robosuite", reason="needs robosuite")
    from goalward.simulate.tasks import find_task

    found = find_task(task)
    world, policy = found.make_world(), found.make_policy("retry")
    world.reset(generator(4, "world"))
    policy.reset(world, generator(4, "policy"))
    for _ in range(5):
        world.step(policy.act(world))
    snapshot = world.snapshot()
    with Cameras(world, 64) as cameras:
        ran = [cameras.picture(camera) for camera in world.cameras]
    # As after a kill: the episode is there, and a new process draws it.
    world = found.make_world()
    world.restore(snapshot)
    with Cameras(world, 64) as cameras:
        drawn = [cameras.picture(camera) for camera in world.cameras]
    assert all(np.array_equal(one, other) for one, other in zip(ran, drawn, strict=True))

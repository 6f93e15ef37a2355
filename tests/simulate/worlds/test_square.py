import numpy as np
import pytest

pytest.importorskip("mujoco", reason="mujoco is not installed (extra sim)")
pytest.importorskip("robosuite", reason="robosuite is not installed (extra sim)")

from goalward.seeds import generator
from goalward.simulate.policies.square_policy import CLEAN, NOISY, NOISY_ONCE, SquareScript
from goalward.simulate.worlds.square import SquareWorld

TIME_OUT = 200


@pytest.fixture(scope="module")
def world() -> SquareWorld:
    return SquareWorld()


def begin(world: SquareWorld, policy: SquareScript, seed: int) -> None:
    world.reset(generator(seed, "world"))
    policy.reset(world, generator(seed, "policy"))


def run(world: SquareWorld, policy: SquareScript, num_steps: int) -> tuple[np.ndarray, list[str]]:
    """Snapshots after each step, until success, and the events on the way."""
    snapshots, events = [], []
    for _ in range(num_steps):
        world.step(policy.act(world))
        snapshots.append(world.snapshot())
        events += policy.noted()
        if world.succeeded():
            break
    return np.array(snapshots), events


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_clean_script_succeeds_at_the_first_attempt(world, seed):
    policy = SquareScript(CLEAN)
    begin(world, policy, seed)
    snapshots, events = run(world, policy, TIME_OUT)
    assert world.succeeded()
    assert events == []
    assert len(snapshots) < 140


def test_an_episode_goes_on_alike_in_a_new_world_from_its_middle(world):
    policy = SquareScript(NOISY)
    begin(world, policy, 3)
    run(world, policy, 40)
    snapshot, memory = world.snapshot(), policy.remember()
    expected, expected_events = run(world, policy, 60)

    elsewhere, other_policy = SquareWorld(), SquareScript(NOISY)
    elsewhere.reset(generator(99, "world"))
    elsewhere.restore(snapshot)
    other_policy.recall(memory)
    continued, events = run(elsewhere, other_policy, 60)
    np.testing.assert_array_equal(continued, expected)
    assert events == expected_events


def test_a_reset_depends_on_its_seed_alone(world):
    world.reset(generator(5, "world"))
    fresh = world.snapshot()
    world.reset(generator(6, "world"))
    assert not np.array_equal(world.snapshot(), fresh)
    policy = SquareScript(CLEAN)
    policy.reset(world, generator(6, "policy"))
    run(world, policy, 45)
    world.reset(generator(5, "world"))
    np.testing.assert_array_equal(world.snapshot(), fresh)


def test_the_same_seed_gives_the_same_episode(world):
    policy = SquareScript(NOISY)
    begin(world, policy, 4)
    first, first_events = run(world, policy, 50)
    begin(world, policy, 4)
    second, second_events = run(world, policy, 50)
    np.testing.assert_array_equal(first, second)
    assert first_events == second_events


def test_a_generator_of_its_own_makes_another_branch(world):
    policy = SquareScript(NOISY)
    begin(world, policy, 4)
    run(world, policy, 10)
    snapshot, memory = world.snapshot(), policy.remember()
    as_before, _ = run(world, policy, 5)
    world.restore(snapshot)
    policy.recall(memory, generator(0, "branch"))
    anew, _ = run(world, policy, 5)
    assert not np.array_equal(as_before, anew)


def test_only_a_nut_down_on_its_peg_is_at_the_goal(world):
    world.reset(generator(0, "world"))
    peg = world.peg()
    at_table = world.table_height() + 0.01
    assert not world.at_goal()
    put_nut(world, [peg[0], peg[1], at_table])
    assert world.at_goal()
    put_nut(world, [peg[0] + 0.04, peg[1], at_table])
    assert not world.at_goal()
    put_nut(world, [peg[0], peg[1], peg[2] + 0.1])
    assert not world.at_goal()


def put_nut(world: SquareWorld, position: list[float]) -> None:
    joint = world.env.nuts[0].joints[0]
    world.env.sim.data.set_joint_qpos(joint, np.array([*position, 1.0, 0.0, 0.0, 0.0]))
    world.env.sim.forward()


def test_the_nut_is_held_between_closing_and_opening_and_robosuite_agrees(world):
    policy = SquareScript(CLEAN)
    begin(world, policy, 0)
    assert not world.holds()
    carried = []
    for _ in range(TIME_OUT):
        world.step(policy.act(world))
        asked = world.env._check_grasp(world.env.robots[0].gripper, world.env.nuts[0])
        assert world.holds() == asked
        if policy.mind["phase"] == "carry":
            carried.append(world.holds())
        if world.succeeded():
            break
    assert len(carried) > 20
    assert all(carried)


def test_what_is_seen_never_jumps(world):
    """A step turns the hand by less than 0.2 rad: q in place of -q would be a jump of 2."""
    policy = SquareScript(NOISY)
    begin(world, policy, 7)
    rows = []
    for _ in range(120):
        rows.append(np.concatenate([world.proprioception(), world.state()]))
        world.step(policy.act(world))
    seen = np.array(rows)
    assert seen.shape[1] == len(world.proprioception_names) + len(world.state_names) == 26
    assert len(set(world.proprioception_names + world.state_names)) == 26
    assert np.abs(np.diff(seen[:, :9], axis=0)).max() < 0.15
    np.testing.assert_allclose(np.linalg.norm(seen[:, 3:7], axis=1), 1.0)


def test_a_quaternion_keeps_its_sign_wherever_the_wrist_can_turn(world):
    world.reset(generator(0, "world"))
    low, high = world.model.jnt_range[6]
    quaternions = []
    for angle in np.linspace(low, high, 40):
        world.data.qpos[6] = angle
        world.env.sim.forward()
        quaternions.append(world.proprioception()[3:7])
    products = np.sum(np.array(quaternions[1:]) * quaternions[:-1], axis=1)
    assert products.min() > 0.9


def test_the_state_says_where_handle_and_peg_are(world):
    world.reset(generator(1, "world"))
    state = dict(zip(world.state_names, world.state(), strict=True))
    handle = world.nut() + 0.054 * np.array([state[f"nut_forward_{axis}"] for axis in "xyz"])
    reached = world.hand() + np.array([state[f"hand_to_handle_{axis}"] for axis in "xyz"])
    np.testing.assert_allclose(reached, handle, atol=1e-9)
    on_peg = world.nut() + np.array([state[f"nut_to_peg_{axis}"] for axis in "xyz"])
    np.testing.assert_allclose(on_peg, [0.23, 0.1, 0.85])


def test_without_retry_a_miss_is_the_end(world):
    policy = SquareScript(NOISY_ONCE)
    begin(world, policy, 0)
    # Ten centimetres beside the handle there is nothing to take.
    policy.mind["grasp_error"] = [0.0, -0.1]
    _, events = run(world, policy, 80)
    assert events == ["miss"]
    assert policy.mind["phase"] == "rest"


def test_with_retry_a_miss_is_followed_by_a_success(world):
    policy = SquareScript(CLEAN)
    begin(world, policy, 0)
    policy.mind["grasp_error"] = [0.0, -0.1]
    _, events = run(world, policy, TIME_OUT)
    assert events == ["miss"]
    assert world.succeeded()


def test_a_nut_under_the_table_is_given_up(world):
    policy = SquareScript(CLEAN)
    begin(world, policy, 0)
    put_nut(world, [0.0, 0.8, 0.3])
    policy.act(world)
    assert policy.mind["phase"] == "rest"

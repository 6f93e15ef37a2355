import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from goalward.simulate.policies.hand_motion import (
    CLOSED,
    METRES_PER_UNIT,
    OPEN,
    RADIANS_PER_UNIT,
    motion_towards,
    shaken,
    shortest_turn,
    yaw_of,
)

HAND = np.array([0.1, -0.2, 1.0])


def hand_down(yaw: float) -> np.ndarray:
    return (Rotation.from_euler("z", yaw) * Rotation.from_euler("x", np.pi)).as_matrix()


def after(rotation: np.ndarray, action: np.ndarray) -> np.ndarray:
    """The rotation a controller would reach that does all it is told."""
    return Rotation.from_rotvec(action[3:6] * RADIANS_PER_UNIT).as_matrix() @ rotation


def test_a_way_of_two_centimetres_is_two_fifths_of_a_unit():
    action = motion_towards(HAND, hand_down(0.3), HAND + np.array([0.02, 0.0, -0.01]), grip=OPEN)
    np.testing.assert_allclose(action, [0.4, 0, -0.2, 0, 0, 0, -1], atol=1e-12)


def test_a_gain_asks_for_more_of_the_same():
    action = motion_towards(
        HAND, hand_down(0.3), HAND + np.array([0.01, 0, 0]), turn=0.1, grip=OPEN, gain=2.0
    )
    np.testing.assert_allclose(action, [0.4, 0, 0, 0, 0, 0.4, -1], atol=1e-12)


def test_a_turn_may_be_asked_for_with_a_gain_of_its_own():
    target = HAND + np.array([0.01, 0, 0])
    action = motion_towards(
        HAND, hand_down(0.3), target, turn=0.1, grip=OPEN, gain=2.0, turn_gain=0.5
    )
    np.testing.assert_allclose(action, [0.4, 0, 0, 0, 0, 0.1, -1], atol=1e-12)


def test_a_long_way_is_cut_at_one():
    action = motion_towards(
        HAND, hand_down(0.0), HAND + np.array([5.0, -5.0, 0.0]), turn=3.0, grip=CLOSED
    )
    np.testing.assert_allclose(action, [1, -1, 0, 0, 0, 1, 1], atol=1e-12)


@pytest.mark.parametrize("now", [-3.0, -1.0, 0.0, 2.0])
@pytest.mark.parametrize("wanted", [-3.1, -0.4, 0.2, 1.7])
def test_the_wanted_yaw_is_reached_up_to_half_a_turn(now, wanted):
    rotation = hand_down(now)
    for _ in range(10):
        action = motion_towards(HAND, rotation, HAND, yaw=wanted, grip=OPEN)
        rotation = after(rotation, action)
    assert shortest_turn(yaw_of(rotation) - wanted, period=np.pi) == pytest.approx(0, abs=1e-9)


def test_the_nearer_of_two_equal_yaws_is_taken():
    action = motion_towards(HAND, hand_down(0.0), HAND, yaw=np.pi - 0.1, grip=OPEN)
    assert action[5] == pytest.approx(-0.1 / RADIANS_PER_UNIT)


def test_a_turn_is_about_the_vertical_and_counter_clockwise():
    action = motion_towards(HAND, hand_down(1.0), HAND, turn=0.2, grip=OPEN)
    assert yaw_of(after(hand_down(1.0), action)) == pytest.approx(1.2)


def test_a_tilt_is_taken_out_and_the_yaw_kept():
    tilted = Rotation.from_euler("y", 0.2).as_matrix() @ hand_down(0.0)
    straight = after(tilted, motion_towards(HAND, tilted, HAND, grip=OPEN))
    np.testing.assert_allclose(straight, hand_down(0.0), atol=1e-12)


def test_yaw_and_turn_together_are_refused():
    with pytest.raises(ValueError, match="not both"):
        motion_towards(HAND, hand_down(0.0), HAND, yaw=0.0, turn=0.0, grip=OPEN)


def test_noise_moves_the_hand_and_never_the_gripper():
    action = motion_towards(HAND, hand_down(0.0), HAND, grip=CLOSED)
    many = np.array([shaken(action, np.random.default_rng(seed), 0.1) for seed in range(400)])
    np.testing.assert_array_equal(many[:, 6], 1.0)
    np.testing.assert_allclose(many[:, :6].std(axis=0), 0.1, rtol=0.15)
    assert np.abs(shaken(action, np.random.default_rng(0), 50.0)).max() == 1.0


def test_a_unit_of_motion_is_what_robosuite_takes_it_for():
    controllers = pytest.importorskip(
        "robosuite.controllers", reason="robosuite is not installed (extra sim)"
    )
    composite = controllers.load_composite_controller_config(robot="Panda")
    arm = composite["body_parts"]["right"]
    assert arm["output_max"] == [METRES_PER_UNIT] * 3 + [RADIANS_PER_UNIT] * 3

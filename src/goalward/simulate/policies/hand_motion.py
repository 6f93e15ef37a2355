"""From where the hand is and where it should be to the seven numbers that move it.

An action of robosuite's pose controller is a motion: three numbers along the world's axes, three of
a rotation vector in the world's axes, and the gripper. The controller sets off from where the hand
is now, so an action of 1 is a wish to be 5 cm or 0.5 rad further, and about a third of it is
reached in one control step.
"""

import numpy as np
from scipy.spatial.transform import Rotation

from goalward.simulate.worlds.world import FloatArray

METRES_PER_UNIT = 0.05
RADIANS_PER_UNIT = 0.5
OPEN = -1.0
CLOSED = 1.0

# The hand's z axis points out between the fingers.
_STRAIGHT_DOWN = Rotation.from_euler("x", np.pi)


def yaw_of(rotation: FloatArray) -> float:
    """Angle about the vertical of a body's own x axis, in (-pi, pi].

    >>> float(yaw_of(np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))) == np.pi / 2
    True
    """
    return float(np.arctan2(rotation[1, 0], rotation[0, 0]))


def shortest_turn(angle: float, *, period: float = 2 * np.pi) -> float:
    """The same turn, brought into [-period / 2, period / 2).

    A gripper with two equal fingers looks the same after half a turn: its period is pi.

    >>> round(shortest_turn(3.0, period=np.pi), 4)
    -0.1416
    """
    return float((angle + period / 2) % period - period / 2)


def motion_towards(
    hand: FloatArray,
    rotation: FloatArray,
    target: FloatArray,
    *,
    grip: float,
    yaw: float | None = None,
    turn: float | None = None,
    gain: float = 1.0,
    turn_gain: float | None = None,
) -> FloatArray:
    """The action that brings the hand to the target, gripper straight down.

    `yaw` is the angle the hand should have, the nearer of the two that look alike for two fingers;
    `turn` is an angle to turn by from now. With neither the hand keeps its yaw; a tilt is always
    taken out. `gain` asks for more than the way that is left, as the controller falls short of
    what it is asked; `turn_gain`, where it differs, for more or less of the turn: near the base
    the wrist is almost singular, and a hasty turn throws the hand aside. All numbers are within
    [-1, 1].

    >>> down = np.diag([1.0, -1.0, -1.0])
    >>> motion_towards(np.zeros(3), down, np.array([0.05, 0.0, -0.2]), grip=CLOSED).round(9) + 0.0
    array([ 1.,  0., -1.,  0.,  0.,  0.,  1.])
    """
    if yaw is not None and turn is not None:
        raise ValueError("give yaw, the angle to reach, or turn, the angle to turn by, not both")
    now = yaw_of(rotation)
    if yaw is not None:
        turn = shortest_turn(yaw - now, period=np.pi)
    wanted = Rotation.from_euler("z", now + (turn or 0.0)) * _STRAIGHT_DOWN
    rotation_vector = (wanted * Rotation.from_matrix(rotation).inv()).as_rotvec()
    motion = np.concatenate(
        [
            gain * (np.asarray(target) - hand) / METRES_PER_UNIT,
            (gain if turn_gain is None else turn_gain) * rotation_vector / RADIANS_PER_UNIT,
            [grip],
        ]
    )
    return np.clip(motion, -1.0, 1.0)


def shaken(action: FloatArray, generator: np.random.Generator, noise: float) -> FloatArray:
    """The action with normal noise on its motion; the gripper does as it is told."""
    motion = action[:-1] + generator.normal(0.0, noise, len(action) - 1)
    return np.concatenate([np.clip(motion, -1.0, 1.0), action[-1:]])

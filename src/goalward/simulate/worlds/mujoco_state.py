"""All that mujoco integrates, read and put back, and positions that follow from it alone."""

from typing import Any

import numpy as np

from goalward.simulate.worlds.mujoco_module import mujoco
from goalward.simulate.worlds.world import FloatArray

_WHOLE = mujoco.mjtState.mjSTATE_INTEGRATION


def state_size(model: Any) -> int:
    return mujoco.mj_stateSize(model, _WHOLE)


def read_state(model: Any, data: Any) -> FloatArray:
    state = np.empty(state_size(model))
    mujoco.mj_getState(model, data, state, _WHOLE)
    return state


def write_state(model: Any, data: Any, state: FloatArray) -> None:
    mujoco.mj_setState(model, data, state, _WHOLE)


def settle(model: Any, data: Any) -> None:
    """Positions, contacts and forces as they follow from the state alone.

    After a step mujoco keeps what it computed before moving on; a restored world would see other
    numbers there. The state itself is put back, as forces change what the solver starts from next.
    """
    state = read_state(model, data)
    mujoco.mj_forward(model, data)
    write_state(model, data, state)

"""mujoco, imported in one place: with the drawing library chosen, and a clear error without it."""

from typing import Any

from goalward.simulate.extras import MUJOCO, missing_extra
from goalward.simulate.worlds.gl import choose_gl

choose_gl()
try:
    import mujoco as _mujoco  # pyright: ignore[reportMissingImports]
except ImportError as error:
    raise missing_extra("mujoco", MUJOCO, error) from error

# What mujoco's compiled half offers is unknown to a type checker.
mujoco: Any = _mujoco

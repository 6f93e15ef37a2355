"""Pictures of a world, drawn off screen and fast."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from goalward.errors import GoalwardError
from goalward.simulate.worlds.mujoco_module import mujoco
from goalward.simulate.worlds.world import World

Picture = npt.NDArray[np.uint8]
# Shadows, reflections and smooth edges make a picture four times as slow and tell nothing new.
_LEFT_OUT = ("mjRND_SHADOW", "mjRND_REFLECTION", "mjRND_SKYBOX", "mjRND_HAZE")

# The last of mujoco's groups of geoms, which no world here uses.
_OUT_OF_SIGHT = 5


class Cameras:
    """Draws every camera of a world, `size` pixels square.

    One at a time in a process: a second renderer made before the first is closed gives mirrored
    or stale pictures without an error, so it is refused here.
    """

    _open: ClassVar["Cameras | None"] = None

    def __init__(self, world: World, size: int) -> None:
        if Cameras._open is not None:
            raise RuntimeError("close the other cameras of this process first")
        self.world = world
        world.model.vis.quality.offsamples = 0
        world.model.vis.quality.shadowsize = 0
        try:
            self._renderer: Any = mujoco.Renderer(world.model, size, size)
        except Exception as error:
            # What goes wrong depends on the drivers: a missing library, no display, no device.
            raise GoalwardError(
                f"nothing can be drawn here ({error}): install libosmesa6 and set "
                "MUJOCO_GL=osmesa, or set MUJOCO_GL=egl on a machine with a graphics card"
            ) from error
        Cameras._open = self
        self._options = mujoco.MjvOption()
        for group in (*world.hidden_geom_groups, _OUT_OF_SIGHT):
            self._options.geomgroup[group] = 0
        self._unseen = {
            camera: _geoms_of(world.model, world.out_of_sight.get(camera, ()))
            for camera in world.cameras
        }

    def picture(self, camera: str) -> Picture:
        """What the camera sees now: (size, size, 3), upright."""
        groups, unseen = self.world.model.geom_group, self._unseen[camera]
        usual = groups[unseen]
        groups[unseen] = _OUT_OF_SIGHT
        self._renderer.update_scene(self.world.data, camera=camera, scene_option=self._options)
        groups[unseen] = usual
        for flag in _LEFT_OUT:
            self._renderer.scene.flags[getattr(mujoco.mjtRndFlag, flag)] = 0
        return self._renderer.render().copy()

    def close(self) -> None:
        if Cameras._open is self:
            self._renderer.close()
            Cameras._open = None

    def __enter__(self) -> "Cameras":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _geoms_of(model: Any, beginnings: Sequence[str]) -> npt.NDArray[np.int64]:
    """The geoms of the bodies whose names begin so."""
    names = [model.body(body).name for body in model.geom_bodyid]
    found = [geom for geom, name in enumerate(names) if name.startswith(tuple(beginnings))]
    return np.array(found, dtype=np.int64)

"""Which off-screen drawing library mujoco uses; to be chosen before mujoco is imported."""

import ctypes.util
import importlib.util
import os
import sys
from pathlib import Path

# Words with which MUJOCO_GL says that nothing is drawn; mujoco's own.
_DRAWS_NOTHING = ("disable", "disabled", "off", "false", "0")


def choose_gl() -> None:
    """Software drawing (OSMesa) where it is installed, else the graphics card's (EGL).

    The variable MUJOCO_GL, where set, decides instead. Software drawing gives the same pictures
    on every machine, and one drawing thread per process is fastest with several processes.
    """
    os.environ.setdefault("LP_NUM_THREADS", "1")
    if "MUJOCO_GL" not in os.environ and sys.platform == "linux":
        found = ctypes.util.find_library("OSMesa")
        os.environ["MUJOCO_GL"] = "osmesa" if found else "egl"


def keep_robosuite_from_egl() -> None:
    """Let robosuite 1.4 be imported where nothing is drawn and no drawing library is installed.

    It asks for EGL whatever MUJOCO_GL says, while its settings speak of a graphics card. Where
    MUJOCO_GL says that nothing is drawn, they are read first and no longer do. To be called before
    robosuite is first imported.
    """
    found = importlib.util.find_spec("robosuite")
    if os.environ.get("MUJOCO_GL", "").strip().lower() not in _DRAWS_NOTHING or found is None:
        return
    folder = next(iter(found.submodule_search_locations or ()), "")
    name = "robosuite.macros"
    settings = importlib.util.spec_from_file_location(name, Path(folder) / "macros.py")
    if name not in sys.modules and settings is not None and settings.loader is not None:
        module = importlib.util.module_from_spec(settings)
        settings.loader.exec_module(module)
        module.__dict__["MUJOCO_GPU_RENDERING"] = False
        sys.modules[name] = module

"""Which off-screen drawing library mujoco uses; to be chosen before mujoco is imported."""

import ctypes.util
import os
import sys


def choose_gl() -> None:
    """Software drawing (OSMesa) where it is installed, else the graphics card's (EGL).

    The variable MUJOCO_GL, where set, decides instead. Software drawing gives the same pictures
    on every machine, and one drawing thread per process is fastest with several processes.
    """
    os.environ.setdefault("LP_NUM_THREADS", "1")
    if "MUJOCO_GL" not in os.environ and sys.platform == "linux":
        found = ctypes.util.find_library("OSMesa")
        os.environ["MUJOCO_GL"] = "osmesa" if found else "egl"

"""robosuite 1.4 where nothing is drawn, in a process of its own: it is imported only once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# What robosuite 1.4, which cannot be installed beside 1.5, does as it is imported.
MACROS = "MUJOCO_GPU_RENDERING = True\n"
AT_IMPORT = """
import os
import robosuite.macros as macros
if macros.MUJOCO_GPU_RENDERING and os.environ["MUJOCO_GL"] not in ["osmesa", "glx"]:
    os.environ["MUJOCO_GL"] = "egl"
"""
IMPORTED = """
import os
from goalward.simulate.worlds.gl import keep_robosuite_from_egl
keep_robosuite_from_egl()
import robosuite
print(os.environ["MUJOCO_GL"])
"""


@pytest.mark.parametrize(
    ("asked", "found"),
    [("disabled", "disabled"), (" OFF ", " OFF "), ("osmesa", "osmesa"), ("egl", "egl")],
)
def test_robosuite_asks_for_no_egl_where_nothing_is_drawn(
    tmp_path: Path, asked: str, found: str
) -> None:
    (tmp_path / "robosuite").mkdir()
    (tmp_path / "robosuite" / "macros.py").write_text(MACROS)
    (tmp_path / "robosuite" / "__init__.py").write_text(AT_IMPORT)
    places = os.pathsep.join([str(tmp_path), *sys.path])
    finished = subprocess.run(
        [sys.executable, "-c", IMPORTED],
        env=os.environ | {"MUJOCO_GL": asked, "PYTHONPATH": places},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.stdout == f"{found}\n", finished.stderr

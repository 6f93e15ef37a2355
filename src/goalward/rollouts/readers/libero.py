"""LIBERO HDF5: demonstrations, one file per task.

    data                  attrs: problem_info (JSON: language_instruction), bddl_file_name,
                                 macros_image_convention
    data/demo_0           attrs: num_samples
      actions, rewards, dones, obs/agentview_rgb, obs/eye_in_hand_rgb,
      obs/ee_pos, obs/ee_ori, obs/ee_states, obs/gripper_states, obs/joint_states

The writer sets the last reward and the last done to 1 whatever happened: neither is evidence.
"""

# pyright: standard
# (h5py ships no type stubs)

import re
from pathlib import Path

from goalward.errors import argument
from goalward.rollouts.findings import Findings
from goalward.rollouts.readers.assembly import Found, ReadOptions
from goalward.rollouts.readers.hdf5.files import DemoFormat, control_frequency, find_demos, kind_of
from goalward.rollouts.readers.hdf5.headers import About
from goalward.rollouts.readers.hdf5.storage import Group, attribute, json_attribute, printable

# The eight numbers of the paper; ee_states is ee_pos and ee_ori in one.
PROPRIOCEPTION = (("ee_pos", "ee_ori", "gripper_states"), ("ee_states", "gripper_states"))


def recognises(path: Path) -> bool:
    return kind_of(path) == "libero"


def find(path: Path, options: ReadOptions, findings: Findings) -> Found:
    def about(data: Group, file_path: Path) -> About:
        upside_down = attribute(data, "macros_image_convention") == "opengl"
        if upside_down and options.flip is None:
            findings.notice(
                f"{path}: images are stored bottom row first (macros_image_convention is opengl) "
                "and turned over"
            )
        return About(
            task=_task(data, file_path),
            fps=control_frequency(data),
            bottom_row_first=upside_down and options.flip is None,
        )

    demo_format = DemoFormat(
        is_libero=True,
        proprioception=PROPRIOCEPTION,
        rewards_say_success=False,
        about=about,
    )
    return Found(
        format="libero",
        path=path,
        episodes=find_demos(path, demo_format, options, findings),
        looked_for="the attribute success of each demo",
        holds=(
            "These are demonstrations: their rewards and dones are the same whatever happened. "
            f"State that all of them succeeded with {argument('labels', 'success')}."
        ),
    )


def _task(data: Group, path: Path) -> str:
    """The instruction in words; a list of words in some files, in quotes in others."""
    stated = json_attribute(data, "problem_info").get("language_instruction")
    if isinstance(stated, list):
        stated = "".join(part for part in stated if isinstance(part, str))
    words = stated.strip().strip('"').strip() if isinstance(stated, str) else ""
    return printable(words) or task_from_name(path.stem)


def task_from_name(stem: str) -> str:
    """The instruction as the name of the file has it.

    >>> task_from_name("KITCHEN_SCENE10_close_the_top_drawer_demo")
    'close the top drawer'
    """
    return re.sub(r"^[A-Z_]*SCENE\d+_", "", stem).removesuffix("_demo").replace("_", " ")

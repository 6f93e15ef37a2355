"""robomimic HDF5, also as Isaac Lab writes it.

    data                  attrs: env_args (JSON: env_name, env_kwargs.control_freq), total
    data/demo_0           attrs: num_samples, success (Isaac Lab)
      actions, rewards, dones, obs/<key>, obs/<camera> (frames, height, width, 3) uint8
    mask/<filter key>     names of episodes, some of which may be absent

`dones` is no evidence: depending on how a file was made it marks success, the end, or nothing.
"""

# pyright: standard
# (h5py ships no type stubs)

from pathlib import Path

from goalward.rollouts.findings import Findings
from goalward.rollouts.readers.assembly import Found, ReadOptions
from goalward.rollouts.readers.hdf5.files import DemoFormat, control_frequency, find_demos, kind_of
from goalward.rollouts.readers.hdf5.headers import About
from goalward.rollouts.readers.hdf5.storage import Group, json_attribute, printable

# The nine numbers of the paper, by robomimic's names and by Isaac Lab's.
PROPRIOCEPTION = (
    ("robot0_eef_pos", "robot0_eef_quat", "robot0_gripper_qpos"),
    ("eef_pos", "eef_quat", "gripper_pos"),
)


def recognises(path: Path) -> bool:
    """Any HDF5 file with a group `data` that LIBERO did not write.

    A file with the name of an HDF5 file that cannot be opened counts, so that `find` can say
    what is wrong with it.
    """
    return kind_of(path) in ("robomimic", "damaged")


def find(path: Path, options: ReadOptions, findings: Findings) -> Found:
    demo_format = DemoFormat(
        is_libero=False,
        proprioception=PROPRIOCEPTION,
        rewards_say_success=True,
        about=_about,
    )
    return Found(
        format="robomimic",
        path=path,
        episodes=find_demos(path, demo_format, options, findings),
        looked_for="the attribute success of each demo, and rewards that are positive at success",
        holds="What dones mean differs from file to file, so they do not count by themselves.",
    )


def _about(data: Group, path: Path) -> About:
    name = json_attribute(data, "env_args").get("env_name")
    return About(
        task=printable(name) if isinstance(name, str) else "",
        fps=control_frequency(data),
    )

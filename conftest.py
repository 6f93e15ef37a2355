"""Examples in modules that need a simulator, LeRobot or Triton run where that is installed."""

import os
from importlib.util import find_spec
from pathlib import Path

SIMULATE = Path(__file__).parent / "src" / "goalward" / "simulate"
# What a module needs, beyond what is always installed.
NEEDS = {
    "mujoco": [
        *("worlds/mujoco_module", "worlds/mujoco_state", "worlds/cameras", "worlds/cloth"),
        "policies/cloth_operator",
    ],
    "robosuite": [
        *("worlds/robosuite_world", "worlds/square", "worlds/pick"),
        *("policies/square_policy", "policies/pick_policy"),
    ],
    "libero": ["worlds/libero", "policies/libero_policy"],
}
collect_ignore = [
    str(SIMULATE / f"{module}.py")
    for package, modules in NEEDS.items()
    if find_spec(package) is None or find_spec("mujoco") is None
    for module in modules
]
if find_spec("lerobot") is None:
    collect_ignore += map(str, (SIMULATE.parent / "lerobot_reward").glob("*_goalward.py"))
if find_spec("triton") is None:
    kernels = (SIMULATE.parent / "training" / "networks" / "kernels").glob("*.py")
    collect_ignore += (str(path) for path in kernels if path.name != "__init__.py")
else:
    import torch

    if not torch.cuda.is_available():
        # Read when kernels are made, so before anything imports them: kernels run by Triton's
        # interpreter where there is no GPU.
        os.environ["TRITON_INTERPRET"] = "1"

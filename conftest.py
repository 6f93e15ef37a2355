"""Examples in modules that need a simulator run where that simulator is installed."""

from importlib.util import find_spec
from pathlib import Path

SIMULATE = Path(__file__).parent / "src" / "goalward" / "simulate"
# What a module needs, beyond what is always installed.
NEEDS = {
    "mujoco": ["mujoco_module", "mujoco_state", "cameras", "cloth", "cloth_operator"],
    "robosuite": ["robosuite_world", "square", "square_policy", "pick", "pick_policy"],
    "libero": ["libero", "libero_policy"],
}
collect_ignore = [
    str(SIMULATE / f"{module}.py")
    for package, modules in NEEDS.items()
    if find_spec(package) is None or find_spec("mujoco") is None
    for module in modules
]

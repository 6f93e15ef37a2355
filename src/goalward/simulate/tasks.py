"""The simulated tasks, their policies, and their clocks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from goalward.errors import GoalwardError, argument
from goalward.simulate.policies.policy import Policy
from goalward.simulate.worlds.world import World

WEIGHTS_SUFFIX = ".safetensors"


@dataclass(frozen=True)
class SimulatedTask:
    """One task: how to make its world and its policies, and when the clock runs out, in steps.

    Worlds and policies are made by functions, as their simulators are heavy and optional.
    """

    name: str
    instruction: str
    time_out: int
    standard_horizon: int
    make_world: Callable[[], World]
    policies: Mapping[str, Callable[[], Policy[Any]]]
    # Whether the world can say how far off the goal is, so that labels can be unsure of it.
    has_goal_error: bool = False

    @property
    def default_policy(self) -> str:
        return next(iter(self.policies))

    def make_policy(self, name: str) -> Policy[Any]:
        """A policy by its name, or a diffusion policy by the path of its weights."""
        if name.endswith(WEIGHTS_SUFFIX):
            return _diffusion(Path(name))
        if name not in self.policies:
            raise GoalwardError(
                f"no policy {name!r} for {self.name}: there are {', '.join(self.policies)}"
            )
        return self.policies[name]()


def find_task(name: str) -> SimulatedTask:
    """
    >>> find_task("square").time_out
    200
    """
    if name not in TASKS:
        raise GoalwardError(f"no task {name!r}: there are {', '.join(TASKS)}")
    return TASKS[name]


# Learned policies; the README.md of each task's case study says how its own was trained.
_WEIGHTS = Path(__file__).parent / "policies" / "weights"
SQUARE_WEIGHTS = _WEIGHTS / "square_diffusion.safetensors"
PICK_WEIGHTS = _WEIGHTS / "pick_diffusion.safetensors"


def _shipped_diffusion(weights: Path) -> Policy[Any]:
    """A policy of ours; its weights, 5 MB each, are in the source archive and not in the wheel."""
    if not weights.exists():
        raise GoalwardError(
            "the weights of this policy are not in the wheel, as few need them: take "
            f"{weights.name} from the source archive (pip download --no-deps --no-binary goalward "
            "goalward; in it "
            f"src/goalward/simulate/policies/weights/) and say "
            f"{argument('policy', f'PATH/{weights.name}')}"
        )
    return _diffusion(weights)


def _diffusion(weights: Path) -> Policy[Any]:
    from goalward.simulate.policies.diffusion_policy import DiffusionPolicy

    return DiffusionPolicy(weights)


def _square_world() -> World:
    from goalward.simulate.worlds.square import SquareWorld

    return SquareWorld()


def _square_script(habits: str) -> Policy[Any]:
    from goalward.simulate.policies.square_policy import SQUARE_HABITS, SquareScript

    return SquareScript(SQUARE_HABITS[habits])


def _pick_world() -> World:
    from goalward.simulate.worlds.pick import PickWorld

    return PickWorld()


def _pick_script(skill: str) -> Policy[Any]:
    from goalward.simulate.policies.pick_policy import PICK_SKILLS, PickScript

    return PickScript(PICK_SKILLS[skill])


def _cloth_world() -> World:
    from goalward.simulate.worlds.cloth import ClothWorld

    return ClothWorld()


def _cloth_operator(habits: str) -> Policy[Any]:
    from goalward.simulate.policies.cloth_operator import CLOTH_HABITS, ClothOperator

    return ClothOperator(CLOTH_HABITS[habits])


def _libero_world() -> World:
    from goalward.simulate.worlds.libero import LiberoWorld

    return LiberoWorld()


def _libero_script(skill: str) -> Policy[Any]:
    from goalward.simulate.policies.libero_policy import LIBERO_SKILLS, LiberoScript

    return LiberoScript(LIBERO_SKILLS[skill])


def _pick_place_world() -> World:
    from goalward.simulate.worlds.metaworld_world import PickPlaceWorld

    return PickPlaceWorld()


def _peg_insert_world() -> World:
    from goalward.simulate.worlds.metaworld_world import PegInsertWorld

    return PegInsertWorld()


def _assembly_world() -> World:
    from goalward.simulate.worlds.metaworld_world import AssemblyWorld

    return AssemblyWorld()


def _shelf_place_world() -> World:
    from goalward.simulate.worlds.metaworld_world import ShelfPlaceWorld

    return ShelfPlaceWorld()


def _metaworld_script(task: str, habits: str) -> Policy[Any]:
    from goalward.simulate.policies.metaworld_policy import (
        ROUTES,
        MetaworldScript,
        metaworld_habits,
    )

    return MetaworldScript(ROUTES[task], metaworld_habits(task, habits))


def _named(make: Callable[[str], Policy[Any]], *names: str) -> dict[str, Callable[[], Policy[Any]]]:
    return {name: partial(make, name) for name in names}


TASKS: dict[str, SimulatedTask] = {
    task.name: task
    for task in (
        SimulatedTask(
            name="square",
            instruction="put the square nut on the square peg",
            time_out=200,
            standard_horizon=100,
            make_world=_square_world,
            policies={
                "diffusion": partial(_shipped_diffusion, SQUARE_WEIGHTS),
                **_named(_square_script, "retry", "no-retry", "clean"),
            },
        ),
        SimulatedTask(
            name="pick",
            instruction="pick up the can and place it in its bin",
            time_out=250,
            standard_horizon=200,
            make_world=_pick_world,
            policies={
                **_named(_pick_script, "retry", "no-retry", "clean"),
                "diffusion": partial(_shipped_diffusion, PICK_WEIGHTS),
            },
        ),
        SimulatedTask(
            name="cloth",
            instruction="fold the towel along its diagonal",
            time_out=300,
            standard_horizon=100,
            make_world=_cloth_world,
            policies=_named(_cloth_operator, "retry", "no-retry", "careful"),
            has_goal_error=True,
        ),
        SimulatedTask(
            name="libero",
            instruction="pick up the black bowl next to the ramekin and place it on the plate",
            time_out=250,
            standard_horizon=200,
            make_world=_libero_world,
            policies=_named(_libero_script, "retry", "no-retry", "clean"),
        ),
        SimulatedTask(
            name="mw-pick-place",
            instruction="pick up the puck and hold it at the mark in the air",
            time_out=220,
            standard_horizon=150,
            make_world=_pick_place_world,
            policies=_named(
                partial(_metaworld_script, "mw-pick-place"), "retry", "no-retry", "clean"
            ),
        ),
        SimulatedTask(
            name="mw-peg-insert",
            instruction="insert the peg into the hole in the side of the box",
            time_out=170,
            standard_horizon=150,
            make_world=_peg_insert_world,
            policies=_named(
                partial(_metaworld_script, "mw-peg-insert"), "retry", "no-retry", "clean"
            ),
        ),
        SimulatedTask(
            name="mw-assembly",
            instruction="put the ring over the peg",
            time_out=200,
            standard_horizon=150,
            make_world=_assembly_world,
            policies=_named(
                partial(_metaworld_script, "mw-assembly"), "retry", "no-retry", "clean"
            ),
        ),
        SimulatedTask(
            name="mw-shelf-place",
            instruction="put the block on the shelf",
            time_out=200,
            standard_horizon=150,
            make_world=_shelf_place_world,
            policies=_named(
                partial(_metaworld_script, "mw-shelf-place"), "no-retry", "retry", "clean"
            ),
        ),
    )
}

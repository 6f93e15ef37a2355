"""Before the first episode: what may lie in the folder, which versions, which settings."""

import importlib.metadata
from collections.abc import Mapping
from dataclasses import replace

from goalward.errors import GoalwardError, argument
from goalward.files import check_folder
from goalward.simulate.recording.data_set import (
    Plan,
    SimulatedDataSet,
    SimulationSettings,
    differences,
)
from goalward.simulate.recording.episode_jobs import WorldFacts

# What the bytes of a data set may depend on.
_PACKAGES = (
    *("goalward", "mujoco", "robosuite", "metaworld"),
    *("numpy", "scipy", "torch", "av", "pyarrow"),
)


def checked_versions(data_set: SimulatedDataSet, plan: Plan) -> dict[str, str]:
    """What the data set is made with, after a look at what is in its folder."""
    versions = _versions()
    if data_set.settings_file.is_file():
        check_same(data_set, plan)
        _check_versions(data_set, versions)
    else:
        _check_nothing_there(data_set)
    check_folder(data_set.simulation_folder)
    return versions


def check_same(data_set: SimulatedDataSet, plan: Plan) -> None:
    """A data set of another plan is an error that names what differs."""
    different = differences(data_set.settings, plan)
    if different:
        raise GoalwardError(
            f"{data_set.path}: holds a data set with other settings ({'; '.join(different)}): "
            "give another folder, or the same settings"
        )


def _check_versions(data_set: SimulatedDataSet, versions: Mapping[str, str]) -> None:
    there = data_set.settings
    different = differences(there, replace(there, versions=versions))
    if different:
        raise GoalwardError(
            f"{data_set.path}: was begun with other versions ({'; '.join(different)}): "
            "finish it with those, or begin again in another folder"
        )


def _check_nothing_there(data_set: SimulatedDataSet) -> None:
    if data_set.path.is_dir():
        others = {path.name for path in data_set.path.iterdir()}
        others -= {data_set.simulation_folder.name}
        if others:
            raise GoalwardError(
                f"{data_set.path}: holds {sorted(others)[0]}, but no simulated data set: "
                "give a new or an empty folder"
            )


def _versions() -> dict[str, str]:
    versions: dict[str, str] = {}
    for package in _PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def settings_of(plan: Plan, world: WorldFacts, versions: Mapping[str, str]) -> SimulationSettings:
    """What the data set notes of itself: the plan, and the rate that follows from the world's."""
    if world.fps % plan.every:
        fitting = [str(every) for every in range(1, world.fps + 1) if world.fps % every == 0]
        raise GoalwardError(
            f"{argument('every', plan.every)} does not divide the {world.fps} steps per second of "
            f"{plan.task}: choose one of {', '.join(fitting)}"
        )
    return SimulationSettings(**vars(plan), fps=world.fps // plan.every, versions=versions)

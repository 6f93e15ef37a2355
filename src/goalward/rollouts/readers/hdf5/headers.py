"""What the headers of an HDF5 file say about its episodes, before a number is read."""

# pyright: standard
# (h5py ships no type stubs)

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from goalward.rollouts.findings import Findings
from goalward.rollouts.readers.assembly import ReadOptions
from goalward.rollouts.readers.hdf5.storage import (
    DamagedFile,
    Declared,
    Group,
    Stored,
    attribute,
    checked_codec,
    child,
    damage_named,
    declared,
    names_in,
    printable,
    whole_number,
)

MAX_OBSERVATIONS = 1000
MAX_DEPTH = 5


@dataclass(frozen=True)
class About:
    """What a file says about all of its episodes."""

    task: str
    fps: float | None
    bottom_row_first: bool = False


@dataclass(frozen=True)
class DemoFile:
    """An open file and how to read its episodes.

    `usual_proprioception` lists the keys to look for, one choice per kind of writer, best first.
    """

    path: Path
    size: int
    data: Group
    prefix: str
    about: About
    usual_proprioception: tuple[tuple[str, ...], ...]
    rewards_say_success: bool
    options: ReadOptions
    findings: Findings

    @property
    def uses_rewards(self) -> bool:
        return self.rewards_say_success or self.options.label.success_key == "rewards"


@dataclass(frozen=True)
class Demo:
    """One episode as its headers describe it; `observations` by their path below obs."""

    name: bytes
    episode_id: str
    where: str
    num_frames: int
    action_size: int
    observations: dict[str, Declared]


@contextmanager
def left_out_if_damaged(file: DemoFile, episode_id: str, where: str) -> Iterator[None]:
    try:
        with damage_named(where):
            yield
    except DamagedFile as error:
        file.findings.leave_out(episode_id, str(error))


def described(file: DemoFile, names: Sequence[bytes]) -> list[Demo]:
    demos: list[Demo] = []
    for name in names:
        label = printable(name.decode(errors="replace"))
        where = f"{file.path}: data/{label}"
        with left_out_if_damaged(file, file.prefix + label, where):
            demos.append(_describe(file, name, file.prefix + label, where))
    return demos


def _describe(file: DemoFile, name: bytes, episode_id: str, where: str) -> Demo:
    group = child(file.data, name, where)
    if not isinstance(group, Group):
        raise DamagedFile(f"{where}: is not a group with the data of an episode")
    stated = attribute(group, "num_samples")
    num_frames = whole_number(stated)
    if stated is not None and (num_frames is None or num_frames < 0):
        raise DamagedFile(f"{where}: num_samples is {printable(str(stated))}")
    actions = child(group, "actions", where)
    action_size = 0
    if isinstance(actions, Stored):
        header = declared(actions)
        checked_codec(actions, header, file.size, f"{where}: actions")
        if len(header.shape) not in (1, 2) or num_frames not in (None, header.shape[0]):
            raise DamagedFile(
                f"{where}: num_samples is {num_frames}, its actions have shape {header.shape}"
            )
        num_frames, action_size = header.shape[0], math.prod(header.shape[1:])
    obs = child(group, "obs", where)
    observations = dict(_observations(obs, where)) if isinstance(obs, Group) else {}
    if num_frames is None or (actions is None and not observations):
        raise DamagedFile(f"{where}: has neither actions nor observations to count its frames by")
    return Demo(name, episode_id, where, num_frames, action_size, observations)


def _observations(group: Group, where: str) -> Iterable[tuple[str, Declared]]:
    """Every data set below obs, also in nested groups, with its path."""
    pending: list[tuple[str, Group]] = [("", group)]
    count = 0
    while pending:
        path, group = pending.pop()
        for name in names_in(group):
            count += 1
            # Groups may contain themselves: a few bytes can be an endless tree.
            if count > MAX_OBSERVATIONS or path.count("/") > MAX_DEPTH:
                raise DamagedFile(f"{where}: obs has too many entries to be one recording")
            key = path + name.decode()
            found = child(group, name, f"{where}: obs/{path}")
            if isinstance(found, Stored):
                yield key, declared(found)
            elif isinstance(found, Group):
                pending.append((f"{key}/", found))


def check_total(file: DemoFile, demos: Sequence[Demo]) -> None:
    total, there = whole_number(attribute(file.data, "total")), sum(d.num_frames for d in demos)
    if total is not None and total != there:
        file.findings.damage(
            f"{file.path}: says that it holds {total} frames, its episodes have {there}: "
            "episodes may be missing"
        )

"""HDF5 files and folders of them: which format they have, and the episodes to read."""

# pyright: standard
# (h5py ships no type stubs)

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from goalward.errors import RolloutError
from goalward.rollouts.findings import Findings, some_of
from goalward.rollouts.readers.assembly import FoundEpisode, ReadOptions
from goalward.rollouts.readers.hdf5.demos import read_demos
from goalward.rollouts.readers.hdf5.headers import About, DemoFile
from goalward.rollouts.readers.hdf5.storage import (
    DamagedFile,
    Group,
    Stored,
    checked_values,
    child,
    damage_named,
    declared,
    has_attribute,
    hdf5_files,
    json_attribute,
    names_in,
    opened,
    printable,
)

MAX_FREQUENCY = 1e6  # Hz


@dataclass(frozen=True)
class DemoFormat:
    """Where the formats of demo files differ.

    `proprioception` lists the usual keys, one choice per kind of writer, best first.
    """

    is_libero: bool
    proprioception: tuple[tuple[str, ...], ...]
    rewards_say_success: bool
    about: Callable[[Group, Path], About]


# ---- recognising -------------------------------------------------------------------------------


def kind_of(path: Path) -> str | None:
    """libero, robomimic, damaged (an HDF5 file by name that cannot be opened) or None.

    The first file of a folder that can be opened speaks for the folder.
    """
    damaged = False
    for file_path in hdf5_files(path):
        try:
            with opened(file_path) as file:
                data = child(file["/"].id, "data", file_path)
                if isinstance(data, Group):
                    return "libero" if _looks_like_libero(data) else "robomimic"
        except DamagedFile:
            damaged = True
    return "damaged" if damaged else None


def _looks_like_libero(data: Group) -> bool:
    """LIBERO names its task file on the group; copies without attributes have its cameras."""
    if any(has_attribute(data, name) for name in ("bddl_file_name", "problem_info")):
        return True
    try:
        with damage_named("obs"):
            first = next(iter(names_in(data)), None)
            obs = None if first is None else child(data, first + b"/obs", "obs")
            keys = names_in(obs) if isinstance(obs, Group) else []
            return b"agentview_rgb" in keys or b"ee_states" in keys
    except DamagedFile:  # the first episode will be left out
        return False


def control_frequency(data: Group) -> float | None:
    """Frames per second as the simulator was told, None if the file does not say."""
    settings = json_attribute(data, "env_args").get("env_kwargs")
    value = settings.get("control_freq") if isinstance(settings, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value < MAX_FREQUENCY else None


# ---- reading -----------------------------------------------------------------------------------


def find_demos(
    path: Path, demo_format: DemoFormat, options: ReadOptions, findings: Findings
) -> list[FoundEpisode]:
    """Every episode of the file or of the files in the folder, as far as it can be trusted."""
    files = hdf5_files(path)
    by_file: dict[Path, list[FoundEpisode]] = {}
    num_damaged = 0
    for file_path, prefix in zip(files, _prefixes(files), strict=True):
        try:
            by_file[file_path] = _read_file(file_path, prefix, demo_format, options, findings)
        except DamagedFile as error:
            num_damaged += 1
            if num_damaged == len(files):
                raise
            findings.damage(f"{error}; none of its episodes is used")
    return _with_tasks(by_file)


def _with_tasks(by_file: Mapping[Path, Sequence[FoundEpisode]]) -> list[FoundEpisode]:
    """A file that does not name its task goes by its own name, where other files name theirs.

    Where none does, nothing says whether the files are tasks or parts of one.
    """
    episodes = [episode for found in by_file.values() for episode in found]
    if not any(episode.task for episode in episodes):
        return episodes
    return [
        episode if episode.task else replace(episode, task=printable(path.stem))
        for path, found in by_file.items()
        for episode in found
    ]


def _prefixes(files: Sequence[Path]) -> list[str]:
    """What goes before demo_3 so that episodes of different files have different ids."""
    if len(files) == 1:
        return [""]
    stems = [file.stem for file in files]
    return [f"{file.name if stems.count(file.stem) > 1 else file.stem}/" for file in files]


def _read_file(
    path: Path, prefix: str, demo_format: DemoFormat, options: ReadOptions, findings: Findings
) -> list[FoundEpisode]:
    with opened(path) as hdf5_file:
        root = hdf5_file["/"].id
        data = child(root, "data", path)
        if not isinstance(data, Group):
            raise DamagedFile(f"{path}: has no group named data")
        if prefix and _looks_like_libero(data) != demo_format.is_libero:
            raise RolloutError(
                f"{path}: the folder mixes LIBERO files with others; read them one by one"
            )
        file = DemoFile(
            path=path,
            size=path.stat().st_size,
            data=data,
            prefix=prefix,
            about=demo_format.about(data, path),
            usual_proprioception=demo_format.proprioception,
            rewards_say_success=demo_format.rewards_say_success,
            options=options,
            findings=findings,
        )
        names = sorted(_chosen_names(root, file), key=_numeric_order)
        if prefix and not names:
            key = options.filter_key
            among = "" if key is None else f" that filter key {key} names"
            findings.notice(f"{path}: holds no episodes{among}")
        return read_demos(file, names)


def _chosen_names(root: Group, file: DemoFile) -> list[bytes]:
    """The episodes of the filter key, all of them if none is given."""
    there = names_in(file.data)
    wanted = file.options.filter_key
    if wanted is None:
        return there
    masks = child(root, "mask", file.path)
    keys = names_in(masks) if isinstance(masks, Group) else []
    if wanted.encode() not in keys:
        known = ", ".join(printable(key.decode(errors="replace")) for key in sorted(keys))
        raise RolloutError(f"{file.path}: no filter key {wanted}; filter keys: {known or 'none'}")
    listed = _listed_names(file, child(masks, wanted, file.path))
    absent = sorted(listed.difference(there), key=_numeric_order)
    if absent:
        file.findings.damage(
            f"{file.path}: filter key {wanted} names {len(absent)} episodes that are not in the "
            f"file: {some_of([printable(name.decode(errors='replace')) for name in absent])}"
        )
    chosen = [name for name in there if name in listed]
    if not chosen and not file.prefix:
        raise RolloutError(
            f"{file.path}: none of the {len(there)} episodes in the file is among the "
            f"{len(listed)} that filter key {wanted} names"
        )
    return chosen


def _listed_names(file: DemoFile, stored: Any) -> set[bytes]:
    where = f"{file.path}: mask/{file.options.filter_key}"
    if not isinstance(stored, Stored) or len(stored.shape) != 1:
        raise DamagedFile(f"{where}: is not a list of names")
    listed = checked_values(stored, declared(stored), file.size, where).tolist()
    names = [name.encode() if isinstance(name, str) else name for name in listed]
    if not all(isinstance(name, bytes) for name in names):
        raise DamagedFile(f"{where}: is not a list of names")
    return set(names)


def _numeric_order(name: bytes) -> tuple[tuple[int, int | bytes], ...]:
    """Sorts numbers inside names by size.

    >>> sorted([b"demo_10", b"demo_2"], key=_numeric_order)
    [b'demo_2', b'demo_10']
    """
    parts = re.split(rb"(\d{1,18})", name)
    return tuple((1, int(part)) if part.isdigit() else (0, part) for part in parts if part)

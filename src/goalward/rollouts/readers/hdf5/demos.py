"""The episodes of one HDF5 file.

A file is gone through twice: first the headers of all episodes, then, once it is clear which
cameras and numbers the file usually has, the numbers. An episode that lacks what the others
have is left out; otherwise one broken episode would take a camera from all of them.
"""

# pyright: standard
# (h5py ships no type stubs)

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from goalward.errors import argument
from goalward.rollouts.episode import FloatArray
from goalward.rollouts.frames import FlippedFrames, FrameSource
from goalward.rollouts.readers.assembly import FoundEpisode, no_proprioception
from goalward.rollouts.readers.hdf5.choice import Chosen, choose
from goalward.rollouts.readers.hdf5.evidence import (
    is_sparse,
    per_frame,
    reward_evidence,
    stated_evidence,
)
from goalward.rollouts.readers.hdf5.frames import Hdf5Frames
from goalward.rollouts.readers.hdf5.headers import (
    Demo,
    DemoFile,
    check_total,
    described,
    left_out_if_damaged,
)
from goalward.rollouts.readers.hdf5.storage import (
    DamagedFile,
    Declared,
    Group,
    Stored,
    checked_before,
    checked_codec,
    checked_values,
    child,
    declared,
)
from goalward.rollouts.signals import Signal, signals_of


def read_demos(file: DemoFile, names: Sequence[bytes]) -> list[FoundEpisode]:
    """The named episodes, as far as they can be trusted."""
    demos = described(file, names)
    if not demos:
        return []
    if file.options.filter_key is None and len(demos) == len(names):
        check_total(file, demos)
    chosen = choose(file, demos)
    episodes: list[FoundEpisode] = []
    rewards: dict[str, npt.NDArray[Any]] = {}
    for number, demo in enumerate(demos):
        file.options.on_progress(number, len(demos))
        with left_out_if_damaged(file, demo.episode_id, demo.where):
            group = child(file.data, demo.name, demo.where)
            episode = _found_episode(file, demo, group, chosen)
            if file.uses_rewards:
                values = per_frame(group, "rewards", demo.num_frames, file.size, demo.where)
                if values is not None:
                    rewards[demo.episode_id] = values
            episodes.append(episode)
    return _with_rewards(file, episodes, rewards) if rewards else episodes


def _found_episode(file: DemoFile, demo: Demo, group: Group, chosen: Chosen) -> FoundEpisode:
    label = file.options.label
    state = _proprioception(file, demo, group, chosen.proprioception)
    terminated = per_frame(group, "terminated", demo.num_frames, file.size, demo.where)
    return FoundEpisode(
        episode_id=demo.episode_id,
        num_frames=demo.num_frames,
        proprioception=state,
        cameras={key: _camera(file, demo, group, key) for key in chosen.cameras},
        evidence=stated_evidence(group, label.success_key, demo.num_frames, file.size, demo.where),
        task=file.about.task,
        fps=file.about.fps,
        action_size=demo.action_size,
        terminated=terminated is not None and bool(terminated.any()),
        other_names=_other_names(file, demo),
        signals=(
            *signals_of(state, _state_names(demo, chosen.proprioception), "state"),
            *_actions(file, demo, group),
        ),
    )


def _actions(file: DemoFile, demo: Demo, group: Group) -> tuple[Signal, ...]:
    """What the policy commanded; where that cannot be read it is not shown, and that is all."""
    try:
        stored = child(group, "actions", demo.where)
        if not isinstance(stored, Stored):
            return ()
        header = declared(stored)
        values = checked_values(stored, header, file.size, f"{demo.where}: actions")
    except (DamagedFile, OSError):
        return ()
    if len(header.shape) not in (1, 2) or header.shape[0] != demo.num_frames:
        return ()
    return signals_of(values, None, "action", is_action=True)


def _state_names(demo: Demo, keys: Sequence[str]) -> list[str]:
    """The key of each number, and which of its numbers it is."""
    sizes = {key: math.prod(demo.observations[key].shape[1:]) for key in keys}
    return [f"{key} {i}" if size > 1 else key for key, size in sizes.items() for i in range(size)]


def _other_names(file: DemoFile, demo: Demo) -> tuple[str, ...]:
    """demo_3 may be called 3 in a label file."""
    name = demo.episode_id.removeprefix(file.prefix)
    number = name.rpartition("_")[2]
    return (f"{file.prefix}{number}",) if number.isdigit() and number != name else ()


def _header(demo: Demo, key: str, *, camera: bool) -> Declared:
    """What obs/<key> declares: a row per frame, of the kind it has in the other episodes."""
    header = demo.observations.get(key)
    if header is None:
        raise DamagedFile(f"{demo.where}: lacks obs/{key}, which other episodes have")
    if header.shape[:1] != (demo.num_frames,):
        raise DamagedFile(
            f"{demo.where}: obs/{key} has shape {header.shape}, the episode "
            f"{demo.num_frames} frames"
        )
    if not (header.is_camera if camera else header.is_low_dimensional):
        raise DamagedFile(
            f"{demo.where}: obs/{key} is {header.shape} {header.dtype}, unlike other episodes"
        )
    return header


def _proprioception(file: DemoFile, demo: Demo, group: Group, keys: Sequence[str]) -> FloatArray:
    columns: list[FloatArray] = []
    for key in keys:
        header = _header(demo, key, camera=False)
        stored = checked_before(group, f"obs/{key}")
        values = checked_values(stored, header, file.size, f"{demo.where}: obs/{key}")
        with np.errstate(over="ignore"):  # too large becomes infinite and is found as such
            numbers = values.astype(np.float32)
        columns.append(numbers[:, None] if numbers.ndim == 1 else numbers)
    return np.concatenate(columns, axis=1) if columns else no_proprioception(demo.num_frames)


def _camera(file: DemoFile, demo: Demo, group: Group, key: str) -> FrameSource:
    header = _header(demo, key, camera=True)
    stored = checked_before(group, f"obs/{key}")
    codec = checked_codec(stored, header, file.size, f"{demo.where}: obs/{key}")
    name = f"data/{demo.name.decode()}/obs/{key}"
    _, height, width, _ = header.shape
    frames = Hdf5Frames(file.path, name, demo.num_frames, height, width, codec)
    return FlippedFrames(frames) if file.about.bottom_row_first else frames


# ---- over all episodes of the file -------------------------------------------------------------


def _with_rewards(
    file: DemoFile, episodes: Sequence[FoundEpisode], rewards: Mapping[str, npt.NDArray[Any]]
) -> list[FoundEpisode]:
    if file.options.label.success_key != "rewards" and not is_sparse(rewards):
        file.findings.notice(
            f"{file.path}: rewards take several positive or several negative values, so a "
            "positive one need not mean success and they are not used; "
            f"{argument('success_key', 'rewards')} uses them all the same"
        )
        return list(episodes)
    return [
        replace(e, evidence={**e.evidence, "rewards": evidence})
        if e.episode_id in rewards
        and (evidence := reward_evidence(rewards[e.episode_id])) is not None
        else e
        for e in episodes
    ]

"""What an episode in an HDF5 file says about its own end."""

# pyright: standard
# (h5py ships no type stubs)

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from goalward.rollouts.labels.evidence import Evidence, evidence_from_frames, evidence_from_value
from goalward.rollouts.readers.hdf5.storage import (
    DamagedFile,
    Group,
    Stored,
    attribute,
    checked_values,
    child,
    declared,
)


def per_frame(
    demo: Group, name: str, num_frames: int, file_size: int, where: str
) -> npt.NDArray[Any] | None:
    """One entry per frame from a data set of the episode; None if there is no such data set."""
    stored = child(demo, name, where)
    if not isinstance(stored, Stored):
        return None
    header = declared(stored)
    if header.dtype.kind not in "biuf" or header.shape not in ((num_frames,), (num_frames, 1)):
        raise DamagedFile(
            f"{where}: {name} has shape {header.shape} and type {header.dtype}, "
            f"wanted a number for each of the {num_frames} frames"
        )
    values = checked_values(stored, header, file_size, f"{where}: {name}").reshape(-1)
    if header.dtype.kind == "f" and not np.isfinite(values).all():
        raise DamagedFile(f"{where}: {name} holds NaN or infinity")
    return values


def stated_evidence(
    demo: Group, success_key: str | None, num_frames: int, file_size: int, where: str
) -> dict[str, Evidence]:
    """The attribute `success`, and the attribute or data set that the user names."""
    found: dict[str, Evidence | None] = {}
    value = attribute(demo, "success")
    if value is not None:
        found["success"] = evidence_from_value(value)
    if success_key is not None and success_key not in found:
        value = attribute(demo, success_key)
        if value is not None:
            found[success_key] = evidence_from_value(value)
        elif success_key != "rewards":
            column = per_frame(demo, success_key, num_frames, file_size, where)
            found[success_key] = None if column is None else evidence_from_frames(column)
    return {name: evidence for name, evidence in found.items() if evidence is not None}


def reward_evidence(rewards: npt.NDArray[Any]) -> Evidence | None:
    """Success if any reward is positive, at the first frame where it is.

    >>> reward_evidence(np.array([0.0, 0.0, 1.0, 1.0]))
    Evidence(success=True, goal_frame=2, outcome=None)
    """
    return evidence_from_frames(rewards > 0)


def is_sparse(rewards: Mapping[str, npt.NDArray[Any]]) -> bool:
    """Whether the rewards of a file can mean success: at most one positive, one negative value.

    A shaped reward is positive, or negative, all the way; a task of several parts pays for each
    of them. In both a positive number does not say that the task was completed.

    >>> is_sparse({"0": np.array([0.0, 0.0, 1.0]), "1": np.array([0.0, 0.0])})
    True
    >>> is_sparse({"0": np.array([0.0, 0.5, 1.0])})
    False
    """
    values = np.unique(np.concatenate([np.unique(v) for v in rewards.values()] or [np.zeros(0)]))
    return bool((values > 0).sum() <= 1 and (values < 0).sum() <= 1)

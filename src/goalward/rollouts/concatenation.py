"""Several data sets as one."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from goalward.errors import RolloutError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode


def concatenate(parts: Sequence[Rollouts]) -> Rollouts:
    """Several data sets as one: cameras, proprioception and features must agree in size.

    Episode ids that occur in more than one part are written as `part/id`, with the name of the
    part's folder.
    """
    if isinstance(parts, Rollouts):
        raise RolloutError("concatenate takes a list of data sets")
    parts = [part for part in parts if len(part)]
    if not parts:
        raise RolloutError("nothing to concatenate: no episodes")
    first = parts[0]
    for part in parts[1:]:
        if set(part.camera_names) != set(first.camera_names):
            raise RolloutError(
                f"{_name(part)} has cameras {', '.join(part.camera_names) or 'none'}, "
                f"{_name(first)} {', '.join(first.camera_names) or 'none'}: choose common ones"
            )
        if (part.features is None) != (first.features is None):
            raise RolloutError(f"only one of {_name(part)} and {_name(first)} has features")
    features = None
    if first.features is not None:
        sizes = {part.features.shape[1] for part in parts if part.features is not None}
        if len(sizes) > 1:
            raise RolloutError(f"features differ in size between data sets: {sorted(sizes)}")
        features = np.concatenate([part.features for part in parts if part.features is not None])
    return Rollouts(
        _with_unique_ids(parts),
        features=features,
        sources=[source for part in parts for source in part.sources],
        task_vectors=_task_vectors(parts),
    )


def _task_vectors(parts: Sequence[Rollouts]) -> dict[str, tuple[float, ...]]:
    """Those of all parts; none where they are not of one encoder and cannot be compared."""
    together: dict[str, tuple[float, ...]] = {}
    for part in parts:
        for task, vector in part.task_vectors.items():
            if together.setdefault(task, vector) != vector:
                return {}
    one_size = len({len(vector) for vector in together.values()}) <= 1
    return together if one_size and len({part.feature_layout for part in parts}) == 1 else {}


def _with_unique_ids(parts: Sequence[Rollouts]) -> list[Episode]:
    all_ids = [episode_id for part in parts for episode_id in part.ids]
    if len(set(all_ids)) == len(all_ids):
        return [episode for part in parts for episode in part]
    names = [_name(part).rstrip("/").rsplit("/", 1)[-1] for part in parts]
    if len(set(names)) < len(names):
        names = [f"{name}#{number}" for number, name in enumerate(names)]
    return [
        replace(episode, id=f"{name}/{episode.id}")
        for name, part in zip(names, parts, strict=True)
        for episode in part
    ]


def _name(part: Rollouts) -> str:
    return part.sources[0].path if part.sources else "a data set"

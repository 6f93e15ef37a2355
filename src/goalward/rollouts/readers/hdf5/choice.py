"""Which cameras and numbers to take from the episodes of one HDF5 file."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from goalward.errors import RolloutError
from goalward.rollouts.readers.hdf5.headers import Demo, DemoFile
from goalward.rollouts.readers.hdf5.storage import printable


@dataclass(frozen=True)
class Chosen:
    """What is taken from each episode of a file, by path below obs."""

    cameras: tuple[str, ...]
    proprioception: tuple[str, ...]


def choose(file: DemoFile, demos: Sequence[Demo]) -> Chosen:
    """As the user says, else all cameras and the usual proprioception."""
    return Chosen(_chosen_cameras(file, demos), _chosen_proprioception(file, demos))


def _chosen_cameras(file: DemoFile, demos: Sequence[Demo]) -> tuple[str, ...]:
    counts = Counter(key for d in demos for key, o in d.observations.items() if o.is_camera)
    odd = {
        key: o
        for d in demos
        for key, o in d.observations.items()
        if o.is_image_like and key not in counts
    }
    for key, o in odd.items():
        file.findings.notice(
            f"{file.path}: obs/{printable(key)} is {o.shape} {o.dtype}, not (frames, height, "
            "width, 3) uint8: it is not used as a camera"
        )
    if file.options.cameras is not None:
        return tuple(file.options.chosen_cameras(list(counts), str(file.path)))
    return _usual(file, counts, len(demos))


def _usual(file: DemoFile, counts: Counter[str], num_demos: int) -> tuple[str, ...]:
    """The keys that at least half of the episodes have, in the order of the file."""
    rare = [key for key, count in counts.items() if 2 * count < num_demos]
    for key in rare:
        file.findings.notice(
            f"{file.path}: only {counts[key]} of {num_demos} episodes have obs/{printable(key)}: "
            "it is not used"
        )
    return tuple(key for key in counts if key not in rare)


def _chosen_proprioception(file: DemoFile, demos: Sequence[Demo]) -> tuple[str, ...]:
    counts = Counter(
        key for d in demos for key, o in d.observations.items() if o.is_low_dimensional
    )
    there = f"low-dimensional keys in obs: {', '.join(map(printable, counts)) or 'none'}"
    if file.options.proprioception is not None:
        keys = [_matching_key(wanted, counts) for wanted in file.options.proprioception]
        for wanted, key in zip(file.options.proprioception, keys, strict=True):
            if key is None:
                raise RolloutError(f"{file.path}: no proprioception {wanted}; {there}")
        return tuple(key for key in keys if key is not None)
    usual = [key for key, count in counts.items() if 2 * count >= len(demos)]
    choices = [
        [(wanted, _matching_key(wanted, usual)) for wanted in choice]
        for choice in file.usual_proprioception
    ]
    # The first complete choice, else the one that is most complete.
    best = max(choices, key=lambda choice: _share_found([key for _, key in choice]))
    missing = [wanted for wanted, key in best if key is None]
    if len(missing) == len(best):
        file.findings.notice(f"{file.path}: no proprioception is read; {there}")
    elif missing:
        file.findings.notice(f"{file.path}: proprioception without {', '.join(missing)}; {there}")
    return tuple(key for _, key in best if key is not None)


def _share_found(keys: Sequence[str | None]) -> float:
    return sum(key is not None for key in keys) / len(keys)


def _matching_key(wanted: str, keys: Iterable[str]) -> str | None:
    """The key itself, or the one key in a nested group that ends with it."""
    keys = list(keys)
    if wanted in keys:
        return wanted
    ending = [key for key in keys if key.endswith(f"/{wanted}")]
    return ending[0] if len(ending) == 1 else None

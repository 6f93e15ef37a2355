"""Small data for the attacks, folders as what is in them, and damage to a file."""

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

# Of an evaluation that takes a second: all of its files, and a training that is begun and saved.
TINY = ("--set", "width=8,num_layers=2,num_steps=24,batch_size=16", "--device", "cpu")
# Beside the folder of a try, so that nothing happens to it.
SMALL_ENCODER = ("--encoder", "../encoder")
# Figures are pictures of numbers that lie beside them; fonts and dates make their bytes.
_DRAWN = (".png", ".svg", ".pdf")
# Written by onnxruntime.
_OF_OTHERS = ("tmp/.ses",)

_PAGE = 4096

Files = Mapping[str, str]


def write_small_features(path: Path, seed: int = 0, num_episodes: int = 8) -> None:
    """Episodes of 8 to 13 frames: a ramp and noise. Every other one succeeds."""
    import goalward
    from goalward.training.stored.feature_file import write_features

    draws = np.random.default_rng(seed)
    features: list[np.ndarray] = []
    for index in range(num_episodes):
        num_frames = int(draws.integers(8, 14))
        ramp = np.linspace(0, 0.3 if index % 2 else 1, num_frames)[:, None]
        noise = draws.normal(0, 0.1, size=(num_frames, 2))
        features.append(np.concatenate([ramp, noise], axis=1))
    success = [index % 2 == 0 for index in range(num_episodes)]
    write_features(path, goalward.from_arrays(features, success=success))


def write_small_lerobot(folder: Path, num_episodes: int = 4, seed: int = 0) -> None:
    from rollout_files.lerobot import make_episode, write_lerobot

    episodes = [make_episode(6 + i, i % 2 == 0, seed=seed + i) for i in range(num_episodes)]
    write_lerobot(folder, episodes)


def write_small_encoder(folder: Path) -> None:
    """A model with random weights, which is read and run in a fraction of a second."""
    from rollout_files.vision_models import write_model

    if not folder.exists():
        begun = folder.with_suffix(".begun")
        shutil.rmtree(begun, ignore_errors=True)
        write_model(begun, "clip").rename(folder)


def emptied(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)


def renewed(source: Path, place: Path) -> None:
    """The folder as its source is, and nothing else."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(source, place, symlinks=True)


def files_of(folder: Path, *, figures: bool = True) -> dict[str, str]:
    """Every file below a folder and a digest of its content; of a figure perhaps its name alone."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or name in _OF_OTHERS:
            continue
        if figures:
            found[name] = _digest(path.read_bytes())
        elif path.name == "steps.json":
            found[name] = _digest(_without_figures(path))
        else:
            found[name] = "drawn" if path.suffix in _DRAWN else _digest(path.read_bytes())
    return found


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _without_figures(steps: Path) -> bytes:
    """Notes of steps without digests of figures, and so without the notes' own checksum."""
    try:
        noted = json.loads(steps.read_text())
    except ValueError:
        return steps.read_bytes()
    noted.pop("checksum", None)
    for note in noted.values():
        for name in note.get("files", {}):
            if name.endswith(_DRAWN):
                note["files"][name] = "drawn"
    return json.dumps(noted, sort_keys=True).encode()


def num_bytes(folder: Path) -> int:
    """Room that a folder takes, as a file system counts, by pages."""
    sizes = (path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return sum(-(-size // _PAGE) * _PAGE for size in sizes)


def what_differs(found: Files, wanted: Files, but: Sequence[str] = ()) -> list[str]:
    """Files that are missing or not the same."""
    return [name for name in wanted if name not in but and found.get(name) != wanted[name]]


def leftovers(found: Files, wanted: Files) -> list[str]:
    return [name for name in found if name not in wanted]


# ---- damage -------------------------------------------------------------------------------------


def flip(path: Path, draws: np.random.Generator) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(int(draws.integers(1, 4))):
        content[draws.integers(len(content))] ^= 1 << int(draws.integers(8))
    path.write_bytes(content)


def cut(path: Path, draws: np.random.Generator) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: draws.integers(len(content))])


def blank(path: Path, draws: np.random.Generator) -> None:
    """A stretch of zeros, as a disk gives that lost a block."""
    content = bytearray(path.read_bytes())
    start = int(draws.integers(len(content)))
    num_bytes = min(int(draws.integers(1, 512)), len(content) - start)
    content[start : start + num_bytes] = bytes(num_bytes)
    path.write_bytes(content)


def empty(path: Path, draws: np.random.Generator) -> None:
    path.write_bytes(b"")


def lose(path: Path, draws: np.random.Generator) -> None:
    path.unlink()


def repeat(path: Path, draws: np.random.Generator) -> None:
    """A part of the file a second time, as a copy that went wrong leaves it."""
    content = path.read_bytes()
    start, end = sorted(int(edge) for edge in draws.integers(len(content) + 1, size=2))
    path.write_bytes(content[:end] + content[start:])


DAMAGES: Mapping[str, Callable[[Path, np.random.Generator], None]] = {
    "bits flipped": flip,
    "cut": cut,
    "zeroed": blank,
    "emptied": empty,
    "deleted": lose,
    "repeated": repeat,
}


def damage(path: Path, name: str, draws: np.random.Generator) -> bool:
    """Damage a file; False where there is nothing to damage or it came out as it was."""
    before = path.read_bytes()
    if not before:
        return False
    DAMAGES[name](path, draws)
    return not path.exists() or path.read_bytes() != before

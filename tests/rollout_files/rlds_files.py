"""RLDS files that several tests ask for."""

from pathlib import Path

from rollout_files import rlds

from goalward.rollouts.readers.tfrecord import read_records

# Where a camera's pictures lie in an episode.
IMAGE = "steps/observation/image_0"


def one_file(folder: Path, *episodes: rlds.WrittenEpisode) -> Path:
    return rlds.write_records(folder / "toy.tfrecord", [e.encoded() for e in episodes])


def three_records(folder: Path) -> tuple[Path, list[int]]:
    """A file, and where its records start."""
    path = one_file(folder, *(rlds.make_episode(3, n != 1, seed=n) for n in range(3)))
    starts = [record.place.offset - 12 for record in read_records(path)]
    return path, starts

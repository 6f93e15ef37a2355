"""Scores that another program gave to frames: read from its file, matched with what was recorded.

Any parquet file with a row per frame: columns `episode` (or episode_index, episode_id), `frame` (or
frame_index) and a score, larger where the goal is nearer. Known without being told are the columns
that LeRobot's SARM and Robometer write (`progress_sparse`, `progress_dense`), RLinf
(`value_current`) and Evo-RL (`complementary_info.value`).
"""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from goalward.errors import GoalwardError, argument
from goalward.files import check_regular
from goalward.git_lfs import explained
from goalward.rollouts.findings import counted, some_of
from goalward.rollouts.labels.files import by_spelling

_log = logging.getLogger("goalward.values")
FloatArray = npt.NDArray[np.float64]

_EPISODE = ("episode", "episode_index", "episode_id")
_FRAME = ("frame", "frame_index")
# What is called so first; then what other programs call theirs.
_SCORE = (
    *("score", "progress_sparse", "progress_dense", "value_current", "complementary_info.value"),
    *("progress", "value"),
)
_MOST_ROWS = 200_000_000
# Equal values pack tightly: more rows than this, in less than a byte each, are no scores.
_MANY_ROWS = 1_000_000


@dataclass(frozen=True, eq=False)
class GivenScores:
    """A score of every frame of all episodes one after the other; larger is nearer to the goal."""

    name: str
    column: str
    score: FloatArray


def named_files(
    scores: str | Path | Mapping[str, str | Path] | Sequence[str | Path],
) -> dict[str, str]:
    """Name -> path; a path without a name goes by that of its file.

    >>> named_files(["sarm=out/progress.parquet", "robometer.parquet"])
    {'sarm': 'out/progress.parquet', 'robometer': 'robometer.parquet'}
    """
    if isinstance(scores, str | Path):
        scores = [scores]
    if isinstance(scores, Mapping):
        pairs = [(name, str(path)) for name, path in scores.items()]
    else:
        pairs = [_named(str(text)) for text in scores]
    names = [name for name, _ in pairs]
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}", name):
            given = argument("scores")
            raise GoalwardError(f"{given}: a name has letters, digits, '_', '.', '-', got {name!r}")
        if names.count(name) > 1:
            raise GoalwardError(f"{argument('scores')}: two files are called {name}; name=path")
    return dict(pairs)


def _named(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    return (name, path) if equals else (Path(text).stem, text)


def read_all_scores(
    files: Mapping[str, str], episode_ids: Sequence[str], lengths: Sequence[int]
) -> tuple[GivenScores, ...]:
    """The scores of these frames in every file, name -> path."""
    return tuple(read_scores(name, path, episode_ids, lengths) for name, path in files.items())


def read_scores(
    name: str, path: str | Path, episode_ids: Sequence[str], lengths: Sequence[int]
) -> GivenScores:
    """The scores of just these frames.

    A frame without a score, or a score of a frame that was not recorded, is an error that names it.
    Episodes that are not among these are left aside: a run may have left some out.
    """
    path = Path(path)
    table, columns = _read(path)
    find = by_spelling({episode_id: episode_id for episode_id in episode_ids})
    position = {episode_id: i for i, episode_id in enumerate(episode_ids)}
    texts = table[columns["episode"]].unique().to_pylist()
    meant = {text: find(str(text)) for text in texts}
    place_of = {text: -1 if found is None else position[found] for text, found in meant.items()}
    episode = np.array([place_of[text] for text in table[columns["episode"]].to_pylist()])
    frame = _whole_numbers(table[columns["frame"]], path, columns["frame"])
    score = _numbers(table[columns["score"]], path, columns["score"])
    unknown = [str(text) for text, place in place_of.items() if place < 0]
    if len(unknown) == len(texts):
        raise GoalwardError(
            f"{path}: has scores of episodes {some_of(unknown)}, and none of them was recorded here"
        )
    if unknown:
        words = "%s: scores of %s that are not evaluated are left aside: %s"
        _log.warning(words, path, counted(unknown), some_of(unknown))
    known = episode >= 0
    filled = _placed(path, episode[known], frame[known], score[known], episode_ids, lengths)
    return GivenScores(name, columns["score"], filled)


def _read(path: Path) -> tuple[pa.Table, dict[str, str]]:
    check_regular(path)
    try:
        # Absolute, as pyarrow takes a folder that is called ~ for that of the user.
        file = pq.ParquetFile(path.absolute(), page_checksum_verification=True)
    except (OSError, ValueError, pa.ArrowException) as error:
        problem = f"cannot be read as parquet ({error})"
        raise GoalwardError(explained(path, problem)) from error
    with file:
        names = file.schema_arrow.names
        found: dict[str, str] = {}
        for what, choices in (("episode", _EPISODE), ("frame", _FRAME), ("score", _SCORE)):
            there = [choice for choice in choices if choice in names]
            if not there:
                raise GoalwardError(
                    f"{path}: has no column for the {what}; wanted one of {', '.join(choices)}, "
                    f"columns: {some_of(names, most=12)}"
                )
            found[what] = there[0]
        num_rows, num_bytes = file.metadata.num_rows, path.stat().st_size
        if not 0 < num_rows <= _MOST_ROWS or num_rows > max(_MANY_ROWS, num_bytes):
            raise GoalwardError(f"{path}: claims {num_rows:,} rows in {num_bytes:,} bytes")
        try:
            return file.read(columns=list(found.values())), found
        except (OSError, pa.ArrowException) as error:
            raise GoalwardError(f"{path}: cannot be read ({error})") from error


def _whole_numbers(column: Any, path: Path, name: str) -> npt.NDArray[np.int64]:
    numbers = _numbers(column, path, name)
    if not (np.isfinite(numbers) & (numbers == np.floor(numbers))).all():
        raise GoalwardError(f"{path}: {name} holds more than whole numbers")
    return numbers.astype(np.int64)


def _numbers(column: Any, path: Path, name: str) -> FloatArray:
    kind = column.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        raise GoalwardError(f"{path}: {name} holds no numbers, but {kind}")
    return column.to_numpy().astype(np.float64)


def _placed(
    path: Path,
    episode: npt.NDArray[np.int64],
    frame: npt.NDArray[np.int64],
    score: FloatArray,
    episode_ids: Sequence[str],
    lengths: Sequence[int],
) -> FloatArray:
    """Scores in the order of frames; what is missing, too much, or no number is told."""
    sizes = np.array(lengths, dtype=np.int64)
    ends = np.cumsum(sizes)
    starts = ends - sizes
    outside = np.flatnonzero((frame < 0) | (frame >= sizes[episode]))
    if len(outside):
        first = outside[0]
        raise GoalwardError(
            f"{path}: has a score of frame {frame[first]} of episode "
            f"{episode_ids[int(episode[first])]}, which has {sizes[episode[first]]} frames"
        )
    where = starts[episode] + frame
    counts = np.bincount(where, minlength=int(ends[-1]))
    for bad, words in ((counts == 0, "no score"), (counts > 1, "two scores")):
        if bad.any():
            raise GoalwardError(f"{path}: has {words} of {_frames(bad, ends, starts, episode_ids)}")
    filled = np.empty(int(ends[-1]))
    filled[where] = score
    bad = ~np.isfinite(filled)
    if bad.any():
        told = _frames(bad, ends, starts, episode_ids)
        raise GoalwardError(f"{path}: holds NaN or infinity at {told}")
    return filled


def _frames(
    bad: npt.NDArray[np.bool_],
    ends: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    episode_ids: Sequence[str],
) -> str:
    first = int(np.flatnonzero(bad)[0])
    episode = int(np.searchsorted(ends, first, side="right"))
    more = f", and of {int(bad.sum()) - 1} more frames" if bad.sum() > 1 else ""
    return f"frame {first - int(starts[episode])} of episode {episode_ids[episode]}{more}"

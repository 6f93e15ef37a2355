"""Tables that claim more rows or numbers than any recording has, in a few kilobytes."""

import time
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rollout_files.lerobot import make_episode, write_lerobot

import goalward
from goalward import RolloutError
from goalward.rollouts.readers.lerobot import tables

LIST = "meta/episodes/chunk-000/file-000.parquet"
DATA = "data/chunk-000/file-000.parquet"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_lerobot(tmp_path, [make_episode(4 + i, i == 0) for i in range(3)])


def repeat_first_row(path: Path, count: int) -> None:
    pq.write_table(pq.read_table(path).take(pa.array(np.zeros(count, np.int64))), path)


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1_200_000, "claims 1,200,000 rows, more than the 1,000,000 that are read"),
        (900_000, "has 900,000 rows for 1 episodes"),
    ],
)
def test_a_list_of_equal_episodes_is_refused_at_once(root: Path, count: int, said: str):
    repeat_first_row(root / LIST, count)
    assert (root / LIST).stat().st_size < 100_000
    tracemalloc.start()
    started = time.perf_counter()
    with pytest.raises(RolloutError, match=f"file-000.parquet: {said}"):
        goalward.read(root)
    # Minutes and gigabytes if every row became an episode.
    assert time.perf_counter() - started < 5
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()


def test_an_episode_that_is_listed_again_is_no_reason_to_refuse(root: Path):
    table = pq.read_table(root / LIST)
    pq.write_table(table.take(pa.array([0, 1, 2, 1])), root / LIST)
    rollouts = goalward.read(root)
    assert rollouts.ids == ("0", "1", "2")
    assert any("episode 1 is listed twice" in warning for warning in rollouts.warnings)


@pytest.mark.parametrize("column", ["timestamp", "observation.state"])
def test_numbers_without_bytes_are_refused(
    root: Path, column: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tables, "_MANY_NUMBERS", 300_000)
    assert len(goalward.read(root)) == 3
    table = pq.read_table(root / DATA)
    if column == "timestamp":
        pq.write_table(table.take(pa.array(np.zeros(100_000, np.int64))), root / DATA)
    else:
        wide = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(20_000 * len(table))), 20_000)
        position = table.column_names.index(column)
        pq.write_table(table.set_column(position, column, wide), root / DATA)
    with pytest.raises(RolloutError, match=r"file-000.parquet: claims \S+ numbers in \S+ bytes"):
        goalward.read(root)


def test_a_list_without_indices(root: Path):
    pq.write_table(pq.read_table(root / LIST).drop_columns(["episode_index"]), root / LIST)
    with pytest.raises(RolloutError, match="file-000.parquet: no column episode_index"):
        goalward.read(root)

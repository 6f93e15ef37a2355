"""Files of scores as the programs that write them lay them out."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from goalward.errors import GoalwardError
from goalward.values import score_file
from goalward.values.score_file import read_scores

LENGTHS = (3, 2)
EPISODE = np.array([0, 0, 0, 1, 1])
FRAME = np.array([0, 1, 2, 0, 1])
SCORE = np.array([0.0, 0.5, 1.0, 0.25, 0.125])
KEYS = {"index": np.arange(5), "episode_index": EPISODE, "frame_index": FRAME}
AS_FLOAT32 = {"progress_sparse": SCORE.astype(np.float32)}

LAYOUTS = {
    # LeRobot's compute_rabc_weights of its reward models.
    "sarm, robometer, topreward": KEYS | AS_FLOAT32,
    "sarm, dense alone": KEYS | {"progress_dense": SCORE.astype(np.float32)},
    "sarm, both": KEYS | AS_FLOAT32 | {"progress_dense": np.zeros(5, np.float32)},
    # RECAP's compute_advantages, which has no index.
    "rlinf": {
        **{"episode_index": EPISODE, "frame_index": FRAME, "advantage_continuous": -SCORE},
        **{"return": SCORE - 9, "value_current": SCORE, "value_next": 0 * SCORE},
        **{"dataset_name": ["mine"] * 5, "advantage": SCORE > 0.3},
    },
    # Columns in a data file, in parts of the clock.
    "evo-rl": KEYS | {"action": SCORE + 7, "complementary_info.value": SCORE.astype(np.float32)},
    "of one's own": {"episode": ["0", "0", "0", "1", "1"], "frame": FRAME, "score": SCORE},
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_is_read_without_being_told(tmp_path, name):
    pq.write_table(pa.table(LAYOUTS[name]), tmp_path / "scores.parquet")
    found = read_scores("theirs", tmp_path / "scores.parquet", ("0", "1"), LENGTHS)
    assert found.score.tolist() == SCORE.tolist()


def test_pipes_and_pointers_of_git_lfs_are_named(tmp_path):
    path = tmp_path / "scores.parquet"
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n")
    with pytest.raises(GoalwardError, match=r"scores\.parquet: is a pointer of Git LFS"):
        read_scores("theirs", path, ("0", "1"), LENGTHS)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(GoalwardError, match=r"scores\.parquet: is no regular file"):
        read_scores("theirs", path, ("0", "1"), LENGTHS)


def test_a_few_bytes_may_not_claim_many_rows(tmp_path, monkeypatch):
    path = tmp_path / "scores.parquet"
    zeros = np.zeros(300_000, np.int64)
    pq.write_table(pa.table({"episode": zeros, "frame": zeros, "score": SCORE[zeros]}), path)
    monkeypatch.setattr(score_file, "_MANY_ROWS", 1000)
    with pytest.raises(GoalwardError, match=r"claims 300,000 rows in [\d,]+ bytes"):
        read_scores("theirs", path, ("0", "1"), LENGTHS)


def test_a_folder_that_is_called_as_shells_call_home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "~").mkdir()
    pq.write_table(pa.table(LAYOUTS["rlinf"]), tmp_path / "~" / "scores.parquet")
    found = read_scores("theirs", "~/scores.parquet", ("0", "1"), LENGTHS)
    assert len(found.score) == 5


def test_a_frame_that_their_model_could_not_judge_is_named(tmp_path):
    # LeRobot's SARM writes NaN where its model failed.
    bad = SCORE.astype(np.float32).copy()
    bad[3] = np.nan
    pq.write_table(pa.table(KEYS | {"progress_sparse": bad}), tmp_path / "sarm.parquet")
    with pytest.raises(GoalwardError, match="NaN or infinity at frame 0 of episode 1"):
        read_scores("sarm", tmp_path / "sarm.parquet", ("0", "1"), LENGTHS)

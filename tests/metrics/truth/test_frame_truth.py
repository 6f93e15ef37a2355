"""What branches say of a frame, by hand; on disk and back."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from goalward.errors import GoalwardError
from goalward.metrics.truth.frame_truth import FrameTruth, read_truth

INF, NAN = math.inf, math.nan


def truth_of(*rows, cap=10):
    steps = np.array(rows, dtype=float)
    ids = tuple(str(i) for i in range(len(rows)))
    return FrameTruth(ids, np.arange(len(rows)), steps, cap)


def test_values_by_hand():
    """K = 1, 2, never at a discount of 1/2: values 0, 1/2, 1; their deviation is 1/2."""
    found = truth_of([1, 2, INF]).true_value(0.5)
    assert found.mean == pytest.approx([0.5])
    assert found.standard_error == pytest.approx([0.5 / math.sqrt(3)])


@pytest.mark.parametrize("steps", [0, 1, 7])
def test_branches_that_agree_give_the_closed_form_without_error(steps):
    found = truth_of([steps] * 16).true_value(0.9)
    assert found.mean == pytest.approx([1 - 2 * 0.9**steps])
    assert found.standard_error.tolist() == [0.0]


def test_a_frame_that_never_succeeds_is_worth_1():
    truth = truth_of([INF] * 4)
    assert truth.true_value(0.99).mean.tolist() == [1.0]
    assert truth.more_time_success().mean.tolist() == [0.0]


def test_success_within_counts_the_last_step():
    truth = truth_of([1, 2, 3, INF])
    assert truth.success_within(2).mean.tolist() == [0.5]
    # sqrt(p (1 - p) / (n - 1)).
    assert truth.success_within(2).standard_error == pytest.approx([math.sqrt(0.25 / 3)])
    assert truth.more_time_success().mean.tolist() == [0.75]
    with pytest.raises(ValueError, match="run for 10 steps, not for 11"):
        truth.success_within(11)


def test_frames_may_rest_on_different_numbers_of_branches():
    truth = truth_of([1, 1, NAN, NAN], [INF, NAN, NAN, NAN], [1, 2, 3, 4])
    assert truth.num_branches.tolist() == [2, 1, 4]
    found = truth.success_within(3)
    assert found.mean == pytest.approx([1, 0, 0.75])
    assert found.standard_error[0] == 0
    assert math.isnan(found.standard_error[1])
    assert truth.cap_error(0.5) == pytest.approx([0, 2 * 0.5**10, 0])


def test_there_and_back(tmp_path):
    truth = FrameTruth(
        ("12", "3"),
        np.array([7, 0]),
        np.array([[5, INF, 0], [2, NAN, NAN]]),
        cap=9,
        made_with={"task": "walk", "seed": 3},
    )
    truth.write(tmp_path / "truth.parquet")
    table = pq.read_table(tmp_path / "truth.parquet")
    assert table["episode_id"].to_pylist() == ["12", "12", "12", "3"]
    assert table["steps"].to_pylist() == [5, None, 0, 2]
    back = read_truth(tmp_path / "truth.parquet")
    assert back.episode_ids == truth.episode_ids
    assert back.frame_indices.tolist() == [7, 0]
    np.testing.assert_array_equal(back.steps, truth.steps)
    assert (back.cap, back.made_with) == (9, {"task": "walk", "seed": 3, "cap": 9})


def test_one_branch_is_a_table_and_none_is_not(tmp_path):
    path = tmp_path / "truth.parquet"
    truth_of([4]).write(path)
    assert read_truth(path).steps.tolist() == [[4]]
    FrameTruth((), np.zeros(0, np.int64), np.zeros((0, 0)), cap=9).write(path)
    with pytest.raises(GoalwardError, match="no rows"):
        read_truth(path)


def test_frames_and_steps_must_agree():
    with pytest.raises(ValueError, match="1 frames, but steps of"):
        FrameTruth(("0",), np.zeros(1, np.int64), np.ones((2, 1)), cap=9)
    with pytest.raises(ValueError, match="1 frames, but steps of"):
        FrameTruth(("0",), np.zeros(1, np.int64), np.ones(1), cap=9)
    with pytest.raises(ValueError, match="1 frames, .* indices"):
        FrameTruth(("0",), np.zeros(2, np.int64), np.ones((1, 1)), cap=9)
    with pytest.raises(ValueError, match="a frame has no branch"):
        truth_of([NAN])


def write_table(path, **columns):
    usual = {"episode_id": ["0", "0"], "frame_index": [1, 1], "branch": [0, 1], "steps": [1, None]}
    pq.write_table(pa.table(usual | {"cap": [9, 9]} | columns), path)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"cap": [9, 10]}, "different caps"),
        ({"branch": [0, 0]}, "the same branch twice"),
        ({"steps": [1, 10]}, "between 0 and the cap"),
        ({"steps": [1, -1]}, "between 0 and the cap"),
        ({"branch": [0, -1]}, "a branch below 0"),
        ({"frame_index": [1, None]}, "is no table of true steps"),
    ],
)
def test_tables_that_cannot_be_right(tmp_path, columns, message):
    path = tmp_path / "truth.parquet"
    write_table(path, **columns)
    with pytest.raises(GoalwardError, match=f"truth.parquet.*{message}"):
        read_truth(path)


def test_files_of_another_kind(tmp_path):
    path = tmp_path / "truth.parquet"
    with pytest.raises(GoalwardError, match="no such file"):
        read_truth(path)
    path.write_text("steps")
    with pytest.raises(GoalwardError, match="cannot be read"):
        read_truth(path)
    pq.write_table(pa.table({"episode_id": ["0"], "steps": [1]}), path)
    with pytest.raises(GoalwardError, match="no branch, cap, frame_index"):
        read_truth(path)

"""Chances of success within any number of steps: read off, stored, and put together from folds."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goalward
from goalward.errors import GoalwardError
from goalward.runs.making.held_out import Fold, held_out_chances
from goalward.values.chances import ChanceTable, chance_points, read_chances
from goalward.values.fit import fit
from goalward.values.made_chances import chances_of_values, put_together
from goalward.values.table import ValueTable

TINY = {"width": 8, "num_layers": 2, "num_steps": 6, "batch_size": 16, "device": "cpu"}
INF = np.inf


def table(within, at_end=None, num_steps=(0, 2, 6), lengths=(2,), methods=("m",)):
    """Of one seed and one network per method; ends as the last frames say."""
    within = np.array(within, dtype=np.float32)
    ends = np.cumsum(lengths)
    if at_end is None:
        at_end = within[:, None, None, ends - 1]
    return ChanceTable(
        methods=methods,
        episode_ids=tuple(str(i) for i in range(len(lengths))),
        episode_tasks=("fold",) * len(lengths),
        episode_ends=ends,
        num_steps=np.array(num_steps),
        within=within,
        at_end=np.array(at_end, dtype=np.float32),
    )


def ramps(num_frames=6, num_episodes=8):
    """Successes and time-outs in turn, of two tasks."""
    ramp = np.linspace(0, 1, num_frames)[:, None].astype(np.float32)
    arrays = [ramp * (1 if i % 2 == 0 else -1) + 0.01 * i for i in range(num_episodes)]
    return goalward.from_arrays(arrays, success=[i % 2 == 0 for i in range(num_episodes)])


# ---- reading off --------------------------------------------------------------------------------


def test_between_points_on_the_line_and_beyond_the_last_ever():
    """Points at 0, 2 and 6: at 3 a quarter of the way from the second to the third."""
    found = table([[[0.0, 0.4, 0.8], [0.2, 0.2, 1.0]]])
    for steps, first, second in (
        (0, 0.0, 0.2),
        (1, 0.2, 0.2),
        (2, 0.4, 0.2),
        (3, 0.5, 0.4),
        (6, 0.8, 1.0),
        (600, 0.8, 1.0),
        (INF, 0.8, 1.0),
    ):
        assert found.within_steps("m", steps).tolist() == pytest.approx([first, second])
    assert found.within_steps("m", [3, 1]).tolist() == pytest.approx([0.5, 0.2])
    assert found.ever("m").tolist() == pytest.approx([0.8, 1.0])


def test_ends_are_read_by_network_with_one_number_per_episode():
    ends = np.array([[[[[0.0, 0.4, 0.8], [0.0, 1.0, 1.0]], [[0.2, 0.2, 0.6], [np.nan] * 3]]]])
    within = np.zeros((1, 3, 3))
    found = table(within, at_end=ends, lengths=(1, 2))
    assert found.clocks.tolist() == [0, 1]
    read = found.within_steps_at_end("m", [4, 1])
    assert read.shape == (1, 2, 2)
    assert read[0, 0].tolist() == pytest.approx([0.6, 0.5])
    assert read[0, 1, 0] == pytest.approx(0.4)
    assert np.isnan(read[0, 1, 1])


@pytest.mark.parametrize("steps", [-1, np.nan, [1, -0.5]])
def test_within_no_number_of_steps(steps):
    with pytest.raises(GoalwardError, match="num_steps must be 0 or more"):
        table([[[0.0, 0.4, 0.8], [0.2, 0.2, 1.0]]]).within_steps("m", steps)


def test_a_method_that_is_not_there():
    with pytest.raises(GoalwardError, match="no method 'mc'; there are: m"):
        table([[[0.0, 0.4, 0.8], [0.2, 0.2, 1.0]]]).ever("mc")


@pytest.mark.parametrize(
    ("within", "num_steps", "words"),
    [
        ([[0.0, 0.4, 1.1]], (0, 2, 6), "between 0 and 1"),
        ([[-0.1, 0.4, 1.0]], (0, 2, 6), "between 0 and 1"),
        ([[0.0, np.nan, 1.0]], (0, 2, 6), "between 0 and 1"),
        ([[0.0, 0.4, 0.3]], (0, 2, 6), "falls with more time"),
        ([[0.0, 0.4, 1.0]], (0, 2, 2), "rise from 0"),
        ([[0.0, 0.4, 1.0]], (1, 2, 6), "rise from 0"),
        ([[0.0, 0.4, 1.0]] * 2, (0, 2, 6), "1 frames, 3 points"),
    ],
)
def test_what_is_no_chance_is_refused(within, num_steps, words):
    ends = np.zeros((1, 1, 1, 1, 3))
    with pytest.raises(ValueError, match=words):
        table([within], at_end=ends, num_steps=num_steps, lengths=(1,))


@pytest.mark.parametrize("longest", [0, 1, 2, 7, 40, 160, 400, 5000])
def test_points_reach_three_clocks_and_hold_what_is_asked(longest):
    points = chance_points(longest, also=[longest, 3, 0, 10**9])
    assert points[0] == 0
    assert points[-1] == 3 * max(longest, 1)
    assert (np.diff(points) > 0).all()
    assert len(points) <= 27
    assert longest in points
    assert 3 in points


# ---- of values ----------------------------------------------------------------------------------


def test_a_value_alone_is_the_share_of_seeds_that_see_it_coming():
    """Never is not even ever."""
    steps = np.array([[[1.0, 2], [3.0, INF], [1.0, 99]]], dtype=np.float32)
    values = ValueTable(("td",), (0, 1, 2), ("a",), ("",), np.array([2]), -steps, steps)
    found = chances_of_values(values, np.array([0, 1, 2, 3]))
    expected = [[0, 2 / 3, 2 / 3, 1], [0, 0, 1 / 3, 2 / 3]]
    assert found.within[0].tolist() == [pytest.approx(row) for row in expected]
    assert found.at_end.shape == (1, 3, 1, 1, 4)
    assert found.at_end[0, :, 0, 0].tolist() == [[0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 1]]


# ---- of networks --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    """Of half of the episodes, for each half; lambda-returns folds its two episodes."""
    methods = ("lambda-returns", "survival", "mc-dist", "mc")
    halves = {"first": [0, 1, 2, 3], "second": [4, 5, 6, 7]}
    return fit(ramps(), methods, seeds=2, subsets=halves, rounds=1, **TINY)


@pytest.mark.usefixtures("one_thread")
def test_one_pass_says_what_one_number_of_steps_after_the_other_says(fitted):
    points = np.array([0, 1, 2, 5, 15])
    found = fitted.chance_table(ramps(), points, subset="first")
    for point, steps in enumerate((0.0, 1.0, 2.0, 5.0, INF)):
        expected = fitted.chances(ramps(), steps, subset="first").mean(axis=1)
        np.testing.assert_allclose(found.within[..., point], expected, atol=1e-6)
    for index, method in enumerate(found.methods):
        ends = np.nanmean(found.at_end[index], axis=(0, 1))
        np.testing.assert_allclose(ends, found.within[index, found.episode_ends - 1], atol=1e-6)
        members = len(fitted.answers[method, 0, "", "first"])
        assert members == (4 if method == "lambda-returns" else 1)
        there = ~np.isnan(found.at_end[index]).any(axis=(0, 2, 3))
        assert there.tolist() == [True] * members + [False] * (4 - members)


@pytest.mark.usefixtures("one_thread")
def test_points_are_those_of_the_episodes_unless_given(fitted):
    """Six frames are five steps."""
    found = fitted.chance_table(ramps(), subset="first")
    assert found.num_steps.tolist() == chance_points(5).tolist()


@pytest.mark.usefixtures("one_thread")
def test_held_out_chances_come_from_networks_that_never_saw_the_episode(fitted):
    folds = (
        Fold("first", np.arange(4), np.arange(4, 8)),
        Fold("second", np.arange(4, 8), np.arange(4)),
    )
    points = np.array([0, 2, 15])
    found = held_out_chances(fitted, ramps(), folds, points, "cpu")
    by_first, by_second = (
        fitted.chance_table(ramps(), points, subset=name) for name in ("first", "second")
    )
    np.testing.assert_allclose(found.within[:, 24:], by_first.within[:, 24:], atol=1e-6)
    np.testing.assert_allclose(found.within[:, :24], by_second.within[:, :24], atol=1e-6)
    np.testing.assert_allclose(found.at_end[..., :4, :], by_second.at_end[..., :4, :], atol=1e-6)
    assert np.abs(by_first.within - by_second.within).max() > 1e-4


def test_fewer_networks_leave_room():
    first = table([[[0.0, 0.4, 0.8]] * 3], lengths=(1, 2))
    ends = np.full((1, 1, 2, 1, 3), 0.5)
    part = table([[[0.5, 0.5, 0.5]] * 2], at_end=ends, lengths=(2,))
    found = put_together(first, [(np.array([1]), part)])
    assert found.within[0, :, 0].tolist() == [0.0, 0.5, 0.5]
    assert found.at_end[0, 0, :, 1].tolist() == [[0.5] * 3] * 2
    assert np.isnan(found.at_end[0, 0, 1, 0]).all()


# ---- on disk ------------------------------------------------------------------------------------


def stored(path):
    ends = np.array(
        [
            [[[[0.0, 0.4, 0.8], [0.0, 1.0, 1.0]], [[0.2, 0.2, 0.6], [np.nan] * 3]]],
            [[[[0.1, 0.1, 0.1], [0.2, 0.2, 0.2]], [[np.nan] * 3] * 2]],
        ]
    )
    within = np.sort(np.random.default_rng(0).random((2, 3, 3)), axis=-1)
    found = table(within, at_end=ends, lengths=(1, 2), methods=("a", "b"))
    found.write(path)
    return found


def test_what_is_written_is_read_back(tmp_path):
    found = stored(tmp_path / "chances.parquet")
    again = read_chances(tmp_path / "chances.parquet")
    assert (again.methods, again.episode_ids, again.episode_tasks) == (
        found.methods,
        found.episode_ids,
        found.episode_tasks,
    )
    for name in ("episode_ends", "num_steps", "within", "at_end"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))


def test_other_programs_find_a_row_per_method_and_frame(tmp_path):
    found = stored(tmp_path / "chances.parquet")
    rows = pq.read_table(tmp_path / "chances.parquet").to_pylist()
    assert len(rows) == 6
    assert list(rows[0]) == [
        *("method", "task", "episode", "frame", "within_0", "within_2", "ever", "at_end")
    ]
    assert [(row["method"], row["episode"], row["frame"]) for row in rows[:4]] == [
        *(("a", "0", 0), ("a", "1", 0), ("a", "1", 1), ("b", "0", 0))
    ]
    assert rows[2]["ever"] == found.within[0, 2, 2]
    assert [len(row["at_end"]) for row in rows] == [6, 0, 6, 6, 0, 6]
    assert rows[3]["at_end"][:3] == pytest.approx([0.1, 0.1, 0.1])


def test_the_same_table_is_the_same_file(tmp_path):
    for name in ("one", "two"):
        stored(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_what_is_no_table_of_chances_is_named(tmp_path):
    path = tmp_path / "chances.parquet"
    for spoil in (
        lambda: None,
        lambda: path.write_bytes(b"no parquet"),
        lambda: pq.write_table(pa.table({"method": ["a"]}), path),
        lambda: pq.write_table(stored(path).to_arrow().slice(0, 0), path),
        lambda: pq.write_table(stored(path).to_arrow().slice(0, 5), path),
        lambda: pq.write_table(stored(path).to_arrow().replace_schema_metadata({}), path),
    ):
        spoil()
        with pytest.raises(GoalwardError, match=r"chances.parquet: (is no table of|no such file)"):
            read_chances(path)


def test_a_file_with_a_chance_that_is_none_is_refused(tmp_path):
    found = stored(tmp_path / "chances.parquet")
    found = replace(found, within=found.within.copy())
    found.within[0, 0, 1] = 7
    found.write(tmp_path / "chances.parquet")
    with pytest.raises(GoalwardError, match="a chance lies between 0 and 1"):
        read_chances(tmp_path / "chances.parquet")

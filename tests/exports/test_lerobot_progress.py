"""sarm_progress.parquet, read back as LeRobot's RA-BC and the data set visualizer describe it."""

import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goalward
from exports.conftest import EPISODES, told, told_run, write_data
from goalward.errors import GoalwardError


def export(run_folder, *, out=None, **options):
    """In place, unless it is said where."""
    return goalward.export(run_folder, "lerobot-progress", out=out, in_place=out is None, **options)


# ---- the rules of the readers, from their description -------------------------------------------


def rabc_weights(path, batch, *, chunk_size, head_mode="sparse", kappa=0.01, epsilon=1e-6):
    """delta = progress[index + chunk] - progress[index], no further than the episode's last row;

    1 above kappa, 0 below 0, between them where the delta lies within mean +- 2 sd; 1 where there
    is no delta.
    """
    rows = pq.read_table(path).to_pylist()
    progress = {
        r["index"]: r[f"progress_{head_mode}"] for r in rows if not np.isnan(r["progress_sparse"])
    }
    episode = {r["index"]: r["episode_index"] for r in rows}
    last = {}
    for index, number in episode.items():
        last[number] = max(last.get(number, index), index)

    def delta(index):
        if index not in progress:
            return np.nan
        ahead = min(index + chunk_size, last[episode[index]])
        return progress[ahead] - progress[index] if ahead in progress else np.nan

    deltas = np.array([delta(index) for index in progress])
    mean, sd = max(deltas.mean(), 0.0), max(deltas.std(), epsilon)
    weights = []
    for index in batch:
        found = delta(index)
        soft = np.clip((found - (mean - 2 * sd)) / (4 * sd + epsilon), 0, 1)
        if np.isnan(found):
            weights.append(1.0)
        else:
            weights.append(1.0 if found > kappa else 0.0 if found < 0 else float(soft))
    return weights


def visualizer_series(path, episode):
    """Rows of the episode; progress_sparse, _dense, progress, then other progress_* by name: the
    first column with a finite number; points ordered by index."""
    rows = [r for r in pq.read_table(path).to_pylist() if r["episode_index"] == episode]
    if not rows:
        return None
    preferred = [c for c in ("progress_sparse", "progress_dense", "progress") if c in rows[0]]
    more = sorted(c for c in rows[0] if c.startswith("progress_") and c not in preferred)
    for column in [*preferred, *more]:
        if any(np.isfinite(r[column]) for r in rows):
            points = sorted((r["index"], r[column]) for r in rows if np.isfinite(r[column]))
            return column, [value for _, value in points]
    return None


# ---- what is written ----------------------------------------------------------------------------


def test_columns_order_and_types_are_lerobots(run_folder, tmp_path):
    path = export(run_folder, out=tmp_path / "p.parquet").path
    schema = pq.read_schema(path)
    assert [(field.name, field.type) for field in schema] == [
        ("index", pa.int64()),
        ("episode_index", pa.int64()),
        ("frame_index", pa.int64()),
        ("progress_sparse", pa.float32()),
    ]
    # LeRobot would take a reward model from here, and load it.
    assert b"reward_model_path" not in schema.metadata
    assert pq.read_table(path)["progress_sparse"].null_count == 0


def test_progress_is_the_discount_to_the_steps_to_go(run_folder, tmp_path):
    table = pq.read_table(export(run_folder, out=tmp_path / "p.parquet").path)
    assert table["index"].to_pylist() == [*range(11), *range(14, 18)]
    assert table["episode_index"].to_pylist() == [0] * 6 + [1] * 5 + [3] * 4
    assert table["frame_index"].to_pylist() == [*range(6), *range(5), *range(4)]
    half = [4, 4, 3, 1, 1, 0, 4, 2, 5, np.inf, 3, 3, 3, 8, 8]
    assert table["progress_sparse"].to_pylist() == [0.5**k for k in half]


def test_in_steps_it_falls_evenly_and_stops_at_the_time_limit(run_folder, tmp_path):
    table = pq.read_table(export(run_folder, out=tmp_path / "p.parquet", scale="steps").path)
    # The longest episode took 5 steps.
    wanted = np.array([1, 1, 2, 4, 4, 5, 1, 3, 0, 0, 2, 2, 2, 0, 0]) / 5
    assert table["progress_sparse"].to_pylist() == pytest.approx(wanted, abs=1e-6)


def test_seeds_are_averaged_in_value_so_that_one_never_is_not_all(run_folder, tmp_path):
    table = pq.read_table(export(run_folder, out=tmp_path / "p.parquet", method="mc").path)
    assert table["progress_sparse"].to_pylist()[:3] == [0.5**5 / 2, 0.5**5 / 2, 0.5**4 / 2]


def test_rabc_finds_setbacks_and_progress_in_it(run_folder, tmp_path):
    path = export(run_folder, out=tmp_path / "p.parquet").path
    # Episode 1: 1/16, 1/4, 1/32, 0, 1/8; two ahead or the last frame.
    assert rabc_weights(path, range(6, 10), chunk_size=2) == [0.0, 0.0, 1.0, 1.0]
    # At the end of a time-out the delta is 0, and the weight is soft.
    assert 0 < rabc_weights(path, [10], chunk_size=2)[0] < 1
    # An episode that was left out has RA-BC's fallback.
    assert rabc_weights(path, [11, 12, 13], chunk_size=2) == [1.0, 1.0, 1.0]


def test_the_visualizer_draws_each_episode_that_has_values(run_folder, data):
    path = export(run_folder).path
    assert path == data / "sarm_progress.parquet"
    column, curve = visualizer_series(path, 1)
    assert column == "progress_sparse"
    assert curve == [0.5**4, 0.5**2, 0.5**5, 0.0, 0.5**3]
    assert visualizer_series(path, 2) is None


def test_what_has_no_values_is_told(run_folder, tmp_path):
    written = export(run_folder, out=tmp_path / "p.parquet", episodes=["0"])
    assert pq.read_table(written.path).num_rows == 6
    assert written.notes == (
        "12 frames of 3 episodes of the data set have no values here: "
        "RA-BC gives them the weight 1",
    )


def test_version_2_has_a_file_per_episode(tmp_path):
    data = write_data(tmp_path / "old", version="v2.1")
    run = told_run(tmp_path / "run", data)
    table = pq.read_table(export(run, out=tmp_path / "p.parquet").path)
    assert table["index"].to_pylist() == [*range(11), *range(14, 18)]


def test_the_data_set_may_have_moved(run_folder, data, tmp_path):
    moved = tmp_path / "elsewhere"
    shutil.move(data, moved)
    with pytest.raises(GoalwardError, match="say with data= where it lies now"):
        export(run_folder)
    assert export(run_folder, data=moved).path == moved / "sarm_progress.parquet"


def test_another_data_set_is_refused(run_folder, tmp_path):
    longer = write_data(tmp_path / "longer")
    run = told_run(tmp_path / "other", longer, [told("0", "time_out", None, [3.0, 2.0])])
    with pytest.raises(GoalwardError, match="episode 0 has 6 frames, in .*other it had 2"):
        export(run)
    for name in ("7", "demo_1", "²", "../0"):
        run = told_run(tmp_path / "other", longer, [*EPISODES, told(name, "time_out", None, [1.0])])
        with pytest.raises(GoalwardError, match="these are not the rollouts of that run"):
            export(run)


def test_a_feature_file_or_a_video_folder_is_no_lerobot_data_set(tmp_path):
    (tmp_path / "features.npz").write_bytes(b"")
    for place in (tmp_path / "features.npz", tmp_path):
        run = told_run(tmp_path / "run", place)
        with pytest.raises(GoalwardError, match="is no LeRobot data set. lerobot-progress"):
            export(run)


def test_an_index_that_two_frames_have_is_an_error(run_folder, data):
    path = data / "data" / "chunk-000" / "file-001.parquet"
    table = pq.read_table(path)
    index = table.column_names.index("index")
    pq.write_table(table.set_column(index, "index", pa.array(range(len(table)))), path)
    with pytest.raises(GoalwardError, match="two frames have the index 0"):
        export(run_folder)


def test_a_file_of_another_tool_is_kept(run_folder, data):
    (data / "sarm_progress.parquet").write_bytes(b"from another tool")
    export(run_folder)
    export(run_folder, scale="steps")
    backups = sorted(path.name for path in data.glob("*.bak*"))
    assert backups == ["sarm_progress.parquet.goalward.bak"]
    assert (data / backups[0]).read_bytes() == b"from another tool"
    assert pq.read_table(data / "sarm_progress.parquet").num_rows == 15

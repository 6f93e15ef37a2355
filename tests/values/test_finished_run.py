"""Folders of evaluations, read back: what belongs together, what is missing, what is not theirs."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goalward
from goalward.config import EvaluationConfig, write_toml
from goalward.errors import GoalwardError, RolloutError
from goalward.run_folder import RunFolder
from goalward.values.finished_run import read_run
from goalward.values.table import ValueTable

IDS = ("7", 'quotes " and, commas')
LENGTHS = (5, 3)


@pytest.fixture
def features(tmp_path):
    """A feature file of two episodes: a success and a time-out."""
    path = tmp_path / "features.npz"
    rollouts = goalward.from_arrays(
        features=np.zeros((sum(LENGTHS), 2), dtype=np.float32),
        episode_ends=np.cumsum(LENGTHS),
        success=[True, False],
        ids=list(IDS),
    )
    goalward.write_features(path, rollouts)
    return path


@pytest.fixture
def folder(tmp_path, features):
    """What `goalward evaluate` leaves, as far as it is read back."""
    folder = RunFolder(tmp_path / "run")
    config = EvaluationConfig(methods=("liveness", "td"), seeds=2, overrides={"discount": 0.9})
    write_toml(
        folder.config,
        {"data": {"path": str(features)}, "evaluation": config.as_dict()},
    )
    write_episodes(folder, LENGTHS)
    write_values(folder, IDS, LENGTHS)
    return folder


def write_episodes(folder, lengths):
    folder.episodes.write_text(
        "episode,task,outcome,num_frames,goal_frame,held_out,fold\n"
        f"7,fold,success,{lengths[0]},4,false,\n"
        f'"quotes "" and, commas",fold,time_out,{lengths[1]},,true,all\n'
    )


def write_values(folder, ids, lengths):
    shape = (2, 2, sum(lengths))
    table = ValueTable(
        methods=("liveness", "td"),
        seeds=(0, 1),
        episode_ids=ids,
        episode_tasks=("fold",) * len(ids),
        episode_ends=np.cumsum(lengths),
        value=np.zeros(shape, dtype=np.float32),
        steps_to_goal=np.zeros(shape, dtype=np.float32),
    )
    table.write(folder.values)


def test_a_run_comes_back_with_its_episodes_and_settings(folder):
    run = read_run(folder.path)
    assert [episode.id for episode in run.episodes] == list(IDS)
    success, time_out = run.episodes
    assert (success.outcome, success.goal_frame, success.held_out) == ("success", 4, False)
    assert (time_out.outcome, time_out.goal_frame, time_out.held_out) == ("time_out", None, True)
    assert run.method == "liveness"
    assert run.time_limit == 4
    assert run.discount == 0.9


def test_the_discount_follows_the_clock_where_none_was_set(folder):
    settings = {"evaluation": EvaluationConfig(methods=("liveness",), seeds=2).as_dict()}
    write_toml(folder.config, settings)
    # 1 - 1.75 / horizon, and the longest episode has 4 steps
    assert read_run(folder.path).discount == pytest.approx(1 - 1.75 / 4)


def test_its_rollouts_are_read_again_in_the_order_of_the_run(folder, features):
    assert read_run(folder.path).read_rollouts().ids == IDS
    moved = features.rename(features.with_name("moved.npz"))
    with pytest.raises(GoalwardError, match="features.npz"):
        read_run(folder.path).read_rollouts()
    assert read_run(folder.path).read_rollouts(moved).ids == IDS


def test_rollouts_of_another_run_are_refused(folder):
    write_episodes(folder, (5, 9))
    write_values(folder, IDS, (5, 9))
    with pytest.raises(RolloutError, match="episode quotes .* has 3 frames, in .* it had 9"):
        read_run(folder.path).read_rollouts()
    text = folder.episodes.read_text().replace("\n7,", "\n8,")
    folder.episodes.write_text(text)
    write_values(folder, ("8", IDS[1]), (5, 9))
    with pytest.raises(RolloutError, match="has no episode 8"):
        read_run(folder.path).read_rollouts()


@pytest.mark.parametrize("missing", ["config.toml", "episodes.csv", "values.parquet"])
def test_an_unfinished_run_is_named(folder, missing):
    (folder.path / missing).unlink()
    with pytest.raises(GoalwardError, match=f"run: has no {missing}"):
        read_run(folder.path)


def test_no_folder_at_all(tmp_path):
    with pytest.raises(GoalwardError, match="nowhere: no such folder"):
        read_run(tmp_path / "nowhere")


def test_episodes_and_values_of_different_runs_are_not_mixed(folder):
    write_values(folder, IDS, (5, 4))
    with pytest.raises(GoalwardError, match="not of the same episodes"):
        read_run(folder.path)


@pytest.mark.parametrize(
    "text",
    [
        "episode,task\n7,fold\n",
        "episode,task,outcome,num_frames,goal_frame,held_out\n7,fold,won,5,4,true\n",
        "episode,task,outcome,num_frames,goal_frame,held_out\n7,fold,success,five,4,true\n",
        # a goal after the end, a success without a goal, an episode twice
        "episode,task,outcome,num_frames,goal_frame,held_out\n7,fold,success,5,5,true\n",
        "episode,task,outcome,num_frames,goal_frame,held_out\n7,fold,success,5,,true\n",
        "episode,task,outcome,num_frames,goal_frame,held_out\n" + 2 * "7,fold,success,5,4,true\n",
    ],
)
def test_a_damaged_list_of_episodes_is_named(folder, text):
    folder.episodes.write_text(text)
    with pytest.raises(GoalwardError, match="episodes.csv: is no list of episodes"):
        read_run(folder.path)


def test_settings_of_another_version_are_named(folder):
    write_toml(folder.config, {"evaluation": {"surprise": 1}})
    with pytest.raises(GoalwardError, match="config.toml: .*no setting surprise"):
        read_run(folder.path)


def with_steps(table, steps):
    column = table.schema.get_field_index("steps_to_goal")
    return table.set_column(column, "steps_to_goal", pa.array(steps))


@pytest.mark.parametrize("bad", [np.nan, -1.0])
def test_steps_that_are_none_are_named_with_their_frame(folder, bad):
    table = pq.read_table(folder.values)
    steps = np.zeros(len(table), dtype=np.float32)
    # the second method, its first seed, the second episode, its last frame
    steps[2 * 8 + 7] = bad
    pq.write_table(with_steps(table, steps), folder.values)
    words = f'td, seed 0: episode quotes " and, commas: {bad} steps to go in frame 2'
    with pytest.raises(GoalwardError, match=f"values.parquet: {words}"):
        read_run(folder.path)


@pytest.mark.parametrize(
    "damaged",
    [
        lambda table: table.slice(0, len(table) - 1),
        lambda table: table.slice(0, len(table) // 2 + 1),
        lambda table: table.filter(pa.array(table["frame"].to_numpy() > 0)),
        lambda table: with_steps(table, ["few"] * len(table)),
    ],
    ids=["the last row is gone", "half", "no first frames", "words"],
)
def test_a_damaged_table_of_values_is_named(folder, damaged):
    pq.write_table(damaged(pq.read_table(folder.values)), folder.values)
    with pytest.raises(GoalwardError, match="values.parquet: is no whole table of values"):
        read_run(folder.path)


def test_an_option_of_another_version_is_named(folder, tmp_path):
    settings = {"evaluation": EvaluationConfig(methods=("liveness",), seeds=2).as_dict()}
    write_toml(folder.config, settings | {"reading": {"surprise": 1}})
    with pytest.raises(GoalwardError, match="config.toml: no option surprise to read rollouts by"):
        read_run(folder.path).read_rollouts(tmp_path)


def test_no_two_episodes_share_the_name_of_a_file(folder):
    ids = ("demo_3", "at_2", "../x", "x" * 101)
    rows = "".join(f"{name},fold,time_out,2,,true\n" for name in ids)
    head = "episode,task,outcome,num_frames,goal_frame,held_out\n"
    folder.episodes.write_text(head + rows)
    write_values(folder, ids, (2, 2, 2, 2))
    run = read_run(folder.path)
    names = [run.file_stem(position) for position in range(4)]
    assert names == ["episode_demo_3", "episode_at_1", "episode_at_2", "episode_at_3"]

"""Tables, events and logs to the last byte, and what is said of files that are something else."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from goalward.errors import GoalwardError
from goalward.training.methods.stages import MC
from goalward.training.networks.nets import LossLog
from goalward.training.runs import NetRun
from goalward.values.events import (
    Event,
    EventKind,
    event_course,
    event_words,
    read_events,
    write_events,
)
from goalward.values.table import ValueTable, read_values
from goalward.values.training_log import (
    LossCurve,
    TrainingLog,
    loss_curve,
    read_training_log,
    write_training_log,
)

LINE_ENDS = "é\r\n2\n3\r4"


def table(num_seeds):
    value = np.arange(num_seeds * 5, dtype=np.float32).reshape(1, num_seeds, 5)
    return ValueTable(
        methods=("mc",),
        seeds=tuple(range(num_seeds)),
        episode_ids=("x", "y"),
        episode_tasks=("", ""),
        episode_ends=np.array([2, 5]),
        raw_value=value,
        steps_to_goal=value,
    )


# ---- tables ----------------------------------------------------------------------------------


def test_one_seed_has_no_spread():
    spread = table(1).spread("mc")
    assert spread.tolist() == [0] * 5
    assert spread.dtype == np.float32


def test_two_seeds_have_one():
    """0 and 5 are 2.5 from their mean: sqrt(2 * 6.25 / 1)."""
    assert table(2).spread("mc") == pytest.approx([12.5**0.5] * 5)


def test_frames_of_the_first_and_of_a_later_episode():
    assert table(1).frames_of("x") == slice(0, 2)
    assert table(1).frames_of("y") == slice(2, 5)


def test_frames_are_counted_in_32_bits():
    schema = table(1).to_arrow().schema
    assert schema.field("frame").type == pa.int32()
    assert schema.field("raw_value").type == schema.field("steps_to_goal").type == pa.float32()


def test_pandas_is_asked_for_by_name(monkeypatch):
    asked = []
    monkeypatch.setattr("goalward.values.table.find_spec", asked.append)
    with pytest.raises(
        GoalwardError, match="^to_pandas needs the package pandas: pip install pandas$"
    ):
        table(1).to_pandas()
    assert asked == ["pandas"]


def test_parquet_that_is_no_table_of_values(tmp_path):
    path = tmp_path / "values.parquet"
    pq.write_table(pa.table({"method": ["mc"], "seed": [0]}), path)
    missing = "episode, frame, raw_value, steps_to_goal, task"
    with pytest.raises(
        GoalwardError, match=rf"values\.parquet: is no table of values \(no {missing}\)$"
    ):
        read_values(path)
    pq.write_table(table(1).to_arrow().slice(0, 0), path)
    with pytest.raises(GoalwardError, match="is no table of values"):
        read_values(path)


def test_a_table_of_one_episode_survives_the_disk(tmp_path):
    one = table(2)
    one = ValueTable(
        one.methods, one.seeds, ("x",), ("turn",), np.array([5]), one.raw_value, one.raw_value
    )
    one.write(str(tmp_path / "values.parquet"))
    again = read_values(str(tmp_path / "values.parquet"))
    assert (again.episode_ids, again.episode_tasks) == (("x",), ("turn",))
    assert again.episode_ends.tolist() == [5]
    assert (
        pq.read_metadata(tmp_path / "values.parquet").row_group(0).column(0).compression == "ZSTD"
    )


# ---- events ----------------------------------------------------------------------------------


def test_a_ceiling_is_met_to_two_digits_as_steps_are_rounded():
    event = Event(EventKind.SETBACK, 3, 2, 4, 10.0, 66.66, 1.0)
    assert event_words(event, ceiling=66.664) == "setback: 10 to 67 or more steps to go"
    assert event_words(event, ceiling=66.68) == "setback: 10 to 67 steps to go"


def test_a_goal_has_no_course():
    assert event_course(Event(EventKind.GOAL, 3, 3, 3, 0.0, 0.0, 1.0)) == ""


def test_line_ends_in_the_id_of_an_episode_come_back(tmp_path):
    events = {LINE_ENDS: (Event(EventKind.GOAL, 3, 3, 3, 0.0, 0.0, 1.0),)}
    write_events(tmp_path / "events.csv", events)
    assert read_events(tmp_path / "events.csv") == events


def test_columns_that_events_lack_are_named(tmp_path):
    (tmp_path / "events.csv").write_text("episode,kind,frame,start,end,steps_before\n")
    with pytest.raises(
        GoalwardError, match=r"is no list of events \(no column agreement, steps_after\)$"
    ):
        read_events(tmp_path / "events.csv")


# ---- logs ------------------------------------------------------------------------------------

LOG = LossLog(
    steps=torch.tensor([5, 10]),
    loss=torch.tensor([[9.0, 9.0], [0.1, 0.2]]),
    held_out_loss=torch.tensor([[8.0, 8.0], [0.3, 0.4]]),
)


def test_a_curve_is_that_of_the_run_at_its_position():
    run = NetRun(MC, seed=4, episodes=(0, 2, 5), held_out=(7,), fold=0)
    assert loss_curve(run, "turn", "half", LOG, 1) == LossCurve(
        stage="mc",
        seed=4,
        task="turn",
        subset="half",
        fold=0,
        num_episodes=3,
        steps=(5, 10),
        loss=(0.1, 0.2),
        held_out_loss=(0.3, 0.4),
    )


def test_without_folds_and_held_out_episodes_there_are_none():
    curve = loss_curve(NetRun(MC, seed=4, episodes=(0, 2)), "", "", LOG, 0)
    assert (curve.fold, curve.held_out_loss, curve.loss) == (None, None, (9.0, 9.0))


def test_a_log_is_written_with_plain_line_ends_and_comes_back(tmp_path):
    log = TrainingLog((LossCurve("mc", 0, LINE_ENDS, "", 2, 8, (10, 20), (0.5, 0.25), None),))
    write_training_log(tmp_path / "log.csv", log)
    network = 'mc,0,"é\r\n2\n3\r4",,2,8,'
    assert (tmp_path / "log.csv").read_bytes().decode() == (
        "stage,seed,task,subset,fold,num_episodes,step,loss,held_out_loss\n"
        f"{network}10,0.5,\n{network}20,0.25,\n"
    )
    assert read_training_log(tmp_path / "log.csv") == log


def test_columns_that_a_log_lacks_are_named(tmp_path):
    (tmp_path / "log.csv").write_text("stage,seed,task,subset,fold,num_episodes,step\n")
    with pytest.raises(
        GoalwardError, match=r"is no training log \(no column held_out_loss, loss\)$"
    ):
        read_training_log(tmp_path / "log.csv")

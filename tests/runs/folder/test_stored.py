"""Folders of runs, read back: what belongs together, what is missing, what is not theirs."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

import goalward
from goalward.config import read_toml, toml_text
from goalward.errors import GoalwardError, RolloutError
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.rollouts.episode import Outcome
from goalward.runs.folder.codec import encoded
from goalward.runs.folder.stored import open_run, write_run
from goalward.runs.settings import RunData
from goalward.values.hindsight import DecayError, HindsightChoice

IDS = ("7", 'quotes " and, commas')
LENGTHS = (5, 3)


@pytest.fixture
def features(tmp_path):
    """A feature file of two episodes: a success and a time-out."""
    return write_features(tmp_path, IDS, LENGTHS)


def write_features(tmp_path, ids, lengths):
    path = tmp_path / "features.npz"
    rollouts = goalward.from_arrays(
        features=np.zeros((sum(lengths), 2), dtype=np.float32),
        episode_ends=np.cumsum(lengths),
        success=[True, False],
        ids=list(ids),
    )
    goalward.write_features(path, rollouts)
    return path


def run_of(folder, features, ids=IDS, lengths=LENGTHS, **options):
    episodes = [
        drawn_episode(ids[0], lengths[0], outcome=Outcome.SUCCESS),
        *(drawn_episode(*one) for one in zip(ids[1:], lengths[1:], strict=True)),
    ]
    steps = {method: [countdown(n) for n in lengths] for method in ("liveness", "td")}
    data = RunData(path=str(features))
    learned = ids[:1] if "truth" not in options else ()
    run, _ = drawn_run(episodes, steps, folder, learned_from=learned, data=data, **options)
    return run


@pytest.fixture
def folder(tmp_path, features):
    """What `goalward evaluate` leaves, as far as it is read back."""
    run = run_of(tmp_path / "run", features, overrides={"discount": 0.9})
    write_run(run)
    return run.folder


def test_a_run_comes_back_as_it_was(tmp_path, features):
    truth = FrameTruth(IDS, np.array([1, 2]), np.array([[3.0, np.inf], [np.inf, np.nan]]), cap=9)
    run = run_of(tmp_path / "run", features, truth=truth, reading={"cameras": ["front"]})
    write_run(run)
    again = goalward.open_run(tmp_path / "run")
    assert again.episodes == run.episodes
    assert again.events == run.events
    assert encoded(again.settings) == encoded(run.settings)
    assert encoded(again.results) == encoded(run.results)
    assert again.truth is not None
    np.testing.assert_array_equal(again.truth.known.truth.steps, truth.steps)
    np.testing.assert_array_equal(again.values.steps_to_goal, run.values.steps_to_goal)
    np.testing.assert_array_equal(again.chances.within, run.chances.within)
    np.testing.assert_array_equal(again.chances.at_end, run.chances.at_end)
    assert again.summary() == run.summary()


@pytest.mark.parametrize("other", [{"methods": ("td", "liveness")}, {"episode_ids": ("8", "9")}])
def test_chances_of_something_else_are_refused(folder, other):
    chances = open_run(folder.path).chances
    replace(chances, **other).write(folder.chances)
    words = "values.parquet and chances.parquet are not of the same methods and episodes; run `goal"
    with pytest.raises(GoalwardError, match=words):
        open_run(folder.path)


def test_a_run_knows_its_episodes_and_its_scale(folder):
    run = open_run(folder.path)
    assert [episode.id for episode in run.episodes] == list(IDS)
    success, time_out = run.episodes
    assert (success.outcome, success.goal_frame, success.held_out) == ("success", 4, False)
    assert (time_out.outcome, time_out.goal_frame, time_out.held_out) == ("time_out", None, True)
    assert run.method == "liveness"
    assert run.time_limit == 4
    assert run.discount == 0.9
    assert run.frames_of(1) == slice(5, 8)
    assert run.position(IDS[1]) == 1
    with pytest.raises(GoalwardError, match='no episode 8; there are: 7, quotes " and, commas'):
        run.episode("8")


def test_the_discount_follows_the_clock_where_none_was_set(tmp_path, features):
    # 1 - 1.75 / horizon, and the longest episode has 4 steps
    assert run_of(tmp_path, features).discount == pytest.approx(1 - 1.75 / 4)


def test_its_rollouts_are_read_again_in_the_order_of_the_run(folder, features):
    assert open_run(folder.path).read_rollouts().ids == IDS
    moved = features.rename(features.with_name("moved.npz"))
    with pytest.raises(GoalwardError, match="features.npz"):
        open_run(folder.path).read_rollouts()
    assert open_run(folder.path).read_rollouts(moved).ids == IDS


def test_rollouts_of_another_run_are_refused(tmp_path, features):
    longer = run_of(tmp_path / "run", features, lengths=(5, 9))
    with pytest.raises(RolloutError, match="episode quotes .* has 3 frames, in .* it had 9"):
        longer.read_rollouts()
    other = run_of(tmp_path / "run", features, ids=("8", IDS[1]))
    with pytest.raises(RolloutError, match="has no episode 8"):
        other.read_rollouts()


def test_rollouts_given_in_memory_cannot_be_found_again(tmp_path):
    with pytest.raises(GoalwardError, match="given in memory; say with data= where they lie"):
        run_of(tmp_path / "run", "").read_rollouts()


@pytest.mark.parametrize(
    "missing", ["episodes.csv", "values.parquet", "chances.parquet", "events.csv", "scores.json"]
)
def test_half_a_run_says_how_to_finish_it(folder, missing):
    (folder.path / missing).unlink()
    again = "run `goalward evaluate rollouts --out run` again goes on where it stopped"
    with pytest.raises(GoalwardError, match=f"is not finished .it has no {missing} yet.; {again}"):
        open_run(folder.path)


def test_what_is_no_run_is_told_in_a_sentence(tmp_path):
    with pytest.raises(GoalwardError, match="nowhere: no such folder"):
        open_run(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(GoalwardError, match="file: is a file, not a folder"):
        open_run(tmp_path / "file")
    with pytest.raises(GoalwardError, match="is no folder of `goalward evaluate`"):
        open_run(tmp_path)


def with_format(folder, number):
    settings = read_toml(folder.config) | {"format": number}
    settings["made_by"]["goalward"] = "9.8"
    folder.config.write_text(toml_text(settings))


def test_a_run_of_a_newer_version(folder):
    with_format(folder, 99)
    with pytest.raises(GoalwardError, match=r"by a newer goalward \(9.8\); update this one"):
        open_run(folder.path)


def test_a_run_of_an_older_version(folder):
    with_format(folder, 1)
    with pytest.raises(GoalwardError, match="was written by goalward 9.8, whose files this"):
        open_run(folder.path)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("scores", "num_seeds"), "two", "scores.num_seeds: wanted a whole number, got 'two'"),
        (("scores", "surprise"), 1, "scores: no field is called surprise"),
        (("scores", "policy"), {}, "scores.policy.success: is missing"),
        (("format",), 3, "has the format 3"),
    ],
)
def test_damaged_results_are_named_with_their_place(folder, place, value, words):
    content = json.loads(folder.scores.read_text())
    inner = content
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    folder.scores.write_text(json.dumps(content))
    with pytest.raises(GoalwardError, match=f"scores.json: {words}"):
        open_run(folder.path)


def test_a_score_that_the_run_does_not_have_yet(folder):
    """A newer version may know more scores: the run says so, and not a traceback later."""
    content = json.loads(folder.scores.read_text())
    del content["scores"]["cards"]["td"]["spearman"]
    folder.scores.write_text(json.dumps(content))
    with pytest.raises(GoalwardError, match="scores.json: td has no spearman; run `goalward ev"):
        open_run(folder.path)


@pytest.mark.parametrize("text", ["[]", "null", "", "{", '"x"'])
def test_results_that_are_none(folder, text):
    folder.scores.write_text(text)
    with pytest.raises(GoalwardError, match="scores.json: "):
        open_run(folder.path)


def test_episodes_and_values_of_different_runs_are_not_mixed(folder, features):
    run_of(folder.path, features, lengths=(5, 4)).values.write(folder.values)
    with pytest.raises(GoalwardError, match="not of the same episodes"):
        open_run(folder.path)


@pytest.mark.parametrize(
    "text",
    [
        "episode,task\n7,fold\n",
        "episode,task,outcome,num_frames,goal_frame,held_out,fold\n7,fold,won,5,4,true,x\n",
        "episode,task,outcome,num_frames,goal_frame,held_out,fold\n7,fold,success,five,4,true,x\n",
        # a goal after the end, a success without a goal, an episode twice
        "episode,task,outcome,num_frames,goal_frame,held_out,fold\n7,fold,success,5,5,true,x\n",
        "episode,task,outcome,num_frames,goal_frame,held_out,fold\n7,fold,success,5,,true,x\n",
        "episode,task,outcome,num_frames,goal_frame,held_out,fold\n"
        + 2 * "7,fold,success,5,4,true,x\n",
        "episode,task,outcome,num_frames,goal_frame,fps,held_out,fold\n7,fold,success,5,4,0,true,x\n",
    ],
)
def test_a_damaged_list_of_episodes_is_named(folder, text):
    folder.episodes.write_text(text)
    with pytest.raises(GoalwardError, match="episodes.csv: is no list of episodes"):
        open_run(folder.path)


def test_frames_per_second_are_kept_and_older_folders_have_none(folder, features):
    assert [episode.fps for episode in open_run(folder.path).episodes] == [None, None]
    run = run_of(folder.path, features)
    timed = replace(run, episodes=tuple(replace(e, fps=29.97) for e in run.episodes))
    write_run(timed)
    assert open_run(folder.path).episodes == timed.episodes
    assert timed.episodes[0].seconds == pytest.approx(5 / 29.97)
    rows = [line.split(",") for line in folder.episodes.read_text().splitlines()]
    position = rows[0].index("fps")
    older = ["7,fold,success,5,4,false,", '"quotes "" and, commas",fold,time_out,3,,true,held out']
    names = [name for i, name in enumerate(rows[0]) if i != position]
    folder.episodes.write_text("\n".join([",".join(names), *older]) + "\n")
    assert open_run(folder.path).episodes == run.episodes


def test_an_unknown_setting_is_named(folder):
    settings = read_toml(folder.config)
    settings["evaluation"]["surprise"] = 1
    folder.config.write_text(toml_text(settings))
    with pytest.raises(GoalwardError, match="config.toml: evaluation: no field is called surprise"):
        open_run(folder.path)


def spoil(path, table):
    """Another table, without the checksum that the file had, as versions before it wrote."""
    pq.write_table(table.replace_schema_metadata(None), path)


def with_steps(table, steps):
    column = table.schema.get_field_index("steps_to_goal")
    return table.set_column(column, "steps_to_goal", pa.array(steps))


@pytest.mark.parametrize("bad", [np.nan, -1.0])
def test_steps_that_are_none_are_named_with_their_frame(folder, bad):
    table = pq.read_table(folder.values)
    steps = np.zeros(len(table), dtype=np.float32)
    # the second method, its first seed, the second episode, its last frame
    steps[2 * 8 + 7] = bad
    spoil(folder.values, with_steps(table, steps))
    words = f'td, seed 0: episode quotes " and, commas: {bad} steps to go in frame 2'
    with pytest.raises(GoalwardError, match=f"values.parquet: {words}"):
        open_run(folder.path)


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
    spoil(folder.values, damaged(pq.read_table(folder.values)))
    with pytest.raises(GoalwardError, match="values.parquet: is no whole table of values"):
        open_run(folder.path)


@pytest.mark.parametrize("missing", ["value", "hindsight_value"])
def test_a_run_from_before_hindsight_says_how_it_gets_it(folder, missing):
    spoil(folder.values, pq.read_table(folder.values).drop_columns([missing]))
    words = (
        "values.parquet: has no column value or hindsight_value, as earlier versions wrote none; "
        "run `goalward evaluate rollouts --out run` again"
    )
    with pytest.raises(GoalwardError, match=words):
        open_run(folder.path)


def test_how_hindsight_was_chosen_comes_back(tmp_path, features):
    run = run_of(tmp_path / "run", features)
    errors = (DecayError(0.0, 0.25), DecayError(1.0, 0.125))
    chosen = HindsightChoice(1.0, "chosen by the data", 6, 14, errors)
    write_run(replace(run, results=replace(run.results, hindsight=chosen)))
    again = open_run(tmp_path / "run")
    assert again.hindsight == chosen
    np.testing.assert_array_equal(again.values.value, run.values.value)
    np.testing.assert_array_equal(again.values.hindsight_value, run.values.hindsight_value)


def test_an_option_of_another_version_is_named(tmp_path, features):
    run = run_of(tmp_path / "run", features, reading={"surprise": 1})
    with pytest.raises(GoalwardError, match="config.toml: no option surprise to read rollouts by"):
        run.read_rollouts(tmp_path)


def test_no_two_episodes_share_the_name_of_a_file(tmp_path):
    ids = ("demo_3", "at_2", "../x", "x" * 101)
    run = run_of(tmp_path / "run", "", ids=ids, lengths=(2, 2, 2, 2))
    names = [run.file_stem(position) for position in range(4)]
    assert names == ["episode_demo_3", "episode_at_1", "episode_at_2", "episode_at_3"]

"""A run in memory: its events by any method, its curves, what it hands on."""

import numpy as np
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run
from rollout_files.lerobot import make_episode, write_lerobot

import goalward
from goalward.errors import GoalwardError
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.rollouts.episode import Outcome
from goalward.runs.curves import Curves
from goalward.runs.folder.stored import open_run, write_run
from goalward.runs.settings import RunData
from goalward.values.events import EventKind


def run_of(steps, tmp_path, goals=(100, None)):
    """A run of two episodes of equal length with methods `good` and `blind`."""
    num_frames = steps.shape[1] // 2
    outcomes = [Outcome.TIME_OUT if goal is None else Outcome.SUCCESS for goal in goals]
    episodes = [
        drawn_episode(name, num_frames, outcome=outcome)
        for name, outcome in zip("ab", outcomes, strict=True)
    ]
    parts = [steps[:, :num_frames], steps[:, num_frames:]]
    drawn = {"good": parts, "blind": [np.full_like(part, 50.0) for part in parts]}
    return drawn_run(episodes, drawn, tmp_path)[0]


@pytest.fixture
def run(tmp_path):
    calm = np.arange(100.0, -1, -1)
    slip = np.concatenate([np.arange(100.0, 40, -1), np.full(41, 100.0)])
    return run_of(np.concatenate([calm, slip])[None], tmp_path)


def test_events_are_those_of_the_speaking_method(run):
    assert list(run.events) == ["a", "b"]
    assert [event.kind for event in run.events["a"]] == [EventKind.GOAL]
    assert [(event.kind, event.frame) for event in run.events["b"]] == [
        (EventKind.SETBACK, 60),
        (EventKind.STALL, 60),
        (EventKind.NO_RETURN, 60),
    ]
    assert run.events_by("good") is run.events


def test_another_method_may_be_asked(run):
    assert [event.kind for event in run.events_by("blind")["b"]] == [EventKind.STALL]
    with pytest.raises(GoalwardError, match="no method 'td'"):
        run.events_by("td")


def test_events_are_found_in_what_could_be_said_at_the_time_or_in_hindsight(tmp_path):
    """The value fears for a while what never came: hindsight knows better."""
    steps = np.arange(100.0)[::-1].copy()
    steps[40:55] = 99.0
    episodes = [drawn_episode("a", 100, outcome=Outcome.SUCCESS)]
    run, _ = drawn_run(episodes, {"good": [steps[None]]}, tmp_path, hindsight=1.0)
    assert run.events_by(of="value") is run.events
    assert [(event.kind, event.frame) for event in run.events["a"]] == [
        (EventKind.SETBACK, 40),
        (EventKind.RECOVERY, 55),
        (EventKind.GOAL, 99),
    ]
    # What to watch first is told by the value too.
    assert [watch.frame for watch in run.scores.policy.watch_first] == [40]
    in_hindsight = run.events_by(of="hindsight")["a"]
    assert [event.kind for event in in_hindsight] == [EventKind.GOAL]
    with pytest.raises(GoalwardError, match="of hindsight or of value, not of 'steps'"):
        run.events_by(of="steps")


def test_a_near_miss_is_one_at_the_time(tmp_path):
    """For a while the value believed to be there; the clock ran out 60 steps away.

    In hindsight it never was: the recording would hide what is worth watching.
    """
    steps = np.full((1, 100), 60.0)
    steps[:, 40:55] = 5.0
    episodes = [drawn_episode("a", 100), drawn_episode("b", 200, outcome=Outcome.SUCCESS)]
    drawn = {"good": [steps, np.arange(200.0)[None, ::-1]]}
    run, _ = drawn_run(episodes, drawn, tmp_path, hindsight=1.0)
    told = [watch.reason for watch in run.scores.policy.watch_first]
    assert told == ["setback: 5 to 60 steps to go"]
    kinds = {event.kind for event in run.events_by(of="hindsight")["a"]}
    assert EventKind.SETBACK not in kinds


def test_another_method_has_hindsight_of_its_own(tmp_path):
    steps = np.arange(100.0)[::-1].copy()
    steps[40:55] = 99.0
    episodes = [drawn_episode("a", 100, outcome=Outcome.SUCCESS)]
    drawn = {"good": [np.arange(100.0)[None, ::-1]], "fearful": [steps[None]]}
    run, _ = drawn_run(episodes, drawn, tmp_path, hindsight=1.0)
    kinds = {
        of: [e.kind for e in run.events_by("fearful", of=of)["a"]] for of in ("hindsight", "value")
    }
    assert kinds["hindsight"] == [EventKind.GOAL]
    assert kinds["value"] == [EventKind.SETBACK, EventKind.RECOVERY, EventKind.GOAL]
    assert run.curves("fearful").hindsight_steps == pytest.approx(np.arange(100.0)[::-1], abs=1e-6)
    assert run.curves("fearful").steps == pytest.approx(steps)


def test_nan_names_method_and_episode(tmp_path):
    steps = np.ones((1, 8))
    steps[0, 6] = np.nan
    with pytest.raises(GoalwardError, match="good: episode b: the steps to go of frame 2 are not"):
        run_of(steps, tmp_path, goals=(3, None))


def test_curves_are_on_the_common_scale(run):
    curves = run.curves()
    assert curves.method == "good"
    assert curves.discount == run.discount == pytest.approx(1 - 1.75 / 100)
    assert curves.value[100] == -1
    assert curves.value[0] == pytest.approx(1 - 2 * run.discount**100)
    part = curves.part(run.frames_of(1))
    assert part.steps[60] == pytest.approx(100)
    assert run.curves("blind").steps == pytest.approx(np.full(202, 50.0))


def test_seeds_are_averaged_as_values_not_as_steps():
    """One seed that says never must not make the mean never."""
    # One step to go, and never; in hindsight three steps to go, and the goal.
    curves = Curves("mc", np.array([[0.0], [1.0]]), np.array([[0.75], [-1.0]]), discount=0.5)
    assert curves.value == pytest.approx([0.5])
    assert curves.steps == pytest.approx([2.0])
    assert curves.spread == pytest.approx([np.sqrt(0.5)])
    assert curves.hindsight == pytest.approx([-0.125])
    assert curves.hindsight_steps == pytest.approx([np.log2(16 / 9)])
    assert curves.hindsight_steps_by_seed == pytest.approx(np.array([[3.0], [0.0]]))
    assert curves.hindsight_spread == pytest.approx([1.75 / np.sqrt(2)])
    alone = Curves("mc", np.array([[0.0]]), np.array([[0.5]]), 0.5)
    assert (alone.spread.tolist(), alone.hindsight_spread.tolist()) == ([0.0], [0.0])


def test_a_run_says_what_it_is(run, tmp_path):
    words = f"Run({str(tmp_path)!r}: policy; 2 episodes, 2 held out; good, blind)"
    assert repr(run) == words


def test_a_part_of_a_curve_knows_whose_it_is(run):
    part = run.curves("blind").part(run.frames_of(0))
    assert (part.method, part.discount, part.by_seed.shape) == ("blind", run.discount, (1, 101))
    assert part.hindsight_by_seed.shape == (1, 101)


@pytest.fixture
def filmed(tmp_path):
    """A run of a data set with a camera, in its folder."""
    written = [make_episode(6, True, seed=0), make_episode(5, False, seed=1)]
    root = write_lerobot(tmp_path / "data", written)
    episodes = [drawn_episode("0", 6, outcome=Outcome.SUCCESS), drawn_episode("1", 5)]
    steps = {"good": [np.arange(6.0)[None, ::-1], np.full((1, 5), 9.0)]}
    data = RunData(path=str(root))
    run, _ = drawn_run(episodes, steps, tmp_path / "run", data=data)
    write_run(run)
    return open_run(tmp_path / "run")


def test_the_rollouts_of_a_run_are_found_again(filmed, tmp_path):
    heard = []
    rollouts = filmed.read_rollouts(on_progress=lambda so_far, total: heard.append((so_far, total)))
    assert rollouts.ids == ("0", "1")
    assert len(rollouts.camera_names) > 0
    assert heard
    (tmp_path / "data").rename(tmp_path / "moved")
    with pytest.raises(GoalwardError, match=r"data.*\(data= says where the rollouts lie now\)"):
        filmed.read_rollouts()
    assert filmed.read_rollouts(tmp_path / "moved").ids == ("0", "1")
    with pytest.raises(GoalwardError) as ended:
        filmed.read_rollouts(tmp_path / "nowhere")
    assert "says where" not in str(ended.value)


def test_what_is_true_is_found_beside_the_data_or_where_it_was(filmed, tmp_path):
    assert filmed.read_truth() is None
    truth = FrameTruth(("0",), np.array([2]), np.array([[3.0, 4.0]]), cap=9)
    truth.write(tmp_path / "data" / "truth.parquet")
    assert filmed.read_truth().steps.tolist() == [[3.0, 4.0]]
    (tmp_path / "data").rename(tmp_path / "moved")
    assert filmed.read_truth() is None
    assert filmed.read_truth(tmp_path / "moved").episode_ids == ("0",)


def test_a_truth_that_was_named_is_remembered(tmp_path):
    truth = FrameTruth(("0",), np.array([2]), np.array([[3.0]]), cap=9)
    truth.write(tmp_path / "elsewhere.parquet")
    data = RunData(truth=str(tmp_path / "elsewhere.parquet"))
    steps = {"good": [np.arange(6.0)[None, ::-1]]}
    episode = drawn_episode("0", 6, outcome=Outcome.SUCCESS)
    run, _ = drawn_run([episode], steps, tmp_path / "run", data=data)
    assert run.read_truth().cap == 9


def test_a_run_hands_itself_on(filmed, tmp_path):
    """What is asked of the run is what report and exports hear."""
    page = filmed.report(tmp_path / "pages", videos=False, progress=False)
    assert page == tmp_path / "pages" / "index.html"
    assert not list((tmp_path / "pages").rglob("*.mp4"))
    assert filmed.report(progress=False) == filmed.folder.report / "index.html"
    assert list(filmed.folder.report.rglob("*.mp4"))
    table = filmed.export("csv", out=tmp_path / "one.csv", episodes=["1"], method="good")
    assert table == tmp_path / "one.csv"
    lines = table.read_text().splitlines()
    assert len(lines) == 1 + 5
    assert lines[0].endswith(
        "good_steps_to_go,good_hindsight_value,good_hindsight_steps_to_go,good_chance"
    )
    (tmp_path / "data").rename(tmp_path / "moved")
    progress = filmed.export("lerobot-progress", data=tmp_path / "moved", anyway=True)
    assert progress == filmed.folder.exports / "sarm_progress.parquet"
    with pytest.raises(goalward.GoalwardError, match="no method 'td'"):
        filmed.export("csv", method="td")


def test_harmless_names_are_of_either_case(tmp_path):
    episodes = [drawn_episode("Demo_A", 4), drawn_episode("demo b", 4)]
    steps = {"good": [np.full((1, 4), 9.0)] * 2}
    run, _ = drawn_run(episodes, steps, tmp_path)
    assert [run.file_stem(i) for i in range(2)] == ["episode_Demo_A", "episode_at_1"]


def test_the_table_of_frames_has_the_chance_beside_the_value(tmp_path):
    """Within the standard horizon of 10 steps: of two seeds that are 0 and 1 steps behind."""
    pytest.importorskip("pandas")
    episodes = [drawn_episode("a", 21, outcome=Outcome.SUCCESS), drawn_episode("b", 3)]
    drawn = {
        "good": [countdown(21), countdown(3)],
        "blind": [np.full((2, 21), np.inf), np.full((2, 3), np.inf)],
    }
    run, _ = drawn_run(episodes, drawn, tmp_path, standard_horizon=10)
    table = run.to_pandas()
    assert len(table) == 2 * 2 * 24
    good = table[(table["method"] == "good") & (table["episode"] == "a")]
    for seed in (0, 1):
        chance = good[good["seed"] == seed]["chance"].tolist()
        assert chance == [0.0] * 10 + [0.5] + [1.0] * 10
    assert set(table[table["method"] == "blind"]["chance"]) == {0.0}

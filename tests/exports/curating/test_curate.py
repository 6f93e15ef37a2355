"""`goalward.curate`: which frames stay, what they weigh, and why."""

import shutil

import numpy as np
import pytest

import goalward
from exports.conftest import EPISODES as SMALL
from exports.conftest import INF, told, told_run
from exports.curating.conftest import EPISODES
from goalward.errors import GoalwardError
from goalward.exports.curating.curate import DEFAULT_RULES
from goalward.exports.curating.curation import Decision
from goalward.exports.curating.rules import RULES
from goalward.metrics.trust import Grade, trust_words

FILES = [
    *("checksums.txt", "commands.sh", "effect.csv", "episodes.csv", "stretches.csv"),
    "weights.parquet",
]


def dropped(run_folder, *rules, **more):
    """(episode, first, last) of what these rules drop."""
    found = goalward.curate(run_folder, drop=rules, **more)
    assert {one.rule for one in found.stretches} <= set(rules)
    return [(one.episode, one.first, one.last) for one in found.stretches]


# ---- rules --------------------------------------------------------------------------------------


def test_episodes_without_success_are_dropped_whole(run_folder):
    assert dropped(run_folder, "not-success") == [("2", 0, 120), ("4", 0, 120)]


def test_what_was_filmed_after_the_goal(run_folder):
    assert dropped(run_folder, "after-goal") == [("0", 80, 99)]


def test_a_setback_goes_from_before_its_fall_to_before_its_bottom(run_folder):
    found = dropped(run_folder, "setbacks")
    assert [episode for episode, _, _ in found] == ["1", "4"]
    # The curve is at its best in frame 29 and at its worst in frame 30; smoothing may move both.
    _, first, last = found[0]
    assert 26 <= first <= 29
    assert 28 <= last <= 32


def test_frames_that_came_no_nearer(run_folder):
    found = {episode: span for episode, *span in dropped(run_folder, "stalls")}
    assert set(found) == {"2", "4", "6"}
    assert found["2"] == [0, 120]
    first, last = found["6"]
    assert first == 0
    assert 48 <= last <= 58


def test_a_stall_that_lasts_until_the_goal_stays(run_folder):
    # The goal was reached: it is the value that stood still, and this is how the task ends.
    events = goalward.open_run(run_folder).events["5"]
    assert [str(event.kind) for event in events] == ["stall", "goal"]
    assert "5" not in {episode for episode, _, _ in dropped(run_folder, "stalls", "setbacks")}


def test_from_where_it_last_looked_reachable(run_folder):
    (found,) = dropped(run_folder, "no-return")
    assert found[0] == "4"
    assert 26 <= found[1] <= 30
    assert found[2] == 120


def test_rules_add_up_and_an_episode_says_which_touched_it(run_folder):
    found = goalward.curate(run_folder)
    assert found.rules == ("not-success", "after-goal", "setbacks", "stalls")
    reasons = {one.id: (str(one.decision), one.reasons) for one in found.episodes}
    assert reasons == {
        "0": ("part", ("after-goal",)),
        "1": ("part", ("setbacks",)),
        "2": ("drop", ("not-success", "stalls")),
        "4": ("drop", ("not-success", "setbacks", "stalls")),
        "5": ("keep", ()),
        "6": ("part", ("stalls",)),
    }
    assert found.ids(Decision.DROP) == ("2", "4")
    assert found.ids(Decision.KEEP, Decision.PART) == ("0", "1", "5", "6")


def test_no_rule_touches_what_is_to_be_kept(run_folder):
    found = goalward.curate(run_folder, keep=["2", 0])
    decisions = {one.id: str(one.decision) for one in found.episodes}
    assert (decisions["0"], decisions["2"], decisions["4"]) == ("keep", "keep", "drop")


def test_another_method_sees_other_things(run_folder):
    # mc says never with one of its seeds: no two agree on anything but the recorded goal.
    assert dropped(run_folder, "setbacks", "no-return", method="mc") == []
    with pytest.raises(GoalwardError, match="no method 'mcc'; there are: liveness, mc"):
        goalward.curate(run_folder, method="mcc")


# ---- weights ------------------------------------------------------------------------------------


def test_what_is_kept_counts_alike_and_one_in_the_mean(run_folder):
    found = goalward.curate(run_folder, drop=("not-success", "after-goal"))
    assert found.weights[:100].tolist() == [1.0] * 80 + [0.0] * 20
    assert set(found.weights.tolist()) == {0.0, 1.0}
    assert found.num_kept == 80 + 121 + 41 + 121


def test_nothing_dropped_is_one_everywhere(run_folder):
    assert (goalward.curate(run_folder, drop=()).weights == 1).all()


def test_advantages_weigh_as_advantage_weighted_regression_does(tmp_path):
    run = told_run(tmp_path / "run", None, SMALL)
    found = goalward.curate(run, drop=("not-success",), weigh="advantage")
    # Episode 0, worth w = 0.5^k of 4, 4, 3, 1, 1, 0 steps; hindsight of lambda 0.98 backwards.
    worth = 0.5 ** np.array([4, 4, 3, 1, 1, 0])
    hindsight = worth.copy()
    for t in range(4, -1, -1):
        ahead = 0.02 * worth[t + 1] + 0.98 * hindsight[t + 1]
        hindsight[t] = 0.5 * (1.0 if t == 4 else ahead)
    advantage = hindsight - worth
    raw = np.exp(np.clip((advantage - advantage.mean()) / advantage.std(), -np.log(5), np.log(5)))
    assert found.weights[:6] == pytest.approx(raw / raw.mean())
    assert (found.weights[6:] == 0).all()


def test_unless_rules_are_named_what_is_kept_is_weighed_by_its_advantage(run_folder):
    found = goalward.curate(run_folder)
    assert (found.rules, found.weighed) == (DEFAULT_RULES, "advantage")
    asked = goalward.curate(run_folder, drop=DEFAULT_RULES, weigh="advantage")
    assert found.weights.tolist() == asked.weights.tolist()
    assert len(set(found.weights.tolist())) > 2
    assert goalward.curate(run_folder, weigh="equal").weighed == "equal"
    assert goalward.curate(run_folder, drop=DEFAULT_RULES).weighed == "equal"


def test_no_frame_outweighs_the_rest(run_folder):
    weights = goalward.curate(run_folder, drop=(), weigh="advantage").weights
    assert weights.min() > 0
    assert weights.max() / weights.min() <= 25 + 1e-9
    assert weights.mean() == pytest.approx(1.0)


# ---- the effect ---------------------------------------------------------------------------------


def test_the_effect_is_told_by_task_and_outcome(run_folder):
    found = goalward.curate(run_folder, drop=("not-success", "after-goal"))
    told_rows = {(one.task, str(one.outcome)): one for one in found.effects}
    stacked = told_rows["stack the cubes", "success"]
    assert (stacked.num_episodes, stacked.num_episodes_kept) == (2, 2)
    assert (stacked.num_frames, stacked.num_frames_kept) == (221, 201)
    assert stacked.share_before == pytest.approx(221 / 625)
    assert stacked.share_after == pytest.approx(201 / 363)
    lost = told_rows["pour", "time_out"]
    assert (lost.num_episodes_kept, lost.num_frames_kept, lost.share_after) == (0, 0, 0.0)
    assert sum(one.share_after for one in found.effects) == pytest.approx(1.0)


# ---- what cannot be -----------------------------------------------------------------------------


@pytest.mark.parametrize("grade", [Grade.NONE, Grade.UNKNOWN, Grade.CONTRADICTED])
def test_values_that_nobody_trusts_decide_nothing_unless_told_to(tmp_path, data, grade):
    run = told_run(tmp_path / "run", data, EPISODES, grade=grade)
    for asked in ({}, {"drop": ("stalls",)}, {"drop": (), "weigh": "advantage"}):
        with pytest.raises(GoalwardError, match="What they drop would be chance; anyway=True"):
            goalward.curate(run, **asked)
    assert not (run / "curation").exists()
    # These ask for no values.
    assert goalward.curate(run, drop=("not-success", "after-goal")).notes == ()
    assert goalward.curate(run, anyway=True).notes == (trust_words(goalward.open_run(run).trust),)


def test_weak_values_are_used_with_a_word_and_learned_episodes_too(tmp_path, data):
    learned = [told("0", "success", 79, EPISODES[0].steps["liveness"][0], held_out=False)]
    run = told_run(tmp_path / "run", data, [*learned, *EPISODES[1:]], grade=Grade.WEAK)
    optimistic, weak = goalward.curate(run).notes
    assert optimistic.startswith("1 of 6 episodes were learned from")
    assert weak.startswith("The values are weak")


def test_one_outcome_only(tmp_path):
    failed = told_run(tmp_path / "failed", None, EPISODES[2:4])
    with pytest.raises(GoalwardError, match="drop every frame, as no episode succeeded; name few"):
        goalward.curate(failed)
    assert goalward.curate(failed, drop=("no-return",)).num_kept > 121
    assert goalward.curate(failed, keep=["2"]).num_kept == 121
    good = told_run(tmp_path / "good", None, [EPISODES[0], EPISODES[4]])
    assert goalward.curate(good).num_kept == 80 + 41


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"drop": ("slow",)}, f"drop=: no rule 'slow'; there are {', '.join(RULES)}"),
        ({"weigh": "luck"}, "weigh=: frames are weighed by equal or advantage, not by 'luck'"),
        ({"keep": ["9"]}, "no episode 9; there are: 0, 1, 2, 4, 5 and 1 more"),
        ({"data": "/nowhere"}, "^/nowhere: "),
    ],
)
def test_what_cannot_be_is_told_and_nothing_is_written(run_folder, given, message):
    with pytest.raises(GoalwardError, match=message):
        goalward.curate(run_folder, **given)
    assert not (run_folder / "curation").exists()


def test_a_folder_that_is_no_run(tmp_path):
    with pytest.raises(GoalwardError, match="nowhere"):
        goalward.curate(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


# ---- where it goes ------------------------------------------------------------------------------


def names_in(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_files_lie_in_the_run_or_where_told_and_a_later_curation_replaces_them(
    run_folder, tmp_path
):
    goalward.curate(run_folder)
    assert names_in(run_folder / "curation") == FILES
    before = (run_folder / "curation" / "episodes.csv").read_text()
    goalward.curate(run_folder, drop=())
    assert (run_folder / "curation" / "episodes.csv").read_text() != before
    run = goalward.open_run(run_folder)
    goalward.curate(run, out=tmp_path / "else" / "where")
    assert names_in(tmp_path / "else" / "where") == FILES


@pytest.mark.parametrize("name", FILES)
def test_files_of_others_are_never_replaced(run_folder, tmp_path, name):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / name).write_text("mine")
    with pytest.raises(GoalwardError, match=f"{name}: is there and was not written by curate"):
        goalward.curate(run_folder, out=mine)
    assert (mine / name).read_text() == "mine"
    assert names_in(mine) == [name]


def test_the_runs_own_episodes_are_not_replaced(run_folder):
    before = (run_folder / "episodes.csv").read_bytes()
    with pytest.raises(GoalwardError, match="episodes.csv: is there and was not written by curate"):
        goalward.curate(run_folder, out=run_folder)
    assert (run_folder / "episodes.csv").read_bytes() == before


def test_the_data_set_is_not_written_to(run_folder, data):
    before = sorted(data.rglob("*"))
    for out in (data, data / "meta" / "curation"):
        with pytest.raises(GoalwardError, match="lies in the data set, which is not changed"):
            goalward.curate(run_folder, out=out)
    assert sorted(data.rglob("*")) == before


def test_a_data_set_that_has_moved_is_asked_for(run_folder, data, tmp_path):
    goalward.curate(run_folder)
    weights = (run_folder / "curation" / "weights.parquet").read_bytes()
    shutil.move(data, tmp_path / "moved")
    with pytest.raises(GoalwardError, match="is not there; say with data= where it lies now"):
        goalward.curate(run_folder, drop=())
    assert (run_folder / "curation" / "weights.parquet").read_bytes() == weights
    assert goalward.curate(run_folder, drop=(), data=tmp_path / "moved").num_kept == 625


def test_another_data_set_is_refused(run_folder, tmp_path):
    other = told_run(tmp_path / "other", None, [told("0", "success", 1, [INF, 0.0])])
    data = goalward.open_run(run_folder).data_path()
    with pytest.raises(GoalwardError, match="episode 0 has 100 frames, in .*other it had 2"):
        goalward.curate(other, data=data, anyway=True)

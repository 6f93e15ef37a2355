"""The front door as a stranger uses it: wrong arguments are explained, objects say what they are.

What is wrong is said before anything is written, and by an error that names the argument.
"""

import re

import numpy as np
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

import goalward
from goalward.config import EvaluationConfig
from goalward.rollouts.episode import Outcome
from goalward.runs.folder.stored import write_run


def rollouts():
    ramp = np.linspace(0, 1, 12)[:, None]
    return goalward.from_arrays([ramp, -ramp] * 4, success=[True, False] * 4)


@pytest.fixture
def run(tmp_path):
    episodes = [drawn_episode("3", 5, outcome=Outcome.SUCCESS), drawn_episode("4", 4)]
    drawn = {"good": [countdown(5), np.full((2, 4), 9.0)]}
    made = drawn_run(episodes, drawn, tmp_path / "run")[0]
    write_run(made)
    return made


# ---- evaluate -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"seeds": "3"}, "seeds='3': must be a whole number"),
        ({"seeds": 1.5}, "seeds=1.5: must be a whole number"),
        ({"seeds": True}, "seeds=True: must be a whole number"),
        ({"folds": "2"}, "folds='2': must be a whole number"),
        ({"split_seed": "q"}, "split_seed='q': must be a whole number"),
        ({"split_seed": -1}, "split_seed=-1: must be at least 0"),
        ({"standard_horizon": 3.5}, "standard_horizon=3.5: must be a whole number"),
        ({"test_fraction": "a"}, "test_fraction='a': must be a number"),
        ({"hindsight": "b"}, "hindsight='b': must be a number"),
        ({"policy": 3}, "policy=3: must be a text"),
        ({"per_task": "no"}, "per_task='no': must be true or false"),
        ({"reading": {"label": "x"}}, "reading=: no option 'label'; there are labels, success_key"),
        (
            {"embedding": {"pol": "grid2"}},
            "embedding=: no option 'pol'; there are encoder, cameras",
        ),
    ],
)
def test_a_wrong_argument_is_named_and_leaves_nothing_behind(tmp_path, wrong, said):
    with pytest.raises(goalward.GoalwardError, match=f"^{re.escape(said)}"):
        goalward.evaluate(rollouts(), tmp_path / "run", **wrong)
    assert not (tmp_path / "run").exists()


def test_numbers_of_numpy_are_numbers():
    config = EvaluationConfig(seeds=np.int64(2), test_fraction=np.float32(0.5), hindsight=1)
    assert (config.seeds, config.test_fraction, config.hindsight) == (2, 0.5, 1.0)
    assert [type(x) for x in (config.seeds, config.test_fraction, config.hindsight)] == [
        int,
        float,
        float,
    ]
    assert config.standard_horizon is None


def test_one_file_of_scores_needs_no_list(tmp_path):
    with pytest.raises(goalward.GoalwardError, match=r"sarm\.parquet: no such file"):
        goalward.evaluate(rollouts(), tmp_path / "run", scores=str(tmp_path / "sarm.parquet"))


# ---- a path where rollouts are wanted, a run where a path is -------------------------------------


@pytest.mark.parametrize("function", ["embed", "fit"])
def test_a_path_in_place_of_rollouts_is_told_who_reads_it(function):
    words = rf"goalward\.{function} takes rollouts, not their path: goalward\.read\('mine'\)"
    with pytest.raises(goalward.GoalwardError, match=words):
        getattr(goalward, function)("mine")


def test_seeds_of_a_fit_are_a_number_or_several():
    for wrong in ("a", 1.5, ["x"]):
        with pytest.raises(goalward.GoalwardError, match="say how many, or name them by whole"):
            goalward.fit(rollouts(), seeds=wrong)


def test_who_takes_a_run_takes_its_folder(run):
    folder = run.folder.path
    assert goalward.summary(folder) == goalward.summary(str(folder)) == run.summary()
    assert goalward.write_summary(folder) == goalward.write_summary(run)


def test_an_episode_may_be_named_by_its_number(run):
    assert run.episode(3) is run.episode("3")
    assert run.position(4) == 1
    assert rollouts().episode(7).id == "7"
    with pytest.raises(goalward.GoalwardError, match="no episode 5; there are: 3, 4"):
        run.episode(5)


def test_one_rule_and_one_episode_need_no_list(run, tmp_path):
    out = tmp_path / "curation"
    found = goalward.curate(run, drop="not-success", keep="4", out=out)
    assert found.rules == ("not-success",)
    assert found.ids("keep") == ("3", "4")


def test_comparing_nothing_is_an_error_that_can_be_read():
    with pytest.raises(goalward.GoalwardError, match="^no tables: wanted two policies or more"):
        goalward.compare()


def test_an_unknown_policy_of_a_comparison_is_named(tmp_path):
    (tmp_path / "all.csv").write_text("policy,success\na,1\na,1\nb,0\nb,1\n")
    found = goalward.compare(tmp_path / "all.csv")
    assert found.policy("a").successes == 2
    with pytest.raises(goalward.GoalwardError, match="^no policy 'c'; there are: a, b$"):
        found.policy("c")
    assert repr(found) == "Comparison(a 100 % of 2 (a), b 50 % of 2 (a))"


# ---- what an interpreter shows ------------------------------------------------------------------


def test_objects_say_what_they_are_in_a_line(run):
    assert repr(run.values) == "ValueTable(good; 2 seeds, 2 episodes, 9 frames)"
    assert repr(run.chances).startswith("ChanceTable(good; 2 episodes, 9 frames, up to ")
    assert repr(run.curves()) == "Curves(good; 2 seeds, 9 frames)"
    assert repr(run.scores) == "EvaluationScores(good; seeds: 2, held out: 2)"
    audit = goalward.audit(run, progress=False)
    assert repr(audit).startswith("Audit(")
    assert len(repr(audit)) < 60
    found = goalward.curate(run, drop="not-success")
    assert repr(found) == "Curation(5 of 9 frames kept; dropped by: not-success)"


def test_a_fit_and_its_log_say_what_they_are():
    fitted = goalward.fit(rollouts(), "mc", seeds=2, width=8, num_layers=2, num_steps=4)
    assert repr(fitted) == "Fitted(mc; 2 seeds, networks: 2)"
    assert repr(fitted.log) == "TrainingLog(networks: 2; stages: mc)"


def test_a_plan_is_printed_in_words():
    told = str(goalward.plan(rollouts(), methods="mc", seeds=1, progress=False))
    assert told.startswith("8 episodes: 4 successes, 4 time-outs, 0 failures; 96 frames\n")


def test_steps_may_be_written_with_an_exponent_and_come_from_numpy(tmp_path):
    small = {"num_layers": 2, "num_steps": 1e1, "width": np.int64(8), "batch_size": 16.0}
    goalward.evaluate(rollouts(), tmp_path, methods="mc", seeds=1, report=False, **small)
    kept = goalward.open_run(tmp_path).settings.evaluation.overrides
    assert kept == {"num_layers": 2, "num_steps": 10.0, "width": 8, "batch_size": 16.0}

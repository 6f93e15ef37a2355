"""A finished fit on disk: as it was, or a sentence on why it cannot be had."""

import json

import numpy as np
import pytest
from rollout_files.two_tasks import HALVES, TINY, two_tasks

import goalward
from goalward.run_folder import RunFolder
from goalward.training.methods import Method
from goalward.training.stages import MC
from goalward.values.fit import fit
from goalward.values.fitted import load

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def rollouts():
    return two_tasks()


@pytest.fixture(scope="module")
def fitted(rollouts):
    return fit(rollouts, ("mc", "liveness-nb"), seeds=(3, 5), subsets=HALVES, **TINY)


def test_survives_the_disk(fitted, rollouts, tmp_path):
    fitted.save(tmp_path / "networks")
    # As a folder of networks, or as the run that holds one.
    for folder in (tmp_path / "networks", str(tmp_path)):
        again = load(folder)
        assert again.numbers == fitted.numbers
        assert again.methods == fitted.methods
        assert dict(again.answers) == dict(fitted.answers)
        assert again.log == fitted.log
        for subset in HALVES:
            tables = (one.predict(rollouts, subset=subset) for one in (again, fitted))
            first, second = (table.raw_value for table in tables)
            assert np.array_equal(first, second)
    assert RunFolder(tmp_path).networks == tmp_path / "networks"


def test_the_layout_of_features_survives_the_disk(tmp_path):
    fit(two_tasks(layout="clip of front"), "mc", seeds=1, **TINY).save(str(tmp_path))
    assert load(tmp_path).feature_layout == "clip of front"


def test_what_is_no_finished_fit(fitted, tmp_path):
    with pytest.raises(goalward.GoalwardError, match=r"nowhere: holds no finished fit \(.*No such"):
        load(tmp_path / "nowhere")
    fitted.save(tmp_path)
    facts = json.loads((tmp_path / "run.json").read_text())
    assert facts["version"] == 3
    for version in (1, 4):
        (tmp_path / "run.json").write_text(json.dumps(facts | {"version": version}))
        with pytest.raises(
            goalward.GoalwardError, match="was written by another version of goalward$"
        ):
            load(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(goalward.GoalwardError, match="holds no finished fit"):
        load(tmp_path)


def test_networks_of_an_unknown_method_are_named(fitted, tmp_path):
    fitted.save(tmp_path)
    facts = json.loads((tmp_path / "run.json").read_text())
    facts["answers"][0]["method"] = "mine"
    (tmp_path / "run.json").write_text(json.dumps(facts))
    with pytest.raises(
        goalward.GoalwardError,
        match=r"networks of the method 'mine', which is none of liveness, .*methods=\[\.\.\.\]\)$",
    ):
        load(tmp_path)


def test_a_method_of_ones_own_is_given_again(rollouts, tmp_path):
    mine = Method("mine", (MC,))
    fit(rollouts, mine, seeds=1, **TINY).save(tmp_path)
    assert load(tmp_path, methods=[mine]).fitted_methods == (mine,)
    with pytest.raises(goalward.GoalwardError, match="networks of the method 'mine'"):
        load(tmp_path)


def test_facts_of_version_0_1_0_are_enough(fitted, tmp_path):
    """It knew no steps after training, no layout of features, none of the newer numbers, and
    wrote every answer's run inside it."""
    fitted.save(tmp_path)
    facts = json.loads((tmp_path / "run.json").read_text())
    del facts["after"], facts["feature_layout"]
    stored = facts.pop("runs")
    for place, answer in zip(stored["runs"], facts["answers"], strict=True):
        assert answer.pop("num_runs") == 1
        answer["run"] = stored["known"][place]
    for newer in ("apart", "lags", "max_inputs", "rounds", "decay", "dropout", "input_noise"):
        del facts["hyperparameters"][newer]
    facts["version"] = 2
    (tmp_path / "run.json").write_text(json.dumps(facts))
    again = load(tmp_path)
    assert again.feature_layout == ""
    assert again.methods == fitted.methods
    assert dict(again.answers) == dict(fitted.answers)
    tables = [one.predict(two_tasks(), subset="late") for one in (again, fitted)]
    assert np.array_equal(tables[0].raw_value, tables[1].raw_value)
    assert np.array_equal(tables[0].steps_to_goal, tables[1].steps_to_goal)
    facts["after"] = {"mc": "line", "liveness-nb": "bend"}
    (tmp_path / "run.json").write_text(json.dumps(facts))
    with pytest.raises(
        goalward.GoalwardError,
        match=r"\(mc: line, liveness-nb: bend\) than its methods have now \(none\); fit it again$",
    ):
        load(tmp_path)

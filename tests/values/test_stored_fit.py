"""A finished fit on disk: as it was, or a sentence on why it cannot be had."""

import json
import subprocess
import sys

import numpy as np
import pytest
from rollout_files.two_tasks import HALVES, TINY, two_tasks
from safetensors.numpy import save_file

import goalward
from goalward.run_folder import RunFolder
from goalward.training.methods.stages import MC
from goalward.training.methods.table import Method
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
    with pytest.raises(goalward.GoalwardError, match=r"nowhere: holds no finished fit \(it has no"):
        load(tmp_path / "nowhere")
    fitted.save(tmp_path)
    facts = json.loads((tmp_path / "run.json").read_text())
    assert facts["version"] == 4
    assert facts.pop("checksum")
    for version in (1, 5):
        (tmp_path / "run.json").write_text(json.dumps(facts | {"version": version}))
        with pytest.raises(
            goalward.GoalwardError,
            match="was written by another version of goalward .*; fit it again",
        ):
            load(tmp_path)
    for text in ("{", "", "[]", "null", '{"version": 4}', '{"version": 4, "answers": [3]}'):
        (tmp_path / "run.json").write_text(text)
        with pytest.raises(
            goalward.GoalwardError,
            match=r"run.json: was changed or damaged .*; the command or call that trained them "
            "again trains what is damaged anew",
        ):
            load(tmp_path)


def test_a_bit_that_flipped_in_networks_is_noticed(fitted, tmp_path):
    """At any place: in the header, in a weight, in the checksum itself."""
    fitted.save(tmp_path)
    path = tmp_path / "nets-0.safetensors"
    whole = path.read_bytes()
    for place in (3, 60, whole.index(b"goalward-sha256:") + 20, len(whole) // 2, len(whole) - 1):
        flipped = bytearray(whole)
        flipped[place] ^= 4
        path.write_bytes(flipped)
        with pytest.raises(goalward.GoalwardError, match="nets-0.safetensors: was changed or"):
            load(tmp_path)
    path.write_bytes(whole)
    load(tmp_path)


def test_networks_of_another_training_are_noticed(fitted, rollouts, tmp_path):
    fitted.save(tmp_path / "one")
    other = fit(rollouts, ("mc", "liveness-nb"), seeds=(4, 6), subsets=HALVES, **TINY)
    other.save(tmp_path / "other")
    name = "nets-0.safetensors"
    (tmp_path / "one" / name).write_bytes((tmp_path / "other" / name).read_bytes())
    with pytest.raises(goalward.GoalwardError, match="networks of another training"):
        load(tmp_path / "one")


def test_a_file_with_other_tensors_is_named(fitted, tmp_path):
    fitted.save(tmp_path)
    save_file({"something": np.zeros(3)}, tmp_path / "nets-0.safetensors")
    with pytest.raises(goalward.GoalwardError, match="nets-0.safetensors: .*holds no networks"):
        load(tmp_path)


def test_equal_networks_are_equal_files(fitted, tmp_path):
    """Also by two processes: safetensors orders texts by a hash that differs between them."""
    fitted.save(tmp_path / "one")
    code = f"import goalward; goalward.load({str(tmp_path / 'one')!r}).save({str(tmp_path)!r})"
    for _ in range(3):
        subprocess.run([sys.executable, "-c", code], check=True)
        for path in (tmp_path / "one").iterdir():
            assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_networks_of_an_unknown_method_are_named(fitted, tmp_path):
    fitted.save(tmp_path)
    facts = json.loads((tmp_path / "run.json").read_text())
    facts["answers"][0]["method"] = "mine"
    del facts["checksum"]
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
    del facts["after"], facts["feature_layout"], facts["checksum"]
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

"""A step is done only if its inputs and its files are what they were."""

import json

import numpy as np
import pytest

import goalward
from goalward.runs.making.steps import Steps, data_digest


@pytest.fixture
def finished(tmp_path):
    (tmp_path / "values").write_text("1 2 3")
    Steps(tmp_path / "steps.json").finish("values", "inputs", [tmp_path / "values"])
    return tmp_path


def test_a_finished_step_is_remembered(finished):
    steps = Steps(finished / "steps.json")
    assert steps.is_done("values", "inputs")
    assert not steps.is_done("values", "other inputs")
    assert not steps.is_done("scores", "inputs")


@pytest.mark.parametrize("damage", ["change", "remove", "notes", "empty notes", "wrong notes"])
def test_changed_files_are_made_again(finished, damage):
    if damage == "change":
        (finished / "values").write_text("1 2 4")
    elif damage == "remove":
        (finished / "values").unlink()
    elif damage == "notes":
        (finished / "steps.json").write_text("{")
    elif damage == "empty notes":
        (finished / "steps.json").write_text("")
    else:
        (finished / "steps.json").write_text("[1]")
    assert not Steps(finished / "steps.json").is_done("values", "inputs")


def test_a_step_that_was_begun_is_of_its_inputs_and_not_done(finished):
    steps = Steps(finished / "steps.json")
    assert steps.is_of("values", "inputs")
    steps.begin("values", "other inputs")
    again = Steps(finished / "steps.json")
    assert not again.is_of("values", "inputs")
    assert again.is_of("values", "other inputs")
    assert not again.is_done("values", "other inputs")
    again.forget("values")
    assert not Steps(finished / "steps.json").is_of("values", "other inputs")


def test_damaged_files_do_not_outlive_the_beginning_of_their_step(finished):
    (finished / "other").write_text("4")
    steps = Steps(finished / "steps.json")
    steps.finish("values", "inputs", [finished / "values", finished / "other"])
    (finished / "values").write_text("1 2 4")
    steps.begin("values", "inputs")
    assert not (finished / "values").exists()
    assert (finished / "other").read_text() == "4"


@pytest.mark.parametrize("name", ["../theirs", "/theirs", "a/../../theirs"])
def test_notes_never_name_files_elsewhere(finished, name):
    notes = {"values": {"inputs": "inputs", "files": {name: None}}}
    (finished / "steps.json").write_text(json.dumps(notes))
    steps = Steps(finished / "steps.json")
    assert steps.files("values") == []
    assert not steps.is_done("values", "inputs")


def some_rollouts(**changes):
    features = [np.full((3, 2), 0.5, np.float32), np.full((4, 2), 0.25, np.float32)]
    settings = {"success": [True, False], "ids": ["a", "b"]} | changes
    features[0][1, 1] = settings.pop("number", 0.5)
    return goalward.from_arrays(features, **settings)


@pytest.mark.parametrize(
    "changes",
    [{"number": 0.5001}, {"ids": ["a", "c"]}, {"success": [True, True]}, {"tasks": ["x", "y"]}],
)
def test_the_digest_of_data_sees_every_change(changes):
    same = data_digest(some_rollouts())
    assert data_digest(some_rollouts()) == same
    assert data_digest(some_rollouts(**changes)) != same


def test_the_digest_of_data_sees_what_texts_of_tasks_say():
    rollouts = some_rollouts(tasks=["x", "y"])
    assert rollouts.features is not None
    said = [{"x": (1.0, 0.0), "y": (0.0, 1.0)}, {"x": (1.0, 0.0), "y": (0.5, 1.0)}]
    other = [rollouts.with_features(rollouts.features, task_vectors=vectors) for vectors in said]
    assert len({data_digest(some) for some in (rollouts, *other)}) == 3

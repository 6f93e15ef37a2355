"""Other options or other data in a folder that holds a run: never a mixture of two."""

import json
import logging
from pathlib import Path

import numpy as np
import pytest

import goalward
from goalward.config import read_toml, toml_text
from goalward.errors import GoalwardError, speaking_of_flags
from goalward.runs.making import evaluation as making
from goalward.training import fit as training_loop
from goalward.training.stored.tensor_file import read_tensors, write_tensors

TINY = {"width": 8, "num_layers": 2, "num_steps": 20, "batch_size": 32}
USUAL = {"policy": "ours", "methods": ("liveness", "mc"), "seeds": 1, "standard_horizon": 9}


def rollouts(num_episodes=8):
    """Successes walk from 0 to 1, the others stay; all with some noise."""
    draws = np.random.default_rng(0)
    ramp = np.linspace(0, 1, 10)[:, None]
    success = [i % 2 == 0 for i in range(num_episodes)]
    arrays = [good * ramp + 0.05 * draws.normal(size=(10, 3)) for good in success]
    return goalward.from_arrays([a.astype(np.float32) for a in arrays], success=success)


def evaluate(folder, data=None, **options):
    data = rollouts() if data is None else data
    return goalward.evaluate(data, folder, device="cpu", report=False, **USUAL | TINY | options)


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def trained(caplog):
    """Whether something was trained since this was last asked."""
    told = [record.getMessage() for record in caplog.records]
    caplog.clear()
    return making.STEP_WORDS["networks"] in told


@pytest.fixture(autouse=True)
def listening(caplog):
    caplog.set_level(logging.INFO, "goalward.runs")


@pytest.fixture
def folder(tmp_path):
    """The folder of a finished run."""
    evaluate(tmp_path / "run")
    return tmp_path / "run"


# ---- other options -------------------------------------------------------------------------------


def test_other_options_go_to_the_next_folder_and_the_first_stays_as_it_is(folder, caplog):
    before = contents(folder)
    other = evaluate(folder, seeds=2)
    assert contents(folder) == before
    assert other.folder.path == folder.with_name("run-2")
    assert len(other.values.seeds) == 2
    with_seed = f"{folder} was made with seeds 1, now 2: this goes to {folder}-2; "
    assert with_seed + f"replace=True would make it anew in {folder}" in caplog.messages
    third = evaluate(folder, seeds=2, methods="mc")
    assert third.folder.path == folder.with_name("run-3")
    words = "was made with methods liveness,mc, now mc, seeds 1, now 2: this goes to"
    assert any(line.startswith(f"{folder} {words} {folder}-3") for line in caplog.messages)


def test_the_same_change_again_goes_on_where_it_was(folder, caplog):
    evaluate(folder, seeds=2)
    times = {p: p.stat().st_mtime_ns for p in folder.with_name("run-2").rglob("*.*")}
    assert trained(caplog)
    again = evaluate(folder, seeds=2)
    assert not trained(caplog)
    assert again.folder.path == folder.with_name("run-2")
    times.pop(again.folder.config)
    assert {p: p.stat().st_mtime_ns for p in times} == times
    # The first options are still those of the first folder.
    assert evaluate(folder).folder.path == folder
    assert sorted(p.name for p in folder.parent.iterdir()) == ["run", "run-2"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"width": 16}, "width 8, now 16"),
        ({"hindsight": 0.5}, "hindsight not given, now 0.5"),
        ({"standard_horizon": None}, "standard horizon 9, now not given"),
        (
            {"test_fraction": 0.5, "split_seed": 3},
            "test fraction 0.25, now 0.5, split seed 0, now 3",
        ),
        ({"effort": "quick", "seeds": 1}, "effort normal, now quick"),
        ({"dropout": 0.0}, "dropout not given, now 0.0"),
    ],
)
def test_what_differs_is_named(folder, caplog, options, words):
    evaluate(folder, **options)
    assert any(f"was made with {words}: this goes to" in line for line in caplog.messages)


def test_other_data_go_to_the_next_folder(tmp_path, caplog):
    goalward.write_features(tmp_path / "a.npz", rollouts())
    goalward.write_features(tmp_path / "b.npz", rollouts(10))
    evaluate(tmp_path / "run", tmp_path / "a.npz")
    other = evaluate(tmp_path / "run", tmp_path / "b.npz")
    assert other.folder.path == tmp_path / "run-2"
    told = f"data {tmp_path / 'a.npz'}, now {tmp_path / 'b.npz'}: this goes to"
    assert any(told in line for line in caplog.messages)


def test_options_of_reading_and_embedding_count_and_defaults_do_not(tmp_path, caplog):
    def evaluated(**options):
        return evaluate(tmp_path / "run", "demo", **options).folder.path.name

    usual = {"cameras": ()}
    assert evaluated(reading=usual) == "run"
    assert evaluated(reading=usual | {"strict": False, "match": "time"}) == "run"
    assert evaluated(reading=usual, embedding={"pool": "global", "batch_size": 2}) == "run"
    caplog.clear()
    assert evaluated(reading=usual, embedding={"n_obs_steps": 2}) == "run-2"
    assert any("n_obs_steps not given, now 2" in line for line in caplog.messages)
    assert evaluated(reading=usual | {"horizon": 10_000, "early_failures": True}) == "run-3"


def test_networks_that_would_be_the_same_are_taken_from_the_folder_next_to_it(folder, caplog):
    first = goalward.open_run(folder)
    trained(caplog)
    other = evaluate(folder, hindsight=0.5)
    assert not trained(caplog)
    np.testing.assert_array_equal(other.values.raw_value, first.values.raw_value)
    assert contents(other.folder.networks) == contents(folder / "networks")


def test_another_name_of_the_policy_stays_in_its_folder(folder, caplog):
    trained(caplog)
    assert evaluate(folder, policy="theirs").folder.path == folder
    assert not trained(caplog)
    assert goalward.open_run(folder).policy == "theirs"


def test_folders_that_hold_something_else_are_passed_over(folder):
    folder.with_name("run-2").mkdir()
    (folder.with_name("run-2") / "notes.txt").write_text("mine")
    folder.with_name("run-3").write_text("mine")
    folder.with_name("run-4").mkdir()
    assert evaluate(folder, seeds=2).folder.path == folder.with_name("run-4")


def test_the_current_folder_has_a_name_too(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert evaluate(".").folder.path == Path()
    assert evaluate(".", seeds=2).folder.path == folder.with_name("run-2")


@pytest.mark.parametrize("damage", ["newer", "unreadable"])
def test_a_run_that_cannot_be_understood_stays_as_it_is(folder, caplog, damage):
    newer = toml_text(read_toml(folder / "config.toml") | {"format": 99})
    (folder / "config.toml").write_text(newer if damage == "newer" else "[[[")
    before = contents(folder)
    # Other options than those that are noted beside the settings.
    assert evaluate(folder, seeds=2).folder.path == folder.with_name("run-2")
    assert contents(folder) == before
    words = {
        "newer": "was written by a newer goalward",
        "unreadable": "config.toml was changed or damaged",
    }
    assert any(words[damage] in line for line in caplog.messages)


def test_damaged_settings_are_written_again_where_the_options_are_known(folder, caplog):
    config = (folder / "config.toml").read_bytes()
    for damaged in (config.replace(b"seeds = 1", b"seeds = 3"), config[: len(config) // 2]):
        assert damaged != config
        (folder / "config.toml").write_bytes(damaged)
        with pytest.raises(goalward.GoalwardError, match="config.toml: was changed or damaged"):
            goalward.open_run(folder)
        assert evaluate(folder).folder.path == folder
        assert (folder / "config.toml").read_bytes() == config
        assert any("config.toml" in m and "written again" in m for m in caplog.messages)
        assert not trained(caplog)


# ---- replaced, and all again ---------------------------------------------------------------------


def test_replace_makes_it_anew_in_its_place_and_leaves_what_is_not_ours(folder, tmp_path, caplog):
    (folder / "exports").mkdir()
    (folder / "exports" / "frames.csv").write_text("of the run before")
    for name in ("notes.txt", "networks/notes.txt"):
        (folder / name).write_text("mine")
    run = evaluate(folder, seeds=2, methods="mc", replace=True)
    assert run.folder.path == folder
    assert [p.name for p in tmp_path.iterdir()] == ["run"]
    words = f"{folder} was made with methods liveness,mc, now mc, seeds 1, now 2: it is made anew"
    assert any(line.startswith(words) for line in caplog.messages)
    whole = evaluate(tmp_path / "whole", seeds=2, methods="mc")
    np.testing.assert_array_equal(run.values.raw_value, whole.values.raw_value)
    found, wanted = contents(folder), contents(whole.folder.path)
    assert found.keys() - wanted.keys() == {Path("notes.txt"), Path("networks/notes.txt")}
    assert wanted.keys() <= found.keys()


def test_replace_of_the_same_options_goes_on(folder, caplog):
    evaluate(folder, seeds=2, replace=True)
    trained(caplog)
    evaluate(folder, seeds=2, replace=True)
    assert not trained(caplog)


def test_on_the_command_line_it_is_a_flag(folder, caplog):
    with speaking_of_flags():
        evaluate(folder, seeds=2)
    assert any("; --replace would make it anew in" in line for line in caplog.messages)


def plant(folder):
    """Networks that are whole, and not what training would give; noted as if it had."""
    path = folder / "networks" / "nets-0.safetensors"
    tensors, facts = read_tensors(path)
    write_tensors(path, {name: tensor + 1 for name, tensor in tensors.items()}, facts)
    steps = making.Steps(folder / "steps.json")
    inputs = json.loads((folder / "steps.json").read_text())["networks"]["inputs"]
    steps.finish("networks", inputs, steps.files("networks"))


def test_force_trains_again(folder):
    wanted = goalward.open_run(folder).values.raw_value
    networks = folder / "networks" / "nets-0.safetensors"
    tensors, _ = read_tensors(networks)
    plant(folder)
    (folder / "exports").mkdir()
    (folder / "exports" / "frames.csv").write_text("mine")
    again = evaluate(folder, force=True)
    np.testing.assert_array_equal(again.values.raw_value, wanted)
    for name, tensor in read_tensors(networks)[0].items():
        np.testing.assert_array_equal(tensor, tensors[name])
    assert (folder / "exports" / "frames.csv").read_text() == "mine"


def test_damaged_networks_are_trained_again(folder):
    wanted = goalward.open_run(folder).values.raw_value
    (folder / "values.parquet").unlink()
    path = folder / "networks" / "nets-0.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 64]))
    np.testing.assert_array_equal(evaluate(folder).values.raw_value, wanted)
    path.write_bytes(whole[: len(whole) // 2])
    np.testing.assert_array_equal(evaluate(folder).values.raw_value, wanted)


# ---- the same options, other data ----------------------------------------------------------------


def interrupt(monkeypatch):
    """Ctrl-C in the middle of the second group."""
    train_batch = training_loop.train_batch
    begun = []

    def interrupted(problem, state, *others):
        if not any(problem is known for known in begun):
            begun.append(problem)
        if len(begun) == 2 and int(state["batch"]) == 2:
            raise KeyboardInterrupt
        train_batch(problem, state, *others)

    monkeypatch.setattr(training_loop, "train_batch", interrupted)


def test_stopped_in_training_on_other_data_there_is_no_run_and_then_the_right_one(
    folder, tmp_path, monkeypatch, caplog
):
    more = rollouts(10)
    (folder / "report").mkdir()
    (folder / "report" / "index.html").write_text("of the run before")
    with monkeypatch.context() as patch:
        interrupt(patch)
        with pytest.raises(KeyboardInterrupt):
            evaluate(folder, more)
    # The first group is of the new data; without a mend the second is still of the old.
    assert (folder / "networks" / "nets-0.safetensors").is_file()
    assert not (folder / "networks" / "nets-1.safetensors").exists()
    assert not (folder / "report").exists()
    with pytest.raises(GoalwardError, match="is not finished"):
        goalward.open_run(folder)
    for place in (folder, folder / "networks"):
        with pytest.raises(GoalwardError, match="is not finished"):
            goalward.load(place)
    resumed = evaluate(folder, more)
    assert resumed.folder.path == folder
    whole = evaluate(tmp_path / "whole", more)
    np.testing.assert_array_equal(resumed.values.raw_value, whole.values.raw_value)
    for name in ("scores.json", "summary.md", "outcomes.csv", "episodes.csv", "values.parquet"):
        assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_what_was_trained_before_an_interrupt_is_not_trained_again(folder, monkeypatch):
    more = rollouts(10)
    with monkeypatch.context() as patch:
        interrupt(patch)
        with pytest.raises(KeyboardInterrupt):
            evaluate(folder, more)
    trained_groups = []
    train_group = training_loop._train_group

    def noted(problem, index, *others):
        trained_groups.append(index)
        return train_group(problem, index, *others)

    monkeypatch.setattr(training_loop, "_train_group", noted)
    evaluate(folder, more)
    assert trained_groups == [1]


def test_interrupted_on_other_data_and_back_to_the_first(folder, monkeypatch):
    wanted = goalward.open_run(folder).values.raw_value
    with monkeypatch.context() as patch:
        interrupt(patch)
        with pytest.raises(KeyboardInterrupt):
            evaluate(folder, rollouts(10))
    np.testing.assert_array_equal(evaluate(folder).values.raw_value, wanted)


def test_settings_are_not_those_of_another_run_than_the_results(folder, monkeypatch):
    """Stopped between the two, a renamed policy has no results rather than the old ones."""

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(making, "write_run_settings", interrupted)
        with pytest.raises(KeyboardInterrupt):
            evaluate(folder, policy="theirs")
    with pytest.raises(GoalwardError, match="is not finished"):
        goalward.open_run(folder)
    assert evaluate(folder, policy="theirs").scores.policy.success.count == 4


def test_exports_of_the_values_before_are_named(folder, caplog):
    (folder / "exports").mkdir()
    evaluate(folder, rollouts(10))
    assert f"{folder}: exports there are of the values before; make them again" in caplog.messages


def test_a_fit_of_other_data_stopped_in_the_same_folder(tmp_path, monkeypatch):
    """`goalward fit` has no notes of steps: its networks look after themselves."""
    options = {"seeds": 1, "device": "cpu", "checkpoint": tmp_path, **TINY}
    goalward.fit(rollouts(), ("liveness", "mc"), **options).save(tmp_path)
    interrupt(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        goalward.fit(rollouts(10), ("liveness", "mc"), **options)
    with pytest.raises(GoalwardError, match="is not finished"):
        goalward.load(tmp_path)

"""Damage in a run's folder: never another number in silence, always a way on."""

import csv
import logging
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import goalward
from goalward.errors import GoalwardError
from goalward.runs.making import evaluation as making
from goalward.runs.making import made_from
from goalward.training import fit as training_loop

NUMBERS = {"width": 8, "num_layers": 2, "num_steps": 24, "batch_size": 32}
OPTIONS = {"policy": "ours", "methods": ("liveness", "mc"), "seeds": 1, "standard_horizon": 9}
COMMAND = "goalward evaluate rollouts --out run"


def rollouts():
    draws = np.random.default_rng(0)
    ramp = np.linspace(0, 1, 12)[:, None]
    arrays = [sign * ramp + 0.05 * draws.normal(size=(12, 2)) for sign in (1, -1) * 4]
    arrays = [array.astype(np.float32) for array in arrays]
    return goalward.from_arrays(arrays, success=[True, False] * 4)


def evaluate(folder, **options):
    asked = OPTIONS | NUMBERS | {"command": COMMAND, "report": False} | options
    return goalward.evaluate(rollouts(), folder, device="cpu", **asked)


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    evaluate(folder)
    return folder


@pytest.fixture
def folder(whole, tmp_path):
    return Path(shutil.copytree(whole, tmp_path / "run"))


def flip(path: Path, place: float = 0.5) -> None:
    """A bit, in this part of the file."""
    content = bytearray(path.read_bytes())
    content[int(place * (len(content) - 1))] ^= 2
    path.write_bytes(content)


READ_BACK = ("config.toml", "episodes.csv", "values.parquet", "chances.parquet", "events.csv")
ALL_READ_BACK = (*READ_BACK, "scores.json", "steps.json")


@pytest.mark.parametrize("name", ALL_READ_BACK)
@pytest.mark.parametrize("damage", ["flip", "cut"])
def test_who_only_reads_a_damaged_run_is_told_the_file_and_the_remedy(folder, name, damage):
    path = folder / name
    if damage == "cut":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    elif name == "config.toml":
        # In a name: elsewhere the file may be no TOML any more, and tell no command.
        path.write_bytes(path.read_bytes().replace(b'"ours"', b'"ourq"'))
    else:
        flip(path)
    with pytest.raises(GoalwardError, match=f"{name}: was changed or damaged") as found:
        goalward.open_run(folder)
    assert "` again, which makes anew what is damaged" in str(found.value)
    # Settings that were cut name no command.
    if (name, damage) != ("config.toml", "cut"):
        assert COMMAND in str(found.value)


@pytest.fixture(scope="module")
def whole_of_others(tmp_path_factory):
    folder = tmp_path_factory.mktemp("others") / "run"
    evaluate(folder, policy="theirs", standard_horizon=7)
    return folder


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("goalward evaluate rollouts --out a --force", "goalward evaluate rollouts --out {run}"),
        ("goalward evaluate x --out b/run --replace --seeds 2", "{command} --out b/run --seeds 2"),
        ("goalward evaluate x --out=a", "goalward evaluate x --out=a"),
        ("goalward.evaluate(..., out='a')", "goalward.evaluate(..., out='a')"),
    ],
)
def test_the_remedy_names_the_folder_as_it_is_called_now(tmp_path, command, wanted):
    evaluate(tmp_path / "run", command=command)
    flip(tmp_path / "run" / "values.parquet")
    wanted = wanted.format(run=tmp_path / "run", command="goalward evaluate x")
    with pytest.raises(GoalwardError) as error:
        goalward.open_run(tmp_path / "run")
    assert f"run `{wanted}` again, which makes anew what is damaged" in str(error.value)


def test_settings_of_another_run_are_not_taken_for_its_own(folder, whole, whole_of_others, caplog):
    shutil.copy(whole_of_others / "config.toml", folder)
    with pytest.raises(GoalwardError, match=r"config\.toml: was changed or damaged"):
        goalward.open_run(folder)
    with caplog.at_level(logging.WARNING):
        evaluate(folder)
    assert "config.toml: was changed or damaged" in caplog.text
    assert contents(folder) == contents(whole)


@pytest.mark.parametrize("text", ["{}", '{"version": 99}'])
def test_notes_without_a_checksum_are_no_notes(folder, text):
    (folder / "steps.json").write_text(text)
    with pytest.raises(GoalwardError, match=r"steps\.json: was changed or damaged .*no checksum"):
        goalward.open_run(folder)


def test_outcomes_that_were_edited_are_refused(folder, tmp_path):
    other = tmp_path / "b.csv"
    shutil.copy(folder / "outcomes.csv", other)
    other.write_text(other.read_text().replace("ours", "theirs"))
    goalward.compare(folder, other)
    path = folder / "outcomes.csv"
    path.write_text(path.read_text().replace("time_out", "success", 1))
    words = f"outcomes.csv: was changed or damaged .*`{COMMAND}` again"
    with pytest.raises(GoalwardError, match=words):
        goalward.compare(folder, other)


def test_a_training_log_that_was_changed_is_refused(folder):
    run = goalward.open_run(folder)
    run.training_log()
    flip(folder / "training_log.csv", 0.9)
    with pytest.raises(GoalwardError, match="training_log.csv: was changed or damaged"):
        run.training_log()


def test_a_report_does_not_pass_over_a_training_log_that_is_gone(folder):
    (folder / "training_log.csv").unlink()
    with pytest.raises(GoalwardError, match=r"training_log.csv: was .*it is gone.*`"):
        goalward.open_run(folder).report(progress=False)


@pytest.mark.parametrize("name", ["networks/nets-0.safetensors", "networks/run.json"])
def test_predictions_by_damaged_networks_are_refused(folder, name):
    flip(folder / name)
    with pytest.raises(GoalwardError, match=f"{name}: was changed .*`{COMMAND}` again trains"):
        goalward.load(folder)


def test_whatever_is_damaged_the_same_command_ends_with_the_same_files(folder, whole, caplog):
    """Bits and cuts at random places, one file after the other; what is said names the file."""
    caplog.set_level(logging.INFO, "goalward")
    wanted = contents(whole)
    draws = random.Random(0)
    for name in sorted(wanted):
        if Path(name).parts[0] in ("figures", "tables") and not name.endswith("paper_metrics.md"):
            continue
        path = folder / name
        if draws.random() < 0.5:
            flip(path, draws.random())
        else:
            path.write_bytes(wanted[name][: draws.randrange(len(wanted[name]))])
        caplog.clear()
        assert evaluate(folder).folder.path == folder
        found = contents(folder)
        assert {file for file in wanted if found.get(file) != wanted[file]} == set(), name
        assert found.keys() == wanted.keys(), name
        told = [line for line in caplog.messages if path.name in line and "damaged" in line]
        assert told, name


# What writes into the pipe would be waited for without end.
@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", [*READ_BACK, "networks/nets-0.safetensors", "training_log.csv"])
def test_a_pipe_in_place_of_a_file_is_not_waited_for(folder, whole, name):
    (folder / name).unlink()
    os.mkfifo(folder / name)
    evaluate(folder)
    assert contents(folder) == contents(whole)


@pytest.mark.timeout(20)
def test_who_compares_waits_for_no_pipe_in_place_of_settings(folder, whole_of_others):
    (folder / "config.toml").unlink()
    os.mkfifo(folder / "config.toml")
    # No run without settings, but its outcomes are a table of their own.
    result = goalward.compare(folder, whole_of_others)
    assert len(result.policies) == 2


@pytest.mark.parametrize("opened", [goalward.open_run, goalward.audit])
def test_a_run_without_its_settings_is_told_as_one(folder, whole, opened, caplog):
    (folder / "config.toml").unlink()
    (folder / "scores.json").unlink()
    said = f"{folder}: is a run without its config.toml, which says what the run was made from; "
    said += f"the same `goalward evaluate` with out='{folder}' writes it again"
    with pytest.raises(GoalwardError, match=f"^{re.escape(said)}$"):
        opened(folder)
    # It does, and trains nothing for it.
    caplog.set_level(logging.INFO, "goalward")
    evaluate(folder)
    assert not any(line.startswith("training ") for line in caplog.messages)
    assert contents(folder) == contents(whole)


def test_a_table_alone_is_no_run(folder, tmp_path):
    (tmp_path / "data").mkdir()
    shutil.copy(folder / "values.parquet", tmp_path / "data")
    with pytest.raises(GoalwardError, match="is no folder of `goalward evaluate`"):
        goalward.open_run(tmp_path / "data")
    with pytest.raises(GoalwardError, match="not a known format of rollouts"):
        goalward.audit(tmp_path / "data")


def test_a_folder_in_place_of_a_file_is_named(folder):
    (folder / "values.parquet").unlink()
    (folder / "values.parquet").mkdir()
    with pytest.raises(GoalwardError, match=r"run/values\.parquet: cannot be removed"):
        evaluate(folder)


def test_links_that_lead_back_to_themselves_are_named(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "link")
    with pytest.raises(GoalwardError, match="link: is a link that leads back|link: is a file, but"):
        evaluate(tmp_path / "link")
    with pytest.raises(GoalwardError, match=r"link: (is a link|no such file)"):
        goalward.evaluate(tmp_path / "link", tmp_path / "run", device="cpu")


def test_networks_that_were_cut_are_trained_again_and_the_others_are_not(folder, caplog):
    caplog.set_level(logging.INFO, "goalward")
    path = folder / "networks" / "nets-1.safetensors"
    path.write_bytes(path.read_bytes()[:100])
    evaluate(folder)
    assert sum(line.startswith("training ") for line in caplog.messages) == 1
    assert sum(line.startswith("read from checkpoint") for line in caplog.messages) == 1


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("size", [0, 40, 2000])
def test_a_cut_checkpoint_blocks_nothing(whole, tmp_path, monkeypatch, caplog, force, size):
    folder = tmp_path / "run"

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(training_loop.Reporter, "report", stop)
    with pytest.raises(KeyboardInterrupt):
        evaluate(folder)
    monkeypatch.undo()
    progress = folder / "networks" / "progress.safetensors"
    progress.write_bytes(progress.read_bytes()[:size])
    evaluate(folder, force=force)
    assert contents(folder) == contents(whole)
    if not force:
        words = "progress.safetensors: was changed or damaged"
        assert any(words in m and "begins again" in m for m in caplog.messages)


def test_a_bit_that_flipped_in_a_checkpoint_changes_no_network(whole, tmp_path, monkeypatch):
    folder = tmp_path / "run"

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(training_loop.Reporter, "report", stop)
    with pytest.raises(KeyboardInterrupt):
        evaluate(folder)
    monkeypatch.undo()
    flip(folder / "networks" / "progress.safetensors", 0.9)
    evaluate(folder)
    assert contents(folder) == contents(whole)


def test_predictions_are_of_the_networks_in_memory(tmp_path, monkeypatch):
    """A disk that gives back something else is found out later, and spoils nothing now."""

    def load(*_):
        raise AssertionError("networks were read back")

    monkeypatch.setattr("goalward.values.fitted.load", load)
    evaluate(tmp_path / "run")


def test_what_killed_evaluations_left_is_swept(folder, whole):
    code = (
        "import sys; from pathlib import Path; from goalward.files import written_whole\n"
        "import os, signal\n"
        "with written_whole(Path(sys.argv[1])) as t: os.kill(os.getpid(), signal.SIGKILL)"
    )
    for name in ("values.parquet", "networks/nets-0.safetensors", "tables/all_scores.md"):
        subprocess.run([sys.executable, "-c", code, str(folder / name)])
    assert len(contents(folder)) == len(contents(whole)) + 3
    evaluate(folder)
    assert contents(folder) == contents(whole)


@pytest.mark.parametrize(
    ("rooms", "again"),
    [
        ("_SCORES_ROOMS", ("scores", "tables, figures, summary")),
        ("_SUMMARY_ROOMS", ("tables, figures, summary",)),
    ],
)
def test_a_changed_scorer_keeps_no_scores(folder, monkeypatch, caplog, rooms, again):
    """As if the code of one more room belonged to it."""
    caplog.set_level(logging.INFO, "goalward.runs")
    monkeypatch.setattr(made_from, rooms, (*getattr(made_from, rooms), "exports"))
    evaluate(folder)
    made = [words for words in making.STEP_WORDS.values() if words in caplog.messages]
    assert tuple(made) == again


def test_results_are_not_written_among_the_rollouts(tmp_path):
    (tmp_path / "data").mkdir()
    with pytest.raises(GoalwardError, match="run: lies in the folder of the rollouts.*out="):
        goalward.evaluate(tmp_path / "data", tmp_path / "data" / "run")
    assert os.listdir(tmp_path / "data") == []


_PAIR = """
import sys
sys.path.insert(0, {tests!r})
from test_damage import evaluate
print("ready", flush=True)
sys.stdin.readline()
run = evaluate({folder!r}, seeds=int(sys.argv[1]))
print(run.folder.path.name, len(run.values.seeds), flush=True)
"""


def test_two_evaluations_into_one_folder_are_never_mixed(tmp_path):
    code = _PAIR.format(tests=str(Path(__file__).parent), folder=str(tmp_path / "run"))
    pair = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(seeds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
        for seeds in (1, 2)
    ]
    assert [process.stdout.readline() for process in pair] == ["ready\n"] * 2
    told = [process.communicate("go\n")[0].split() for process in pair]
    assert sorted(name for name, _ in told) == ["run", "run-2"]
    assert [seeds for _, seeds in told] == ["1", "2"]
    for name, seeds in told:
        run = goalward.open_run(tmp_path / name)
        assert len(run.values.seeds) == int(seeds) == run.settings.evaluation.seeds
        with (tmp_path / name / "training_log.csv").open() as file:
            assert {row["seed"] for row in csv.DictReader(file)} == set(map(str, range(int(seeds))))
    assert sorted(os.listdir(tmp_path)) == ["run", "run-2"]

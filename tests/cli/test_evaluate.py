"""`goalward evaluate`: what cannot work is said before anything is embedded, nothing is ignored."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goalward
from goalward.cli import app as app_module
from goalward.cli.console import telling
from goalward.cli.embed import EmbedArguments
from goalward.cli.evaluate import evaluate_command
from goalward.cli.predict import predict_command
from goalward.cli.read_arguments import ReadArguments
from goalward.config import read_toml
from goalward.errors import speaking_of_flags
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.rollouts.dataset import Rollouts
from goalward.runs.making import given as given_module
from goalward.runs.making import plan as plans
from goalward.runs.settings import MadeBy
from goalward.values.table import read_values

SMALL = ("width=8", "num_layers=2", "num_steps=6", "batch_size=16")
TINY = {"methods": ("mc",), "seeds": 1, "set_": SMALL}


def rollouts(**options):
    draws = np.random.default_rng(0)
    arrays = [draws.normal(size=(5, 2)).astype(np.float32) for _ in range(8)]
    return goalward.from_arrays(arrays, success=[True, False] * 4, **options)


def without_features():
    return Rollouts(tuple(rollouts()))


def read_as(monkeypatch, data):
    """Whatever the path, these are the rollouts."""
    monkeypatch.setattr(given_module, "read_input", lambda *_, **__: data)


def not_reached(*_, **__):
    pytest.fail("embedded for nothing")


@pytest.fixture
def feature_file(tmp_path: Path) -> Path:
    goalward.write_features(tmp_path / "features.npz", rollouts())
    return tmp_path / "features.npz"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"methods": ("livenes",)}, "no method 'livenes'"),
        ({"preset": "tiny"}, "no preset 'tiny'"),
        ({"set_": ("widht=8",)}, "no hyper-parameter widht"),
        ({"folds": 99}, "8 episodes do not make 99 folds"),
        ({"hindsight": 1.5}, "--hindsight 1.5: must lie between 0 and 1"),
        ({"hindsight": -0.1}, "--hindsight -0.1: must lie between 0 and 1"),
        ({"out": Path("taken")}, "taken: is a file, but results need a folder"),
        ({"embedding": EmbedArguments(device="banana")}, "no device 'banana'"),
    ],
)
def test_mistakes_do_not_wait_for_the_embedding(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("")
    read_as(monkeypatch, without_features())
    monkeypatch.setattr(given_module, "embed_input", not_reached)
    with pytest.raises(goalward.GoalwardError, match=message):
        evaluate_command("videos", **({"out": Path("run")} | arguments))


def test_options_that_a_feature_file_would_ignore(feature_file, tmp_path):
    unused = "--labels, --encoder would change nothing"
    with speaking_of_flags(), pytest.raises(goalward.GoalwardError, match=unused):
        evaluate_command(
            str(feature_file),
            out=tmp_path / "run",
            reading=ReadArguments(labels="outcomes.csv"),
            embedding=EmbedArguments(encoder="clip"),
        )


def test_the_config_names_no_encoder_that_was_not_used(feature_file, tmp_path):
    evaluate_command(str(feature_file), out=tmp_path / "run", report=False, **TINY)
    settings = read_toml(tmp_path / "run" / "config.toml")
    assert settings["embedding"] == settings["reading"] == {}
    assert settings["made_by"]["command"].startswith("goalward")


@pytest.mark.parametrize("name", ["policy_v1.2", "policy.v1.3"])
def test_a_folder_keeps_its_whole_name(name, tmp_path, monkeypatch):
    """Half of it would make policy_v1.2 and policy_v1.3 one policy in a comparison."""
    (tmp_path / name).mkdir()
    read_as(monkeypatch, rollouts())
    evaluate_command(str(tmp_path / name), out=tmp_path / "run", report=False, **TINY)
    assert (tmp_path / "run" / "outcomes.csv").read_text().splitlines()[1].startswith(f"{name},")


def write_truth(path: Path, episode_id: str = "{}") -> Path:
    """The second frame of every episode."""
    ids = tuple(episode_id.format(i) for i in range(8))
    FrameTruth(ids, np.ones(8, dtype=int), np.array([[3.0], [np.inf]] * 4), cap=9).write(path)
    return path


@pytest.mark.parametrize("is_named", [True, False])
def test_truth_is_taken_from_the_folder_of_the_rollouts_or_where_it_is_said(
    is_named, tmp_path, monkeypatch
):
    (tmp_path / "data").mkdir()
    path = write_truth(tmp_path / ("elsewhere" if is_named else "data") / "truth.parquet")
    read_as(monkeypatch, rollouts())
    truth = path if is_named else None
    evaluate_command(
        str(tmp_path / "data"), out=tmp_path / "run", truth=truth, report=False, **TINY
    )
    assert "far the values are from the truth" in (tmp_path / "run" / "summary.md").read_text()
    assert read_toml(tmp_path / "run" / "config.toml")["data"]["truth"] == str(path)


def test_truth_of_other_rollouts_does_not_wait_for_the_embedding(tmp_path, monkeypatch):
    path = write_truth(tmp_path / "truth.parquet", "other {}")
    read_as(monkeypatch, without_features())
    monkeypatch.setattr(given_module, "embed_input", not_reached)
    with pytest.raises(goalward.GoalwardError, match="of other rollouts: no episode other 0"):
        evaluate_command("videos", out=tmp_path / "run", truth=path)
    with pytest.raises(goalward.GoalwardError, match="gone.parquet: no such file"):
        evaluate_command("videos", out=tmp_path / "run", truth=tmp_path / "gone.parquet")


def write_scores(path: Path, episode_id: str = "{}") -> Path:
    episodes = [episode_id.format(i) for i in range(8) for _ in range(5)]
    columns = {"episode": episodes, "frame": [*range(5)] * 8, "score": [0.5, 1, 2, 3, 4] * 8}
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"truth": "gone.parquet"}, r"gone.parquet: no such file"),
        ({"truth": "other_truth.parquet"}, "of other rollouts: no episode other 0"),
        ({"truth": "scores.parquet"}, "scores.parquet: "),
        ({"scores": ("gone.parquet",)}, "gone.parquet"),
        ({"scores": ("sarm=other_scores.parquet",)}, "other_scores.parquet: has scores of episo"),
        ({"scores": ("scores.parquet", "x/scores.parquet")}, "--scores: two files are called sco"),
        ({"scores": ("mc=scores.parquet",)}, "--scores: mc is a method of its own"),
        ({"scores": ("a b=scores.parquet",)}, "--scores: a name has letters"),
        ({"policy": 7}, "--policy 7: must be a text"),
        ({"folds": 99}, "8 episodes do not make 99 folds"),
    ],
)
def test_a_plan_refuses_what_the_evaluation_would(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_truth(Path("other_truth.parquet"), "other {}")
    write_scores(Path("scores.parquet"))
    write_scores(Path("other_scores.parquet"), "other {}")
    before = sorted(Path().rglob("*"))
    read_as(monkeypatch, rollouts())
    monkeypatch.setattr(plans, "plan_evaluation", not_reached)
    told = {"out": Path("run"), "report": False, **TINY, **arguments}
    refused = []
    for plan in (True, False):
        with speaking_of_flags(), pytest.raises(goalward.GoalwardError, match=message) as failed:
            evaluate_command("videos", plan=plan, **told)
        refused.append(str(failed.value))
        if plan:
            assert sorted(Path().rglob("*")) == before
    assert refused[0] == refused[1]


def test_a_plan_of_scores_and_truth_that_fit(tmp_path, monkeypatch, capsys):
    """The truth beside the rollouts is looked at, too."""
    scores = write_scores(tmp_path / "scores.parquet")
    truth = write_truth(tmp_path / "truth.parquet")
    read_as(monkeypatch, rollouts())
    told = {"out": tmp_path / "run", "plan": True, "scores": (f"sarm={scores}",), **TINY}
    evaluate_command(str(tmp_path), policy="mine", truth=truth, **told)
    assert "training: 1 networks of mc" in capsys.readouterr().out
    write_truth(truth, "other {}")
    with pytest.raises(goalward.GoalwardError, match="of other rollouts"):
        evaluate_command(str(tmp_path), **told)
    assert not (tmp_path / "run").exists()


def test_predict_takes_the_folder_of_an_evaluation(feature_file, tmp_path):
    out = tmp_path / "values.parquet"
    evaluate_command(str(feature_file), out=tmp_path / "run", report=False, **TINY)
    predict_command(tmp_path / "run", feature_file, out=out)
    assert read_values(out).num_frames == 40
    evaluate_command(str(feature_file), out=tmp_path / "folds", folds=2, report=False, **TINY)
    with pytest.raises(goalward.GoalwardError, match="name one: 'fold 0', 'fold 1'"):
        predict_command(tmp_path / "folds", feature_file, out=out)
    predict_command(tmp_path / "folds", feature_file, out=out, subset="fold 1")


@pytest.mark.usefixtures("one_thread")
def test_the_command_and_the_function_write_the_same_files(feature_file, tmp_path):
    evaluate_command(str(feature_file), out=tmp_path / "command", report=False, **TINY)
    numbers = dict(text.split("=") for text in SMALL)
    goalward.evaluate(
        feature_file,
        tmp_path / "function",
        methods="mc",
        seeds=1,
        report=False,
        **{name: int(value) for name, value in numbers.items()},
    )
    files = {
        folder: sorted(p.relative_to(tmp_path / folder) for p in (tmp_path / folder).rglob("*.*"))
        for folder in ("command", "function")
    }
    assert files["command"] == files["function"]
    command, function = (goalward.open_run(tmp_path / name) for name in files)
    assert command.episodes == function.episodes
    assert replace(command.settings, made_by=MadeBy()) == replace(
        function.settings, made_by=MadeBy()
    )
    for name in ("values.parquet", "scores.json", "summary.md", "episodes.csv", "training_log.csv"):
        assert (tmp_path / "command" / name).read_bytes() == (
            tmp_path / "function" / name
        ).read_bytes()


def test_what_is_noticed_is_printed_once(feature_file, tmp_path, monkeypatch, capsys):
    """Steps as lines, warnings as warnings, the answer on the output."""
    one_sided = goalward.from_arrays([np.zeros((4, 1), np.float32)] * 4, success=[True] * 4)
    goalward.write_features(feature_file, one_sided)
    words = ["evaluate", str(feature_file), "--out", str(tmp_path / "run"), "--methods", "mc,td"]
    words += ["--seeds", "1", "--no-report", *(f"--set={text}" for text in SMALL)]
    monkeypatch.setattr(sys, "argv", ["goalward", *words])
    with pytest.raises(SystemExit) as ended:
        app_module.run()
    assert ended.value.code in (None, 0)
    printed = capsys.readouterr()
    assert printed.err.count("warning: every episode that is learned from is a success") == 1
    assert "values of every frame\n" in printed.err
    assert f"read first: {tmp_path / 'run' / 'summary.md'}" in printed.err
    assert printed.out.startswith("features\n\n- Success rate 100 % (4 of 4;")


def test_any_alphabet_in_any_locale(tmp_path):
    goalward.write_features(tmp_path / "features.npz", rollouts(tasks="Tür öffnen 🤖"))
    code = (
        "from goalward.cli.evaluate import evaluate_command as go; from pathlib import Path; "
        f"go('features.npz', out=Path('run'), methods=('mc',), seeds=1, set_={SMALL!r})"
    )
    command = [sys.executable, "-c", code]
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run(command, cwd=tmp_path, env=os.environ | ascii_only, check=True, timeout=120)
    assert "Tür öffnen 🤖" in (tmp_path / "run" / "episodes.csv").read_text(encoding="utf-8")


def test_other_options_are_told_with_the_folder_that_was_used(feature_file, tmp_path, capsys):
    run, other = tmp_path / "run", tmp_path / "run-2"

    def told(**options):
        with speaking_of_flags(), telling():
            evaluate_command(str(feature_file), out=run, report=False, **TINY | options)
        return capsys.readouterr().err

    told()
    lines = told(seeds=2)
    assert f"{run} was made with seeds 1, now 2: this goes to {other}; --replace would" in lines
    assert f"all results: {other}; read first: {other}/summary.md" in lines
    lines = told(seeds=2, replace=True)
    assert f"{run} was made with seeds 1, now 2: it is made anew, as --replace asks" in lines
    assert f"all results: {run}; read first: {run}/summary.md" in lines
    (run / "networks" / "run.json").unlink()
    with pytest.raises(goalward.GoalwardError, match="networks: is not finished"):
        predict_command(run, feature_file, out=tmp_path / "values.parquet")

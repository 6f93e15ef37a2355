"""`goalward evaluate`: what cannot work is said before anything is embedded, nothing is ignored."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import goalward
from goalward.cli.embed import EmbedArguments
from goalward.cli.evaluate import evaluate_command
from goalward.cli.predict import predict_command
from goalward.cli.read_arguments import ReadArguments
from goalward.config import read_toml
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.rollouts.findings import LeftOut
from goalward.values.table import read_values

SMALL = ("width=8", "num_layers=2", "num_steps=6", "batch_size=16")
TINY = {"methods": ("mc",), "seeds": 1, "set_": SMALL}


def rollouts(**options):
    draws = np.random.default_rng(0)
    arrays = [draws.normal(size=(5, 2)).astype(np.float32) for _ in range(8)]
    return goalward.from_arrays(arrays, success=[True, False] * 4, **options)


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
        ({"out": Path("taken")}, "taken: is a file, but results need a folder"),
        ({"embedding": EmbedArguments(device="banana")}, "no device 'banana'"),
    ],
)
def test_mistakes_do_not_wait_for_the_embedding(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("")
    monkeypatch.setattr(ReadArguments, "read", lambda *_: rollouts())
    monkeypatch.setattr(EmbedArguments, "embed", lambda *_: pytest.fail("embedded for nothing"))
    with pytest.raises(goalward.GoalwardError, match=message):
        evaluate_command("videos", **({"out": Path("run")} | arguments))


def test_options_that_a_feature_file_would_ignore(feature_file, tmp_path):
    with pytest.raises(goalward.GoalwardError, match="--labels, --encoder would change nothing"):
        evaluate_command(
            str(feature_file),
            out=tmp_path / "run",
            reading=ReadArguments(labels="outcomes.csv"),
            embedding=EmbedArguments(encoder="clip"),
        )


def test_the_config_names_no_encoder_that_was_not_used(feature_file, tmp_path):
    evaluate_command(str(feature_file), out=tmp_path / "run", **TINY)
    assert sorted(read_toml(tmp_path / "run" / "config.toml")) == ["data", "evaluation", "made_by"]


@pytest.mark.parametrize("name", ["policy_v1.2", "policy.v1.3"])
def test_a_folder_keeps_its_whole_name(name, tmp_path, monkeypatch):
    """Half of it would make policy_v1.2 and policy_v1.3 one policy in a comparison."""
    (tmp_path / name).mkdir()
    monkeypatch.setattr(ReadArguments, "read", lambda *_: rollouts())
    monkeypatch.setattr(EmbedArguments, "embed", lambda _, data, *rest: data)
    evaluate_command(str(tmp_path / name), out=tmp_path / "run", **TINY)
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
    monkeypatch.setattr(ReadArguments, "read", lambda *_: rollouts())
    monkeypatch.setattr(EmbedArguments, "embed", lambda _, data, *rest: data)
    truth = path if is_named else None
    evaluate_command(str(tmp_path / "data"), out=tmp_path / "run", truth=truth, **TINY)
    assert "far the values are from the truth" in (tmp_path / "run" / "summary.md").read_text()
    assert read_toml(tmp_path / "run" / "config.toml")["data"]["truth"] == str(path)


def test_truth_of_other_rollouts_does_not_wait_for_the_embedding(tmp_path, monkeypatch):
    path = write_truth(tmp_path / "truth.parquet", "other {}")
    monkeypatch.setattr(ReadArguments, "read", lambda *_: rollouts())
    monkeypatch.setattr(EmbedArguments, "embed", lambda *_: pytest.fail("embedded for nothing"))
    with pytest.raises(goalward.GoalwardError, match="of other rollouts: no episode other 0"):
        evaluate_command("videos", out=tmp_path / "run", truth=path)
    with pytest.raises(goalward.GoalwardError, match="gone.parquet: cannot be read"):
        evaluate_command("videos", out=tmp_path / "run", truth=tmp_path / "gone.parquet")


def test_predict_takes_the_folder_of_an_evaluation(feature_file, tmp_path):
    out = tmp_path / "values.parquet"
    evaluate_command(str(feature_file), out=tmp_path / "run", **TINY)
    predict_command(tmp_path / "run", feature_file, out=out)
    assert read_values(out).num_frames == 40
    evaluate_command(str(feature_file), out=tmp_path / "folds", folds=2, **TINY)
    with pytest.raises(goalward.GoalwardError, match="name one: 'fold 0', 'fold 1'"):
        predict_command(tmp_path / "folds", feature_file, out=out)
    predict_command(tmp_path / "folds", feature_file, out=out, subset="fold 1")


def test_embedding_says_which_episodes_reading_left_out(capsys, tmp_path):
    data = rollouts().with_left_out([LeftOut("9", "cut off")])
    with pytest.raises(goalward.GoalwardError, match="no encoder"):
        EmbedArguments(encoder="nope", cache=tmp_path).embed(data, ReadArguments())
    assert "warning: episode 9 is left out: cut off" in capsys.readouterr().err


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

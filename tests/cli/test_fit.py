"""`goalward fit` and `goalward predict` from feature file to table of values."""

import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import goalward
from goalward.cli.fit import fit_command
from goalward.cli.predict import predict_command
from goalward.training.stored.feature_file import write_features
from goalward.training.stored.tensor_file import read_tensors
from goalward.values.table import read_values

SMALL = ("width=8", "num_layers=2", "num_steps=6", "batch_size=16")


@pytest.fixture
def feature_file(tmp_path):
    rng = np.random.default_rng(0)
    rollouts = goalward.from_arrays(
        [rng.normal(size=(n, 2)) for n in (4, 6, 5, 3)],
        success=[True, False, True, False],
        ids=["a", "b", "c", "d"],
    )
    write_features(tmp_path / "features.npz", rollouts)
    return tmp_path / "features.npz"


def test_fit_then_predict(feature_file, tmp_path, capsys):
    run, out = tmp_path / "run", tmp_path / "values.parquet"
    fit_command(
        feature_file, out=run, methods=("liveness", "mc"), seeds=2, device="cpu", set_=SMALL
    )
    predict_command(run, feature_file, out=out, device="cpu")
    table = read_values(out)
    assert table.methods == ("liveness", "mc")
    assert table.seeds == (0, 1)
    assert table.episode_ids == ("a", "b", "c", "d")
    assert table.raw_value.shape == (2, 2, 18)
    discount = 1 - 1.75 / 5
    value = 1 - 2 * discount ** table.steps_to_goal.astype(np.float64)
    np.testing.assert_allclose(table.common_values("mc"), value[1], atol=1e-12)
    # The goal of the first episode, and a step before it; the end of the second, a time-out.
    assert table.hindsight_values("mc")[:, 3].tolist() == [-1, -1]
    np.testing.assert_allclose(table.hindsight_values("mc")[:, 2], 1 - 2 * discount)
    np.testing.assert_array_equal(table.hindsight_values("mc")[:, 9], value[1, :, 9])
    predict_command(run, feature_file, out=out, device="cpu", hindsight=1.0)
    np.testing.assert_allclose(read_values(out).hindsight_values("mc")[:, 0], 1 - 2 * discount**3)
    with pytest.raises(goalward.GoalwardError, match="--hindsight 2: must lie between 0 and 1"):
        predict_command(run, feature_file, out=out, device="cpu", hindsight=2)
    assert sorted(p.name for p in run.iterdir()) == [
        "nets-0.safetensors",
        "nets-1.safetensors",
        "run.json",
    ]
    assert "4 value functions of 4 episodes" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"set_": ("widht=8",)}, "no hyper-parameter widht"),
        ({"set_": ("width",)}, "--set wants name=value"),
        ({"methods": ("live",)}, "no method 'live'; methods: liveness"),
        ({"preset": "cups"}, "no preset 'cups'"),
        ({"set_": ("num_steps=abc",)}, "num_steps cannot be 'abc'"),
        ({"set_": ("width=2.5",)}, "width cannot be 2.5"),
        ({"device": "gpu"}, "no device 'gpu'"),
        ({"set_": ("time_out=never",)}, "time_out must be one of terminal, open"),
    ],
)
def test_wrong_arguments_say_what_is_right(arguments, message, feature_file, tmp_path):
    with pytest.raises(goalward.GoalwardError, match=message):
        fit_command(feature_file, out=tmp_path / "run", **arguments)


def test_predict_without_a_fit_says_where_it_looked(feature_file, tmp_path):
    with pytest.raises(goalward.GoalwardError, match="nowhere: holds no finished fit"):
        predict_command(tmp_path / "nowhere", feature_file, out=tmp_path / "values.parquet")


@pytest.mark.parametrize(
    ("content", "message"), [(None, "no such file"), (b"text", "is not a feature file")]
)
def test_files_that_hold_no_features(tmp_path, content, message):
    path = tmp_path / "x.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(goalward.GoalwardError, match=f"x.npz: {message}"):
        fit_command(path, out=tmp_path / "run")


LONG = "width=64,num_steps=200000,batch_size=256"
MAIN = "from goalward.cli import main; main()"


@pytest.mark.parametrize(
    ("number", "status", "words"),
    [(signal.SIGTERM, 143, "stopped by SIGTERM"), (signal.SIGINT, 130, "interrupted")],
)
def test_a_stop_saves_the_training_and_says_so(feature_file, tmp_path, number, status, words):
    """At any moment, not only between two batches: nearly all of the time is inside of one."""
    out = tmp_path / "run"
    arguments = ["fit", str(feature_file), "--out", str(out), "--methods", "mc", "--set", LONG]
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", MAIN, *arguments], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    while not process.stderr.readline().startswith("training mc"):
        pass
    time.sleep(1)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == status
    saved, last = errors.splitlines()
    assert re.fullmatch(r"stopped: the training is saved after batch [0-9]+ of 100000", saved)
    assert last == words
    assert [path.name for path in out.iterdir()] == ["progress.safetensors"]
    tensors, facts = read_tensors(out / "progress.safetensors")
    assert int(tensors["batch"]) > 0
    assert facts["group"] == "0"

"""What is typed by mistake ends in a sentence and leaves nothing behind."""

import numpy as np
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

import goalward
from goalward.cli import app as app_module
from goalward.rollouts.episode import Outcome
from goalward.runs.folder.stored import write_run


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with features and a run, which is the current one."""
    monkeypatch.chdir(tmp_path)
    ramp = np.linspace(0, 1, 12)[:, None]
    rollouts = goalward.from_arrays([ramp, -ramp] * 4, success=[True, False] * 4)
    goalward.write_features(tmp_path / "features.npz", rollouts)
    episodes = [drawn_episode("3", 5, outcome=Outcome.SUCCESS), drawn_episode("4", 4)]
    drawn = {"good": [countdown(5), np.full((2, 4), 9.0)]}
    write_run(drawn_run(episodes, drawn, tmp_path / "run")[0])
    return tmp_path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        # What a script types whose variable is not set.
        (["evaluate", "features.npz", "--out", ""], "--out: is empty; wanted a path"),
        (["export", "run", "--to", "csv", "--out="], "--out: is empty; wanted a path"),
        (["sheet", "run", "3", "--data", ""], "--data: is empty; wanted a path"),
        (["embed", "features.npz"], "features.npz: is a feature file: what is in it was embedded"),
        (["embed", "x", "--out", "x.txt"], "--out x.txt: a feature file is known by its name"),
        (["predict", "run", "features.npz", "--out", "v.csv"], "--out v.csv: the table is parquet"),
        (["fit", "run", "--out", "fitted"], "run: is a folder; wanted a feature file (.npz)"),
        (["audit", "run", "--against", "nope"], "its rollouts were given in memory; say with --d"),
        (
            ["evaluate", "features.npz", "--out", "new", "--plan", "--values", "run"],
            "--plan is of a training, and by --values nothing is trained",
        ),
        (
            ["evaluate", "features.npz", "--out", "new", "--plan", "--hindsight", "nan"],
            "--hindsight nan: must lie between 0 and 1",
        ),
        (
            ["evaluate", "features.npz", "--out", "new", "--plan", "--workers", "3"],
            "--workers 3: this process works with all cores",
        ),
        (
            ["evaluate", "features.npz", "--out", "new", "--plan", "--device", "meta"],
            "no device 'meta' here: cpu, cuda, cuda:1, ...",
        ),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_a_sentence_and_nothing_left(here, capsys, monkeypatch, words, said):
    told: list[str] = []
    before = sorted(path.name for path in here.iterdir())
    monkeypatch.setattr("sys.argv", ["goalward", *words])
    # Where the command line would print the error and end.
    monkeypatch.setattr(app_module, "_end", told.append)
    app_module.run()
    assert len(told) == 1
    assert said in told[0]
    assert capsys.readouterr().out == ""
    assert sorted(path.name for path in here.iterdir()) == before


def test_features_go_into_files_that_are_known_by_their_name(here):
    rollouts = goalward.read_features("features.npz")
    with pytest.raises(goalward.GoalwardError, match=r"which ends in \.npz"):
        goalward.write_features("features.txt", rollouts)


def test_an_empty_place_is_none_in_python_either(here):
    with pytest.raises(goalward.GoalwardError, match="wanted a folder for the results"):
        goalward.evaluate("features.npz", "")

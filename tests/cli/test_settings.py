"""`goalward settings`, and `--set` with several numbers at once."""

import pytest

from goalward.cli.app import app
from goalward.cli.assignments import assignments
from goalward.cli.settings import in_words, settings_command
from goalward.errors import GoalwardError
from goalward.training.methods.numbers_explained import settings
from goalward.training.methods.presets import hyperparameters


def test_all_numbers_with_default_own_and_efforts(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    settings_command()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["name", "default", "lambda-returns", "meaning"]
    first = {line.split()[0]: line for line in lines if line.strip()}
    assert set(settings()) <= set(first)
    assert first["width"].split()[:5] == ["width", "512", "256", "Numbers", "between"]
    assert first["lags"].split()[:3] == ["lags", "[]", "5,20"]
    assert first["capacity"].split()[1] == "none"
    assert "--effort thorough: seeds=5" in lines


def test_one_number_with_every_value_it_has(capsys):
    app(["settings", "lambda-returns.learning_rate"], result_action="return_value")
    told = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert told[0] == ["learning_rate"]
    assert ["default", "0.0001"] in told
    assert ["--preset", "cloth", "2e-05"] in told
    assert ["lambda-returns's", "own", "0.001"] in told


def test_a_wrong_name_is_told_what_is_near():
    with pytest.raises(GoalwardError, match="no hyper-parameter lag; did you mean lags"):
        settings_command("lag")
    with pytest.raises(GoalwardError, match="no hyper-parameter x; there are: num_layers, width"):
        settings_command("x")


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["a=1,b=2"], {"a": 1, "b": 2}),
        (["a=1", "b=2"], {"a": 1, "b": 2}),
        (["lags=5,20"], {"lags": [5, 20]}),
        (["lags=5,20,width=64"], {"lags": [5, 20], "width": 64}),
        (["width=64,lags=[5,20],starts=dark"], {"width": 64, "lags": [5, 20], "starts": "dark"}),
        (["width=64, num_steps = 9"], {"width": 64, "num_steps": 9}),
        (["a=1,lambda-returns.b=1e-3"], {"a": 1, "lambda-returns.b": 0.001}),
        (["capacity=none,discount=null"], {"capacity": None, "discount": None}),
        (["lags=[]"], {"lags": []}),
        (["time_out=open,x"], {"time_out": "open,x"}),
    ],
)
def test_a_comma_before_a_name_begins_the_next_assignment(texts, found):
    assert assignments(texts) == found


def test_what_is_listed_can_be_set_again():
    """As it stands in the list: `lags` and `none` among them."""
    one = hyperparameters().of("lambda-returns")
    text = ",".join(f"{name}={in_words(getattr(one, name))}" for name in settings())
    assert hyperparameters(**assignments([text])).of("liveness") == one


def test_what_has_no_equals_sign_is_refused():
    with pytest.raises(GoalwardError, match="--set wants name=value, got 'width'"):
        assignments(["width"])

"""Every hyper-parameter has a meaning, read from where it is defined, and all its values."""

import pytest

from goalward.errors import GoalwardError
from goalward.training.methods.efforts import EFFORTS
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.numbers_explained import field_texts, find_setting, settings
from goalward.training.methods.presets import OWN_NUMBERS, hyperparameters


def test_every_number_has_a_meaning():
    assert [setting.name for setting in settings().values() if len(setting.meaning) < 12] == []


def test_everything_that_can_be_set_is_listed():
    """Each with its own default: setting it changes nothing."""
    usual = {name: setting.default for name, setting in settings().items()}
    for_all = hyperparameters("default", **usual)
    assert for_all == hyperparameters("default", **{"width": 512} | usual)
    assert for_all.of("liveness") == hyperparameters().of("liveness")
    with pytest.raises(GoalwardError, match="no hyper-parameter apart"):
        find_setting("apart")


def test_values_are_those_of_presets_methods_and_efforts():
    steps = find_setting("num_steps")
    assert (steps.meaning, steps.default) == ("Gradient steps per stage.", 3000)
    assert steps.presets == {"libero": 10_000, "square": 10_000, "cloth": 10_000}
    assert steps.own == {"lambda-returns": OWN_NUMBERS["lambda-returns"]["num_steps"]}
    quick = EFFORTS["quick"].numbers
    names = ("lambda-returns.num_steps", "num_steps")
    assert steps.efforts["quick"] == {name: quick[name] for name in names}
    assert "thorough" not in steps.efforts
    # One that differs from the class's default in the preset alone.
    assert find_setting("time_out").default == "open"
    assert Hyperparameters().time_out == "terminal"


def test_a_text_belongs_to_the_field_above_it():
    class Example:
        """Not of a field."""

        first: int = 0
        """Over
        two lines."""
        second: int = 1
        third: int = 2
        """Of the third."""

    assert field_texts(Example) == {"first": "Over two lines.", "third": "Of the third."}

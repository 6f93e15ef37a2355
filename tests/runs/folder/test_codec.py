"""Dataclasses as files and back: every type as it was, infinity included, and nothing guessed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalward.errors import GoalwardError
from goalward.runs.folder.codec import (
    decoded,
    encoded,
    read_json,
    read_settings,
    write_json,
    write_settings,
)


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Inner:
    number: float | None = None
    words: str = ""


@dataclass(frozen=True, eq=False)
class Outer:
    count: int
    is_so: bool
    numbers: npt.NDArray[np.float64]
    places: npt.NDArray[np.int64]
    flags: npt.NDArray[np.bool_]
    by_name: Mapping[str, Inner]
    by_number: Mapping[int, tuple[Inner, ...]]
    pair: tuple[float, float]
    colour: Colour
    side: Literal["left", "right"]
    perhaps: Inner | None = None
    texts: tuple[str, ...] = field(default=())


def outer(**changes):
    usual = {
        "count": 3,
        "is_so": True,
        "numbers": np.array([[1.5, np.inf], [-np.inf, np.nan]]),
        "places": np.array([4, -1]),
        "flags": np.array([True, False]),
        "by_name": {"a b": Inner(0.1), "": Inner(words="none")},
        "by_number": {100: (Inner(float("inf")),), 5: ()},
        "pair": (0.1 + 0.2, -0.0),
        "colour": Colour.RED,
        "side": "left",
    }
    return Outer(**usual | changes)


def test_everything_comes_back_as_it_was(tmp_path):
    write_json(tmp_path / "outer.json", outer(perhaps=Inner(2.0, "Tür 🤖"), texts=("x",)))
    again = read_json(tmp_path / "outer.json", Outer)
    np.testing.assert_array_equal(again.numbers, outer().numbers)
    assert again.places.dtype == np.int64
    assert again.places.tolist() == [4, -1]
    assert again.flags.dtype == np.bool_
    assert again.flags.tolist() == [True, False]
    assert again.by_name == outer().by_name
    assert again.by_number == {100: (Inner(float("inf")),), 5: ()}
    assert again.pair == (0.1 + 0.2, -0.0)
    assert again.colour is Colour.RED
    assert (again.count, again.is_so, again.side) == (3, True, "left")
    assert again.perhaps == Inner(2.0, "Tür 🤖")
    assert again.texts == ("x",)


@given(st.floats())
def test_every_number_comes_back_to_the_bit(number):
    text = json.dumps(encoded(Inner(number)), allow_nan=False)
    again = decoded(json.loads(text), Inner, "here").number
    assert np.float64(again).tobytes() == np.float64(number).tobytes() or np.isnan(number)
    assert np.isnan(number) == np.isnan(again)


def test_results_leave_out_what_is_usual_and_settings_do_not(tmp_path):
    assert encoded(Inner()) == {}
    write_settings(tmp_path / "inner.toml", Inner())
    # TOML has no word for none.
    checksum, text = (tmp_path / "inner.toml").read_text().split("\n", 1)
    assert checksum.startswith("# goalward-sha256:")
    assert text == 'format = 2\nwords = ""\n'
    assert read_settings(tmp_path / "inner.toml", Inner) == Inner()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"count": 3.0}, "count: wanted a whole number, got 3.0"),
        ({"count": True}, "count: wanted a whole number, got True"),
        ({"is_so": 1}, "is_so: wanted true or false, got 1"),
        ({"numbers": [["much"]]}, "numbers: wanted an array of numbers"),
        ({"by_name": {"a": {"number": "high"}}}, "wanted a number, got 'high'"),
        ({"by_name": {"a": {"nombre": 1, "b": 2}}}, "no field is called b, nombre$"),
        ({"colour": "green"}, "colour: 'green' is not a valid Colour"),
        ({"side": "up"}, "side: "),
        ({"pair": [1.0]}, "pair"),
        ({"texts": [1]}, "wanted a text, got 1"),
    ],
)
def test_what_does_not_fit_is_named(change, words):
    with pytest.raises(GoalwardError, match=f"here: .*{words}"):
        decoded(encoded(outer()) | change, Outer, "here")


def test_what_is_no_table_at_all():
    """The error is about the whole: there is no place to name."""
    with pytest.raises(GoalwardError, match="^here: no field is called x$"):
        decoded({"x": 1}, Inner, "here")


def test_a_missing_field_is_named():
    content = encoded(outer())
    del content["pair"]
    with pytest.raises(GoalwardError, match="here: pair: is missing"):
        decoded(content, Outer, "here")


@pytest.mark.parametrize("text", ["", "[]", "null", "{", "[" * 100_000])
def test_a_file_that_holds_nothing_of_the_kind(tmp_path, text):
    (tmp_path / "inner.json").write_text(text)
    with pytest.raises(GoalwardError, match=r"inner\.json: (cannot be read|holds no table)"):
        read_json(tmp_path / "inner.json", Inner)

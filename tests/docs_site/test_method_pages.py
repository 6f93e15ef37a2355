"""Every method has a page with its equation, a picture and what was measured, from one source."""

import importlib.util
import re
from pathlib import Path

import pytest

from goalward.training.methods.table import METHODS

ROOT = Path(__file__).parent.parent.parent
PAGES = ROOT / "docs" / "methods"
OF_METHODS = ("lambda_returns", "liveness", "td", "monte_carlo", "survival")


@pytest.fixture(scope="module")
def tables():
    place = ROOT / "benchmarks" / "method_tables.py"
    spec = importlib.util.spec_from_file_location("method_tables", place)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_method_that_can_be_chosen_is_on_a_page():
    texts = "".join((PAGES / f"{name}.md").read_text() for name in OF_METHODS)
    assert [name for name in METHODS if f"`{name}`" not in texts] == []


@pytest.mark.parametrize("name", OF_METHODS)
def test_a_page_has_an_equation_a_picture_and_what_was_measured(name):
    text = (PAGES / f"{name}.md").read_text()
    assert "```math" in text
    assert f"](../pictures/methods/{name}.jpg)" in text
    assert "\n## Measured\n" in text


def test_errors_are_those_of_the_case_study(tables):
    found = tables.errors()
    # On the others of its worlds some methods were not fitted, or with fewer seeds.
    assert "pick-learned" not in found
    assert (found["cloth"]["td"], found["mw-shelf-place"]["survival"]) == (0.454, 0.238)
    for name in ("overview", *tables.OF_PAGES):
        page = (PAGES / f"{name}.md").read_text()
        assert tables.START + tables.measured(name) + tables.END in page, name


def test_means_are_those_of_their_columns(tables):
    *rows, means = tables.table(tables.errors()).splitlines()[2:]
    columns = zip(*(re.findall(r"\d\.\d+", row) for row in rows), strict=True)
    for column, mean in zip(columns, re.findall(r"\d\.\d+", means), strict=True):
        assert sum(map(float, column)) / len(rows) == pytest.approx(float(mean), abs=6e-4)

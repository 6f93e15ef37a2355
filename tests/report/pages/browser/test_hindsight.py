"""The switch between what could be said at each frame and what the recording says of it."""

from pathlib import Path

import numpy as np
import pytest
from rollout_files.drawn_runs import drawn_episode, drawn_run

from goalward.report.pages.files import write_pages
from goalward.rollouts.episode import Outcome


@pytest.fixture(scope="module")
def two_curves(tmp_path_factory) -> Path:
    """Two successes of 40 frames whose value says 5 steps to go all the way."""
    folder = tmp_path_factory.mktemp("hindsight")
    episodes = [drawn_episode(name, 40, outcome=Outcome.SUCCESS) for name in ("a", "b")]
    run, _ = drawn_run(episodes, {"td": [np.full((1, 40), 5.0)] * 2}, folder, hindsight=1.0)
    return write_pages(run, None, folder / "report")


def reading(page) -> str:
    return page.inner_text(".chip[data-method=td] .reading")


def pixels(page) -> str:
    return page.evaluate("document.querySelector('.curve-canvas').toDataURL()")


def test_the_curve_of_the_marks_is_shown_and_one_switch_shows_hindsight(two_curves, open_report):
    reader = open_report(two_curves)
    page = reader.open_episode("#episode?id=a&frame=10")
    assert reading(page) == "5 steps"
    assert page.get_attribute(".segment[data-curve=now]", "aria-pressed") == "true"
    words = page.inner_text(".view-words")
    assert words.startswith("Now: what could be said at each frame")
    assert words.endswith("Marks are found in this curve.")
    assert "curve=" not in reader.address
    before = pixels(page)
    page.click(".segment[data-curve=hindsight]")
    # 29 frames before its goal.
    assert reading(page) == "29 steps"
    assert page.get_attribute(".segment[data-curve=hindsight]", "aria-pressed") == "true"
    assert page.get_attribute(".curve-slider", "aria-valuetext") == "frame 10, 29 steps to go"
    words = page.inner_text(".view-words")
    assert words.startswith("In hindsight: how things stood at each frame")
    assert words.endswith("Marks are found in the other curve.")
    assert pixels(page) != before
    assert "curve=hindsight" in reader.address
    # The scale is another switch.
    assert page.get_attribute(".segment[data-scale=value]", "aria-pressed") == "true"


def test_the_keyboard_switches_it_and_the_scale_apart(two_curves, open_report):
    page = open_report(two_curves).open_episode("#episode?id=a&frame=10")
    page.keyboard.press("h")
    assert reading(page) == "29 steps"
    page.keyboard.press("s")
    assert page.get_attribute(".segment[data-scale=steps]", "aria-pressed") == "true"
    assert page.get_attribute(".segment[data-curve=hindsight]", "aria-pressed") == "true"
    page.keyboard.press("h")
    assert reading(page) == "5 steps"
    page.focus(".segment[data-curve=hindsight]")
    page.keyboard.press("Enter")
    assert reading(page) == "29 steps"


def test_what_was_chosen_is_remembered_and_a_link_says_more(two_curves, open_report):
    reader = open_report(two_curves)
    page = reader.open_episode("#episode?id=a&frame=10")
    page.keyboard.press("h")
    page.keyboard.press("n")
    page.wait_for_selector("h1[title=b]")
    assert page.get_attribute(".segment[data-curve=hindsight]", "aria-pressed") == "true"
    page = reader.open_episode("#episode?id=a&frame=10")
    assert reading(page) == "29 steps"
    # A copy of the address shows somebody else the same.
    assert "curve=hindsight" in reader.address
    page = reader.open_episode("#episode?id=a&frame=10&curve=now")
    assert reading(page) == "5 steps"
    page = reader.open_episode("#episode?id=a&frame=10&curve=nonsense")
    assert reading(page) == "29 steps"

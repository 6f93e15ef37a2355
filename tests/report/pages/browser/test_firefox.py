"""The pages in Firefox, from disk: numbers, charts, the table, the player, what it cannot play."""

import os
import shutil

import pytest

from report.pages.browser.firefox import BROWSERS, Firefox

RIGHT = "\ue014"
CAN_PLAY = "document.createElement('video').canPlayType('video/mp4; codecs=\"avc1.64001f\"') !== ''"


@pytest.fixture(scope="module")
def firefox():
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        problem = f"no Firefox here: none of {', '.join(BROWSERS)} is installed"
        if os.environ.get("GOALWARD_REQUIRE_BROWSER") == "1":
            pytest.fail(problem)
        pytest.skip(problem)
    opened = Firefox(program)
    yield opened
    opened.close()


def show(firefox, index, address=""):
    """As from a link: a new page, whatever was shown before."""
    firefox.open("about:blank")
    firefox.open(index.as_uri() + address)
    firefox.until("document.documentElement.dataset.ready === 'yes'")


def press(firefox, key):
    strokes = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
    keyboard = {"type": "key", "id": "keyboard", "actions": strokes}
    firefox.ask("WebDriver:PerformActions", {"actions": [keyboard]})


def test_the_first_screen_and_its_charts(firefox, demo_report):
    show(firefox, demo_report)
    assert firefox.evaluate("document.querySelector('.big').textContent") == "50\u00a0%"
    assert firefox.evaluate("document.getElementById('problem').hidden")
    firefox.until("document.documentElement.dataset.charts === 'drawn'")
    assert firefox.evaluate("document.querySelectorAll('.plot svg.main-svg').length") > 0


def test_the_table(firefox, demo_report):
    show(firefox, demo_report, "#episodes?outcome=time_out")
    assert firefox.evaluate("document.querySelectorAll('table.episodes tbody tr').length") == 3


def test_the_player_moves_with_the_keyboard_and_plays_or_says_why_not(firefox, demo_report):
    show(firefox, demo_report, "#episode?id=1&frame=20")
    firefox.until("document.querySelector('.curve-slider')")
    press(firefox, RIGHT)
    firefox.until("document.querySelector('.curve-slider').getAttribute('aria-valuenow') === '21'")
    if firefox.evaluate(CAN_PLAY):
        firefox.until("[...document.querySelectorAll('video')].every(v => v.readyState >= 2)")
    else:
        shown = firefox.evaluate("document.querySelector('.player').textContent")
        assert "This browser has no codec for these videos (h264)" in shown
        assert firefox.evaluate("document.querySelectorAll('.player img').length") == 2
        # Each camera its own half of the still, which has both side by side.
        firefox.until("[...document.querySelectorAll('.player img')].every(i => i.style.width)")
        sizes = "[...document.querySelectorAll('.player img')].map(i => [i.naturalWidth, i.width])"
        assert firefox.evaluate(sizes) == [[320, 160], [320, 160]]
        places = "[...document.querySelectorAll('.player img')].map(i => i.style.objectPosition)"
        assert firefox.evaluate(places) == ["0px 0px", "-160px 0px"]

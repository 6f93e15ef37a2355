"""Everybody can read the pages: axe-core finds nothing, in both themes, on a screen and a phone."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGES = ["", "#episodes", "#words", "#episode?id=1&frame=20"]
SCREENS = [(1440, 900), (390, 844)]
THEMES = ("light", "dark")


def axe_core() -> str:
    """The checker's own script; it comes with a package for tests."""
    spec = find_spec("axe_playwright_python")
    if spec is None or spec.origin is None:
        problem = "axe-playwright-python is not installed"
        if os.environ.get("GOALWARD_REQUIRE_BROWSER") == "1":
            pytest.fail(problem)
        pytest.skip(problem)
    return (Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8")


def violations(page) -> list[str]:
    """In words; style sheets are not asked for again, which a page from disk may not do."""
    page.evaluate(axe_core())
    found = page.evaluate("axe.run({preload: false}).then(({violations}) => violations)")
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:160]}"
        for one in found
        for node in one["nodes"][:4]
    ]


def violations_by_theme(page) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for theme in THEMES:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.wait_for_timeout(300)  # colours that fade into each other are none of either
        found[theme] = violations(page)
    return found


@pytest.mark.parametrize("address", PAGES)
@pytest.mark.parametrize("screen", SCREENS)
def test_axe_finds_nothing(demo_report, open_report, address, screen):
    size = {"width": screen[0], "height": screen[1]}
    reader = open_report(demo_report, viewport=size).without_charts()
    page = reader.open_episode(address) if "episode?" in address else reader.open(address)
    assert violations_by_theme(page) == {"light": [], "dark": []}


def test_axe_finds_nothing_in_charts_and_what_is_unfolded(demo_report, open_report):
    reader = open_report(demo_report)
    page = reader.open()
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    reader.until("document.documentElement.dataset.charts === 'drawn'")
    assert violations(page) == []


@pytest.mark.parametrize("button", ["#notes", "#beside", ".help-button"])
def test_axe_finds_nothing_in_dialogs(demo_report, open_report, button):
    page = open_report(demo_report).without_charts().open_episode("#episode?id=1")
    page.click(button)
    page.wait_for_selector("dialog[open]")
    assert violations(page) == []


def test_axe_finds_what_was_planted(demo_report, open_report):
    page = open_report(demo_report).without_charts().open()
    page.evaluate("document.querySelector('.brand').removeAttribute('aria-label')")
    page.evaluate("document.querySelector('.brand-word').remove()")
    assert any("link-name" in one for one in violations(page))


def test_marks_of_events_have_room_for_a_finger(demo_report, open_report):
    reader = open_report(demo_report).without_charts()
    page = reader.open_episode("#episode?id=1")
    sizes = page.eval_on_selector_all(
        ".mark", "all => all.map(m => Math.min(m.offsetWidth, m.offsetHeight))"
    )
    assert sizes
    assert min(sizes) >= 24

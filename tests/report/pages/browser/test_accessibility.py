"""Everybody can read the pages: axe-core finds nothing, in both themes, on a screen and a phone."""

from importlib.util import find_spec
from pathlib import Path

import pytest

PAGES = ["", "#episodes", "#episode?id=1&frame=20"]
SCREENS = [(1440, 900), (390, 844)]


def axe_core() -> str:
    """The checker's own script; it comes with a package for tests."""
    spec = find_spec("axe_playwright_python")
    if spec is None or spec.origin is None:
        pytest.skip("axe-playwright-python is not installed")
    return (Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8")


def violations(page) -> list[str]:
    page.evaluate(axe_core())
    found = page.evaluate("axe.run().then(({violations}) => violations)")
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:160]}"
        for one in found
        for node in one["nodes"][:4]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("address", PAGES)
@pytest.mark.parametrize("screen", SCREENS)
def test_axe_finds_nothing(demo_report, open_report, address, theme, screen):
    size = {"width": screen[0], "height": screen[1]}
    reader = open_report(demo_report, viewport=size, color_scheme=theme).without_charts()
    page = reader.open_episode(address) if "episode?" in address else reader.open(address)
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

"""Everybody can read the pages: axe-core finds nothing, in both themes, on a screen and a phone."""

import os
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlencode

import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

import goalward
from goalward.report.pages.files import write_pages
from goalward.report.pages.runs_page import write_runs_page
from goalward.rollouts.episode import Outcome
from goalward.runs.folder.stored import write_run
from report.pages.browser.conftest import PATIENCE_MS

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


@pytest.fixture(scope="session")
def pages_of_two(tmp_path_factory) -> dict[str, tuple[Path, str]]:
    """What shows two runs: the page of several runs, a comparison, two players side by side."""
    folder = tmp_path_factory.mktemp("two")
    folders = [folder / "a", folder / "b"]
    for i, place in enumerate(folders):
        outcomes = [Outcome.SUCCESS if at % 3 == i else Outcome.TIME_OUT for at in range(20)]
        episodes = [
            drawn_episode(f"a long name of take {at}", 20, outcome=outcome, task=f"task {at % 2}")
            for at, outcome in enumerate(outcomes)
        ]
        run, _ = drawn_run(episodes, {"td": [countdown(20)] * 20}, place, policy=f"policy {i}")
        write_run(run)
        write_pages(run, None, place / "report")
    runs = write_runs_page([goalward.open_run(place) for place in folders], folder / "all")
    goalward.compare(*folders, out=folder / "compared")
    sides = urlencode(dict.fromkeys("ab", f"index.html#episode?id={run.episodes[0].id}"))
    return {
        "several runs": (runs, ""),
        "comparison": (folder / "compared" / "index.html", ""),
        "side by side": (folders[0] / "report" / "beside.html", f"#{sides}"),
    }


@pytest.mark.parametrize("name", ["several runs", "comparison", "side by side"])
@pytest.mark.parametrize("screen", SCREENS)
def test_axe_finds_nothing_on_pages_of_two_runs(pages_of_two, browser, name, screen):
    index, address = pages_of_two[name]
    context = browser.new_context(viewport={"width": screen[0], "height": screen[1]})
    page = context.new_page()
    page.goto(index.as_uri() + address)
    for frame in page.frames[1:]:
        frame.wait_for_selector(".cursor-label", timeout=PATIENCE_MS)
    assert violations_by_theme(page) == {"light": [], "dark": []}
    context.close()


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

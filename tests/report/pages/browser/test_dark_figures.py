"""Pages of several runs in the dark: their figures are as dark as they are, and white on paper."""

from io import BytesIO

import pytest
from PIL import Image, ImageColor
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

import goalward
from goalward.report.pages.colours import DARK_PANEL, LIGHT_PANEL
from goalward.report.pages.runs_page import write_runs_page
from goalward.rollouts.episode import Outcome
from goalward.runs.folder.stored import write_run

BLUE = (0, 114, 178)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Several runs, a comparison of them, and a ranking by votes."""
    folder = tmp_path_factory.mktemp("dark")
    outcomes = [Outcome.SUCCESS, Outcome.TIME_OUT] * 4
    for name in "ab":
        episodes = [drawn_episode(str(i), 30, outcome=one) for i, one in enumerate(outcomes)]
        run, _ = drawn_run(episodes, {"td": [countdown(30)] * 8}, folder / name, policy=name)
        write_run(run)
    runs = [goalward.open_run(folder / name) for name in "ab"]
    goalward.compare(*(folder / name for name in "ab"), out=folder / "compared")
    votes = folder / "votes.csv"
    votes.write_text("\n".join(["policy_a,policy_b,winner", *["a,b,b"] * 9, "a,b,a"]))
    goalward.rank_preferences(votes, out=folder / "preferred")
    return {
        "several runs": (write_runs_page(runs, folder / "all"), 1),
        "comparison": (folder / "compared" / "index.html", 2),
        "preferences": (folder / "preferred" / "index.html", 1),
    }


def grounds(page):
    """The commonest colour of each figure, which must hold lines as well."""
    found = []
    for figure in page.locator(".figure").all():
        # One of the twins, also for who cannot see.
        assert figure.get_by_role("img").count() == 1
        with Image.open(BytesIO(figure.screenshot())) as picture:
            counted = {one: count for count, one in picture.convert("RGB").getcolors(1 << 20) or ()}
        assert counted[BLUE] > 50
        found.append(max(counted, key=counted.__getitem__))
    return found


@pytest.mark.parametrize("name", ["several runs", "comparison", "preferences"])
def test_figures_have_the_colours_of_their_page(pages, open_report, name):
    index, number = pages[name]
    page = open_report(index, color_scheme="dark").page
    page.goto(index.as_uri())
    light, dark = (ImageColor.getrgb(panel) for panel in (LIGHT_PANEL, DARK_PANEL))
    assert grounds(page) == [dark] * number
    page.click("#theme-switch")
    assert grounds(page) == [light] * number
    page.click("#theme-switch")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert grounds(page) == [light] * number

"""A figure and its twin on dark: the same drawing in colours that are seen there."""

import re

import pytest
from matplotlib.figure import Figure

from goalward.looks import GRID_COLOUR, POLICY_COLOURS, QUIET_COLOUR, TEXT_COLOUR
from goalward.report.pages.colours import DARK_PANEL, contrast
from goalward.report.pages.page_figures import page_figure, save_page_figure


@pytest.fixture
def drawn(tmp_path):
    """Words and lines in every colour that figures of several policies have, on both papers."""
    figure = Figure(figsize=(3, 2))
    axes = figure.subplots()
    for place, colour in enumerate((*POLICY_COLOURS, QUIET_COLOUR)):
        axes.plot([0, 1], [place, place + 1], color=colour, marker="o", label=f"{place}")
    axes.fill_between([0, 1], 2, 3, color=POLICY_COLOURS[-1], alpha=0.2)
    axes.set_title("words", color=TEXT_COLOUR)
    axes.grid(color=GRID_COLOUR)
    axes.legend()
    save_page_figure(figure, tmp_path, "rates")
    return [(tmp_path / name).read_text() for name in ("rates.svg", "assets/rates_dark.svg")]


def test_every_line_of_the_twin_stays_where_it_was(drawn):
    light, dark = (re.sub("#[0-9a-f]{6}", "colour", text) for text in drawn)
    assert dark == light.replace('text/css">*', 'text/css">svg{fill: colour}*')
    assert light != dark


def test_everything_is_seen_on_dark(drawn):
    light, dark = (re.findall("(?:fill|stroke): (#[0-9a-f]{6})", text) for text in drawn)
    # What has no colour of its own, as words have, is filled as the whole drawing is.
    assert dark[0] == "#eeeeee"
    pairs = set(zip(light, dark[1:], strict=True))
    shown = {before: after for before, after in pairs if contrast(after, DARK_PANEL) >= 3}
    assert set(POLICY_COLOURS) | {QUIET_COLOUR, TEXT_COLOUR} <= set(shown)
    # One colour of a policy is never taken for another's.
    assert len({shown[colour] for colour in POLICY_COLOURS}) == len(POLICY_COLOURS)
    assert {before for before, _ in pairs} - set(shown) == {"#ffffff", GRID_COLOUR}
    assert ("#ffffff", DARK_PANEL) in pairs


def test_words_of_figures_are_no_markup():
    shown = page_figure("a&b", '"><b>')
    assert "<b>" not in shown
    assert 'src="a%26b.svg"' in shown
    assert 'src="assets/a%26b_dark.svg"' in shown

"""Names in any alphabet are shown, or else their codes; boxes never are."""

import numpy as np
import pytest
from matplotlib import font_manager

from goalward.report.figures import glyphs
from goalward.report.figures.glyphs import drawable, fonts_for

LATIN_AND_GREEK = "ours-2 λ Ünïcode"


def test_letters_of_the_usual_font_stay():
    assert fonts_for([LATIN_AND_GREEK]) == ["sans-serif"]
    assert drawable(LATIN_AND_GREEK, ["sans-serif"]) == LATIN_AND_GREEK


def test_a_font_that_has_the_letters_is_chosen(monkeypatch):
    """Two letters that DejaVu lacks, and a font that has one of them."""
    usual = glyphs._letters
    monkeypatch.setattr(glyphs, "_others", lambda: (("Nothing", "/n"), ("Han", "/han")))
    monkeypatch.setattr(
        glyphs, "_letters", lambda path: {"/n": frozenset(), "/han": frozenset("策")}.get(path)
        or (frozenset() if path == "/n" else usual(path))
    )  # fmt: skip
    families = fonts_for(["策略 a"])
    assert families == ["sans-serif", "Han"]
    assert drawable("策略 a", families) == "策\\u7565 a"


def test_a_font_of_boxes_does_not_count():
    """It comes with matplotlib, claims all letters and shows none."""
    assert any("Last Resort" in font.name for font in font_manager.fontManager.ttflist)
    assert not any("Last Resort" in family for family in fonts_for(["策"]))


@pytest.mark.parametrize("name", ["策略", "정책", "plain"])
def test_figures_have_no_boxes(name, tmp_path, recwarn):
    from rollout_files.outcomes import outcome_rows, table_of

    from goalward.metrics.comparing.comparison import compare
    from goalward.report.figures.comparison import CODES_NOTE, comparison_figure

    found = compare(table_of(tmp_path, outcome_rows(name, 5, 10), outcome_rows("b", 6, 10)))
    figure = comparison_figure(found, {})
    figure.savefig(tmp_path / "figure.png")
    assert not [warning for warning in recwarn if "Glyph" in str(warning.message)]
    noted = [text.get_text() for text in figure.texts]
    coded = drawable(name, fonts_for([name])) != name
    assert (CODES_NOTE in noted) == coded
    assert np.isfinite(figure.get_size_inches()).all()

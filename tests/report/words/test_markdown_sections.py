"""The summary taken apart: every name comes back as it was, and doubts are found."""

import pytest

from goalward.report.words.markdown_sections import (
    doubts,
    inline_runs,
    plain_text,
    summary_sections,
)
from goalward.report.words.tables import escaped_markdown


@pytest.mark.parametrize(
    "name", ["put *it* there", "a_b", "50 % | <b>", "`rm`", r"back\slash", "</script>", "日本 🤖"]
)
def test_a_name_that_the_summary_escaped_comes_back_as_it_was(name):
    assert inline_runs(f"**episode** {escaped_markdown(name)}") == [
        ("strong", "episode"),
        ("", f" {name}"),
    ]


def test_sections_hold_paragraphs_and_lists():
    sections = summary_sections(
        "# ours\n\nHalf of them.\n\n## How it was done\n\nLeft out:\n\n- episode 7: cut off\n- 8\n"
    )
    assert [section.title for section in sections] == ["", "How it was done"]
    assert sections[0].blocks == [("p", [("", "Half of them.")])]
    assert sections[1].blocks == [
        ("p", [("", "Left out:")]),
        ("ul", [[("", "episode 7: cut off")], [("", "8")]]),
    ]


def test_what_must_not_be_relied_on_is_found():
    sections = summary_sections(
        "# ours\n\n**Success rate** 5 %.\n\n**Do not rely on values of `td_*`**: no.\n"
    )
    assert doubts(sections) == [
        [("strong", "Do not rely on values of "), ("code", "td_*"), ("", ": no.")]
    ]


def test_a_star_without_a_partner_loses_no_words():
    assert plain_text(inline_runs("2 * 3")) == "2  3"
    assert inline_runs("a *b") == [("", "a "), ("em", "b")]


def test_an_empty_summary_has_no_words():
    assert summary_sections("")[0].blocks == []

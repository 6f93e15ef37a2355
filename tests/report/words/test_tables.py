"""Tables of scores: literal Markdown and LaTeX, and text from users that must not break them."""

import subprocess
import sys
from dataclasses import replace

import pytest

from goalward.metrics.score import Interval, Score
from goalward.metrics.scores.card import CardRow
from goalward.metrics.scores.table import SCORES
from goalward.metrics.uncertainty.intervals import over_seeds
from goalward.metrics.uncertainty.significance import method_tests
from goalward.report.words.tables import (
    Cell,
    Table,
    escaped_latex,
    escaped_markdown,
    score_table,
)


def row(*values, reason=""):
    scores = tuple(Score(value, "" if value is not None else reason) for value in values)
    return CardRow(scores, over_seeds(scores), Interval(0.0, 1.0))


def kinds(*names):
    return {name: SCORES[name] for name in names}


def differences(cards, metric):
    return method_tests({n: [s.value for s in c[metric].by_seed] for n, c in cards.items()})


CARDS = {
    "liveness": {"success": row(0.90, 0.92, 0.94), "spearman": row(-0.20, -0.25, -0.30)},
    "td": {"success": row(0.50, 0.52, 0.54), "spearman": row(0.10, 0.11, 0.12)},
    "mc_2": {
        "success": row(None, None, None, reason="no episode succeeded"),
        "spearman": row(0.10, 0.11, 0.12),
    },
}


def test_markdown_by_the_letter():
    tested = {name: CARDS[name] for name in ("liveness", "td")}
    tests = {"success": differences(tested, "success"), "spearman": differences(CARDS, "spearman")}
    assert score_table(CARDS, kinds("success", "spearman"), tests).markdown() == (
        "| method | success ↑ | spearman ↑ |\n"
        "| --- | ---: | ---: |\n"
        "| liveness | **0.920 ± 0.020** a | −0.250 ± 0.050 b |\n"  # noqa: RUF001
        "| td | 0.520 ± 0.020 b | **0.110 ± 0.010** a |\n"
        "| mc\\_2 | not defined: no episode succeeded | **0.110 ± 0.010** a |\n"
        "\n"
        "Bold: the best mean of a column. "
        "Methods without a common letter in a column differ (alpha = 0.05).\n"
    )


def test_latex_by_the_letter():
    tests = {"spearman": differences(CARDS, "spearman")}
    assert score_table(CARDS, kinds("success", "spearman"), tests).latex() == (
        "% Bold: the best mean of a column.\n"
        "% Methods without a common letter in a column differ (alpha = 0.05).\n"
        "\\begin{tabular}{lcc}\n"
        "\\toprule\n"
        "method & success $\\uparrow$ & spearman $\\uparrow$ \\\\\n"
        "\\midrule\n"
        "liveness & $\\mathbf{0.920 \\pm 0.020}$ & $-0.250 \\pm 0.050^{\\mathrm{b}}$ \\\\\n"
        "td & $0.520 \\pm 0.020$ & $\\mathbf{0.110 \\pm 0.010}^{\\mathrm{a}}$ \\\\\n"
        "mc\\_2 & not defined: no episode succeeded & "
        "$\\mathbf{0.110 \\pm 0.010}^{\\mathrm{a}}$ \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
    )


def test_one_seed_has_no_deviation_and_no_letters():
    cards = {"td": {"success": row(0.5)}, "mc": {"success": row(0.25)}}
    table = score_table(cards, kinds("success"), {"success": differences(cards, "success")})
    assert [cells[0].plain() for _, cells in table.rows] == ["0.500", "0.250"]
    assert table.notes == ("Bold: the best mean of a column.", "One seed: no deviation.")


def test_setbacks_are_in_steps_and_none_is_best():
    cards = {"td": {"setback_in_other": row(9.96, 10.04)}, "mc": {"setback_in_other": row(3, 3)}}
    table = score_table(cards, kinds("setback_in_other"))
    assert [cells[0].plain() for _, cells in table.rows] == ["10.0 ± 0.1", "3.0 ± 0.0"]
    assert table.columns == ("setback in other",)
    assert table.notes == ()


def test_where_fewer_are_better_the_fewest_are_best():
    fewer = {"steps": replace(SCORES["setback_in_other"], shown="steps", better="lower")}
    cards = {"td": {"steps": row(9, 10, 11)}, "mc": {"steps": row(3.02, 2.98, 3)}}
    table = score_table(cards, fewer, {"steps": differences(cards, "steps")})
    assert table.markdown().splitlines()[0] == "| method | steps ↓ |"
    assert table.latex().splitlines()[4] == "method & steps $\\downarrow$ \\\\"
    assert [cells[0].markdown() for _, cells in table.rows] == ["10.0 ± 1.0 b", "**3.0 ± 0.0** a"]


def test_numbers_that_round_to_nothing_have_no_sign():
    assert Cell(-0.0004, 0.0).plain() == "0.000 ± 0.000"


@pytest.mark.parametrize(
    ("text", "markdown", "latex"),
    [
        ("a|b", r"a\|b", r"a\textbar{}b"),
        ("50% & $1", r"50% \& \$1", r"50\% \& \$1"),
        ("_x_ *y*", r"\_x\_ \*y\*", r"\_x\_ {*}y{*}"),
        ("[1](u) <b>", r"\[1\](u) \<b\>", r"{[}1](u) \textless{}b\textgreater{}"),
        (
            "a\\b{c}^~#",
            r"a\\b{c}^\~#",
            r"a\textbackslash{}b\{c\}\textasciicircum{}"
            r"\textasciitilde{}\#",
        ),
        ("two\nlines\t!", "two lines !", "two lines !"),
        ("bell\x07", r"bell\\x07", r"bell\textbackslash{}x07"),
        ("Würfel 布", "Würfel 布", "Würfel 布"),
    ],
)
def test_text_of_users_shows_as_it_is(text, markdown, latex):
    assert escaped_markdown(text) == markdown
    assert escaped_latex(text) == latex


def test_names_of_rows_cannot_break_a_table():
    table = Table("who | what", ("a & b",), (("[x]\n| y \\\\", (Cell(1.0),)),), ("50 %\n\\end",))
    lines = table.markdown().splitlines()
    assert lines[0] == "| who \\| what | a \\& b |"
    assert lines[2] == "| \\[x\\] \\| y \\\\\\\\ | 1.000 |"
    latex = table.latex().splitlines()
    assert latex[0] == "% 50 % \\end"
    assert latex[3] == "who \\textbar{} what & a \\& b \\\\"
    assert latex[5] == "{[}x] \\textbar{} y \\textbackslash{}\\textbackslash{} & $1.000$ \\\\"


def test_reports_need_no_torch():
    code = "import sys, goalward.report.figures.scores; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)

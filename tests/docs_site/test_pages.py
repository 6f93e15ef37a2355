"""What the site says is there is there."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import goalward
from docs_site.notebooks import code_cells, stored
from docs_site.test_notebooks import NOTEBOOKS
from goalward.cli.app import app
from goalward.runs.folder.described import run_files

LINK = re.compile(r'(?:href|src)="?([^">\s]+)')
# A script, a style, a picture or a font; a link that somebody may follow is another thing.
LOADED = re.compile(r'<(?!a\b)\w+[^>]*?\s(?:href|src)="?(https?:[^">\s]+)')
ANCHOR = re.compile(r'(?:id|name)="?([^">\s]+)')


def pages(site: Path) -> dict[Path, str]:
    """Pages of our own; the report in the gallery has tests of its own."""
    inside = site / "report"
    return {
        path: path.read_text()
        for path in sorted(site.rglob("*.html"))
        if inside not in path.parents and path.name != "404.html"
    }


def test_no_link_is_broken_and_nothing_is_loaded_from_elsewhere(site):
    texts = pages(site)
    assert len(texts) > 40
    anchors = {path: {unescape(a) for a in ANCHOR.findall(text)} for path, text in texts.items()}
    broken: list[str] = []
    for path, text in texts.items():
        broken += [f"{path.name}: asks for {link}" for link in LOADED.findall(text)]
        for link in map(unescape, LINK.findall(text)):
            if urlsplit(link).scheme:
                continue
            address, anchor = urldefrag(link)
            there = (path.parent / unquote(address)).resolve() if address else path
            if not there.exists():
                broken.append(f"{path.name}: {link}")
            elif anchor and there in anchors and unquote(anchor) not in anchors[there]:
                broken.append(f"{path.name}: no place {link}")
    assert broken == []


def test_no_list_runs_together(site):
    """Without an empty line before it, Markdown makes one paragraph of a list."""
    together = re.compile(r"<p>(?:(?!</p>|<pre|<code).)*?\n\s*(?:[-*]|\d+\.) \S", re.DOTALL)
    found = {path: together.findall(text) for path, text in pages(site).items()}
    assert {name: texts for name, texts in found.items() if texts} == {}


def test_every_public_name_has_its_signature_and_words(site):
    text = (site / "reference" / "python.html").read_text()
    for name in goalward.__all__:
        home = f"goalward.{goalward._HOMES[name]}.{name}"
        assert f'id="{home}"' in text, name


def test_examples_in_docstrings_are_code(site):
    text = (site / "reference" / "python.html").read_text()
    assert "&gt;&gt;&gt;" in text
    assert "<blockquote>" not in text


def test_every_verb_is_in_the_reference_as_its_help_says(site):
    text = (site / "reference" / "commands.html").read_text()
    verbs = [name for name in app if not name.startswith("-")]
    assert "evaluate" in verbs
    for verb in verbs:
        assert f"goalward {verb}" in text, verb
    assert "--standard-horizon" in text
    # One list of them, and no table of contents beside it.
    assert "Table of Contents" not in text
    assert all(f'<li><a href="#goalward-{verb}">' in text for verb in verbs)


def test_every_file_of_a_run_is_in_the_reference_with_its_schema(site):
    text = (site / "reference" / "run_files.html").read_text()
    for file in run_files():
        assert f"<code>{file.path}</code>" in text, file.path
        assert all(f"<code>{column.name}</code>" in text for column in file.columns), file.path
    schemas = {path.name for path in (site / "reference" / "schemas").iterdir()}
    assert {"scores.schema.json", "config.schema.json", "networks.run.schema.json"} <= schemas


def test_equations_are_typeset(site):
    text = (site / "methods" / "liveness.html").read_text()
    assert "<math " in text
    assert "\\min" in text  # in words, for who cannot see it
    assert "```math" not in text


def test_no_equation_shows_how_it_was_typed(site):
    """A backslash that the typesetter left is one that readers see."""
    drawn = re.compile(r"<math.*?</math>", re.DOTALL)
    found = {path: drawn.findall(text) for path, text in pages(site).items()}
    assert sum(map(len, found.values())) > 5
    assert [name for name, maths in found.items() if any("\\" in math for math in maths)] == []


def test_a_prime_is_no_exponent(site):
    """As an exponent it would float high above its letter."""
    drawn = re.findall(r"<math.*?</math>", (site / "methods" / "td.html").read_text(), re.DOTALL)
    assert any("\u2032" in unescape(math) for math in drawn)
    assert not any(re.search(r"<msup>[^/]*</mi><m[io]>\u2032", unescape(m)) for m in drawn)


def test_what_a_command_is_for_stays_with_it(site):
    """In a column of its own, and as it was typed when it is copied."""
    text = (site / "start" / "install.html").read_text()
    found = re.search(r'<span class="line commented"><span>(.*?)</span></span>', text, re.DOTALL)
    assert found
    words = unescape(re.sub(r"<[^>]+>", "", found[1]))
    typed = (Path(__file__).parent.parent.parent / "docs" / "start" / "install.md").read_text()
    assert words.startswith("goalward --version ")
    assert f"    {words.rstrip()}\n" in typed


def test_every_notebook_is_a_page_with_what_it_shows(site):
    for notebook in NOTEBOOKS:
        text = (site / "examples" / f"{notebook.stem}.html").read_text()
        assert (site / "examples" / notebook.name).read_bytes() == notebook.read_bytes()
        words = unescape(re.sub(r"<[^>]+>", "", text))
        for cell in code_cells(notebook):
            assert stored(cell) == [] or "".join(stored(cell)).strip() in words
    assert "examples/from_lerobot_to_values.html" in (site / "evaluating.html").read_text()


def test_the_gallery_holds_a_report_that_works_alone(site):
    assert 'src="report/index.html"' in (site / "gallery.html").read_text()
    assert (site / "report" / "index.html").is_file()

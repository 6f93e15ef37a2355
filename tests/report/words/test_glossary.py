"""The words: one list for the page and the docs, and no event or outcome without its word."""

from pathlib import Path

from goalward.looks import EVENT_LOOKS
from goalward.report.words.glossary import GLOSSARY, glossary_markdown
from goalward.values.events import EventKind

DOCS = Path(__file__).parents[3] / "docs"


def test_the_docs_have_the_words_of_the_page():
    assert (DOCS / "words.md").read_text(encoding="utf-8") == glossary_markdown()


def test_every_event_is_explained():
    told = GLOSSARY["What happened in an episode"] | GLOSSARY["What was recorded"]
    assert [look.word for look in map(EVENT_LOOKS.get, EventKind) if look.word not in told] == []

"""A contributor who follows CONTRIBUTING.md finds every file that it names."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
TOPS = ("src/", "tests/", "docs/", "benchmarks/", "case_studies/", "examples/", ".ci/")
FILES = (
    *("mkdocs.yml", "pyproject.toml", "constraints.txt", "Makefile"),
    *("CHANGELOG.md", "CITATION.cff"),
)


def test_every_file_that_is_named_exists():
    named = {name for name in re.findall(r"`([^`\s*]+)`", TEXT) if name.startswith(TOPS)}
    named |= {name for name in re.findall(r"`([^`\s]+)`", TEXT) if name in FILES}
    assert len(named) > 30
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_every_file_of_the_walk_exists():
    """Paths there are below src/goalward; those that go on from the one before name its folder."""
    walk = TEXT.partition("## The walk of")[2].partition("\n## ")[0]
    missing: list[str] = []
    for row in re.findall(r"^\| \d\w* \| (.*?) \|", walk, re.MULTILINE):
        folder = ROOT / "src" / "goalward"
        for name in re.findall(r"`([^`]+)`", row):
            place = ROOT / "src" / "goalward" / name if "/" in name else folder / name
            folder = place if name.endswith("/") else place.parent
            if not place.exists():
                missing.append(name)
    assert missing == []


def test_there_is_a_change_of_each_kind():
    for kind in (
        "score",
        "method",
        "reader",
        "encoder",
        "export",
        "verb",
        "page",
        "release",
        "dependency",
    ):
        assert re.search(rf"\*\*An? {kind}", TEXT), kind

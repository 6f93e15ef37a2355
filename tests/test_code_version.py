"""The digest of code differs where the code does, and only there."""

import shutil
from pathlib import Path

import pytest

from goalward import code_version
from goalward.code_version import code_digest


@pytest.fixture
def package(tmp_path: Path, monkeypatch):
    for name in ("errors.py", "metrics/scores.py", "report/words.py", "report/pages/front.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(code_version, "_PACKAGE", tmp_path)
    code_version._digest_of.cache_clear()
    yield tmp_path
    code_version._digest_of.cache_clear()


@pytest.mark.parametrize(
    ("name", "scores", "pages"),
    [
        ("metrics/scores.py", True, False),
        ("report/pages/front.py", False, True),
        ("errors.py", True, True),
        ("metrics/notes.txt", False, False),
    ],
)
def test_a_change_is_seen_by_what_depends_on_it(package, name, scores, pages):
    before = code_digest("metrics"), code_digest("report")
    (package / name).write_text("changed")
    code_version._digest_of.cache_clear()
    after = code_digest("metrics"), code_digest("report")
    assert (before[0] != after[0], before[1] != after[1]) == (scores, pages)


def test_a_file_that_moved_is_another(package):
    before = code_digest("report")
    shutil.move(package / "report" / "words.py", package / "report" / "pages" / "words.py")
    code_version._digest_of.cache_clear()
    assert code_digest("report") != before

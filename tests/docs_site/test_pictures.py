"""No picture without a command that makes it, none changed by hand; old ones are named."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def pictures():
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "benchmarks" / "pictures.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by its name.
    sys.modules["pictures"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["pictures"]


def test_every_picture_is_as_a_command_left_it(pictures):
    assert len(pictures.all_pictures()) > 30
    assert pictures.unaccounted() == []


def test_commands_and_what_they_show_are_there(pictures):
    for name, made in pictures.read_notes().items():
        group = pictures.GROUPS[name]
        assert made["command"] == group.command
        assert pictures.files_of(group.shows), name
        program, file = group.command.split()[:2]
        assert program == "goalward" or (ROOT / file).is_file()


@pytest.fixture
def drawn(pictures, tmp_path):
    """A repository with one picture of one program, made just now."""
    (tmp_path / "docs" / "pictures").mkdir(parents=True)
    (tmp_path / "docs" / "pictures" / "a.png").write_bytes(b"a picture")
    (tmp_path / "draw.py").write_text('"""Draws."""\nprint(1)\n')
    groups = {"one": pictures.Group("python draw.py", ("docs/pictures/*",), ("draw.py",))}
    pictures.note("one", root=tmp_path, groups=groups)
    return tmp_path, groups


def test_a_picture_is_old_when_what_it_shows_has_changed(pictures, drawn):
    root, groups = drawn
    assert pictures.out_of_date(root, groups) == []
    (root / "draw.py").write_text('"""Draws well."""\n\n# With care.\nprint( 1 )\n')
    assert pictures.out_of_date(root, groups) == []
    (root / "draw.py").write_text("print(2)\n")
    assert pictures.out_of_date(root, groups) == ["one"]
    pictures.note("one", root=root, groups=groups)
    assert pictures.out_of_date(root, groups) == []


def test_pictures_that_no_command_made_are_named(pictures, drawn):
    root, groups = drawn
    place = root / "docs" / "pictures"
    assert pictures.unaccounted(root, groups) == []
    (place / "b.jpg").write_bytes(b"from elsewhere")
    (place / "a.png").write_bytes(b"painted over")
    assert pictures.unaccounted(root, groups) == [
        "docs/pictures/b.jpg: no command is noted for it",
        "docs/pictures/a.png: is not as its command left it",
    ]
    (place / "a.png").unlink()
    assert "docs/pictures/a.png: is noted and not there" in pictures.unaccounted(root, groups)

"""Notes of people on episodes, in a file beside the run."""

import json

import pytest

from goalward import GoalwardError
from goalward.runs.notes import EpisodeNote, keep_note, note_of, read_notes


def test_a_note_is_kept_beside_the_others_and_an_empty_one_takes_it_away(tmp_path):
    path = tmp_path / "notes.json"
    assert read_notes(path) == {}
    keep_note(path, "b", EpisodeNote("fällt \U0001f600", ("<b>", "again")))
    keep_note(path, "a", EpisodeNote(wrong_label=True))
    assert json.loads(path.read_text()) == {
        "a": {"note": "", "tags": [], "wrong_label": True},
        "b": {"note": "fällt \U0001f600", "tags": ["<b>", "again"], "wrong_label": False},
    }
    assert read_notes(path)["b"] == EpisodeNote("fällt \U0001f600", ("<b>", "again"))
    keep_note(path, "b", EpisodeNote())
    assert set(read_notes(path)) == {"a"}


def test_what_is_longer_than_a_note_is_cut():
    note = note_of({"note": "x" * 5000, "tags": ["y" * 300, *map(str, range(100))]})
    assert len(note.note) == 4000
    assert len(note.tags) == 50
    assert len(note.tags[0]) == 200


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{", '{"a": 1}', '{"a": {"tags": "b"}}', '{"a": {"note": 1}}', '{"a": null}'),
        *('{"a": {"wrong_label": "yes"}}', '{"a": {"wrong_lagel": true}}', "[" * 100_000),
    ],
)
def test_a_file_that_is_no_notes_is_named_and_kept(tmp_path, text):
    path = tmp_path / "notes.json"
    path.write_text(text)
    with pytest.raises(GoalwardError, match=r"notes.json: cannot be read as notes"):
        keep_note(path, "a", EpisodeNote("new"))
    assert path.read_text() == text

"""What people note of the episodes of a run: words, tags, labels that are wrong."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from goalward.errors import GoalwardError
from goalward.files import write_text

# Nobody writes more by hand; a file that is larger is none of ours.
_LARGEST = 16_000_000
_LONGEST_NOTE = 4_000
_LONGEST_TAG = 200
_MOST_TAGS = 50


@dataclass(frozen=True)
class EpisodeNote:
    """A note on one episode; `wrong_label`: somebody looked, and it did not end as recorded."""

    note: str = ""
    """In their words."""
    tags: tuple[str, ...] = ()
    """Short words to find it by."""
    wrong_label: bool = False

    @property
    def is_empty(self) -> bool:
        return not (self.note or self.tags or self.wrong_label)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def note_of(told: Mapping[str, Any]) -> EpisodeNote:
    """A note from JSON; what is longer than a note is cut, what is none is a ValueError.

    >>> note_of({"note": "slips", "tags": ["dropped", "dropped"], "wrong_label": True})
    EpisodeNote(note='slips', tags=('dropped',), wrong_label=True)
    """
    note, tags, wrong = told.get("note", ""), told.get("tags", []), told.get("wrong_label", False)
    is_list = isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)
    if not isinstance(note, str) or not is_list or not isinstance(wrong, bool):
        raise ValueError("no note")
    kept = dict.fromkeys(tag[:_LONGEST_TAG] for tag in tags if tag)
    return EpisodeNote(note[:_LONGEST_NOTE], tuple(kept)[:_MOST_TAGS], wrong)


def read_notes(path: Path) -> dict[str, EpisodeNote]:
    """The notes by episode; none where there is no file."""
    if not path.is_file():
        return {}
    try:
        if path.stat().st_size > _LARGEST:
            raise ValueError("it is too large")
        told = json.loads(path.read_text(encoding="utf-8"))
        for one in told.values():
            # A name that was damaged or mistyped would take what it names away.
            unknown = one.keys() - EpisodeNote().as_json().keys()
            if unknown:
                raise ValueError(f"it has a field {min(unknown)!r}, which no note has")
        return {name: note_of(one) for name, one in told.items()}
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise GoalwardError(
            f"{path}: cannot be read as notes ({error}); correct or remove it"
        ) from error


def keep_note(path: Path, episode: str, note: EpisodeNote) -> None:
    """Put a note in the file beside the others; an empty one takes an older one away."""
    found = read_notes(path)
    found.pop(episode, None)
    if not note.is_empty:
        found[episode] = note
    told = {name: one.as_json() for name, one in sorted(found.items())}
    write_text(path, json.dumps(told, indent=1, ensure_ascii=False) + "\n")

"""Every file of a run's folder described: its columns or fields, their types, units and meaning.

    python -m goalward.runs.folder.described scores.json      # its JSON Schema
    python -m goalward.runs.folder.described                  # which files there are

Made from what writes the files: tables from their columns, JSON and TOML from their types. The
page of the reference and the schemas on the site come from here.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goalward.checksums import CHECKSUM_KEY
from goalward.columns import Column
from goalward.errors import GoalwardError
from goalward.run_folder import RunFolder
from goalward.runs.folder.codec import FORMAT, FORMAT_KEY
from goalward.runs.folder.json_schema import described_types, field_meanings, json_schema
from goalward.runs.folder.stored import EPISODE_COLUMNS, OUTCOME_COLUMNS
from goalward.runs.making.steps import StepNote
from goalward.runs.notes import EpisodeNote
from goalward.runs.results import Results
from goalward.runs.settings import RunSettings
from goalward.training.stored.checkpoint import FACTS
from goalward.values.chances import CHANCE_COLUMNS
from goalward.values.events import EVENT_COLUMNS
from goalward.values.stored_fit import FitFacts
from goalward.values.table import VALUE_COLUMNS
from goalward.values.training_log import LOG_COLUMNS

_FORMAT = {FORMAT_KEY: {"const": FORMAT, "description": "Of the files of this version."}}
_CHECKSUM = {CHECKSUM_KEY: {"type": "string", "description": "SHA-256 of the file's own bytes."}}
# By their names in `RunFolder`.
_COLUMNS: dict[str, tuple[Column, ...]] = {
    "episodes": EPISODE_COLUMNS,
    "outcomes": OUTCOME_COLUMNS,
    "training_log": LOG_COLUMNS,
    "values": VALUE_COLUMNS,
    "chances": CHANCE_COLUMNS,
    "events": EVENT_COLUMNS,
}
_CONTENT: dict[str, tuple[Any, Mapping[str, Any]]] = {
    "config": (RunSettings, _FORMAT),
    "scores": (Results, _FORMAT),
    "notes": (dict[str, EpisodeNote], {}),
    "steps": (dict[str, StepNote], _CHECKSUM),
}


@dataclass(frozen=True)
class RunFile:
    """A file or folder of a run: a table has `columns`, JSON and TOML have `content`, a type.

    `beside` are names at the top of the file that are none of the type's fields. What has neither
    is for people, or described on a page of its own.
    """

    path: str
    what: str
    columns: tuple[Column, ...] = ()
    content: Any = None
    beside: Mapping[str, Any] | None = None

    def schema(self, *, is_closed: bool = False) -> dict[str, Any]:
        """Its JSON Schema; of a TOML file, of what it holds."""
        found = json_schema(self.content, beside=self.beside, is_closed=is_closed)
        return {"title": self.path, "description": self.what, **found}

    def undescribed(self) -> tuple[str, ...]:
        """Columns and fields that nobody has described."""
        columns = [column.name for column in self.columns if not column.meaning]
        fields = [
            f"{kind.__name__}.{name}"
            for kind in described_types(self.content)
            for name, meaning in field_meanings(kind).items()
            if not meaning
        ]
        return (*columns, *fields)


def run_files() -> tuple[RunFile, ...]:
    """Everything that `RunFolder` names, and what says who answers for what among networks."""
    folder = RunFolder(Path())
    found: list[RunFile] = []
    for name, artefact in vars(RunFolder).items():
        if not isinstance(artefact, property):
            continue
        path: Path = getattr(folder, name)
        content, beside = _CONTENT.get(name, (None, None))
        shown = path.as_posix() if path.suffix else f"{path.as_posix()}/"
        what = (artefact.__doc__ or "").strip()
        found.append(RunFile(shown, what, _COLUMNS.get(name, ()), content, beside))
        if path == folder.networks:
            facts = (path / FACTS).as_posix()
            said = "Which networks answer for what, and how they were trained."
            found.append(RunFile(facts, said, content=FitFacts, beside=_CHECKSUM))
    return tuple(found)


def run_file(path: str) -> RunFile:
    """The file of that name, among those that have a schema."""
    files = {file.path: file for file in run_files() if file.content is not None}
    if path not in files:
        raise GoalwardError(f"{path}: has no JSON Schema; there are {', '.join(files)}")
    return files[path]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(run_file(sys.argv[1]).schema(), indent=1))
    else:
        print(*(f"{file.path:20} {file.what}" for file in run_files()), sep="\n")

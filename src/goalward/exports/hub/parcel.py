"""What is sent to a hub, as two folders: the run with its networks, its values as a data set."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from goalward.errors import GoalwardError
from goalward.exports.hub.card import dataset_card, is_card, model_card
from goalward.files import write_text
from goalward.run_folder import RunFolder
from goalward.runs.folder.stored import open_run
from goalward.runs.making.values_of_run import check_networks
from goalward.runs.run import Run

CARD = "README.md"


@dataclass(frozen=True)
class Parcel:
    """Two folders as they would lie on the hub."""

    model: Path
    values: Path


def write_parcel(
    run: Run, name: str, folder: Path, *, licence: str | None = None, report: bool = True
) -> Parcel:
    """Write exactly what would be sent; the folder of the model opens as a run of its own."""
    check_networks(run.folder)
    model, values = folder / "model", folder / "values"
    for there in (model, values):
        if there.exists() and not _is_parcel(there):
            raise GoalwardError(
                f"{there}: is there and is no parcel of ours; choose another folder"
            )
        shutil.rmtree(there, ignore_errors=True)
    for file in _files_of(run.folder):
        copy = model / file.relative_to(run.folder.path)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    write_text(model / CARD, model_card(run, name, licence=licence, has_report=report))
    values.mkdir(parents=True)
    for file in (run.folder.values, run.folder.chances, run.folder.episodes, run.folder.events):
        shutil.copyfile(file, values / file.name)
    write_text(values / CARD, dataset_card(run, name, licence=licence))
    open_run(model)
    if report:
        run.report(model / "report", videos=False)
    return Parcel(model, values)


def _files_of(run: RunFolder) -> list[Path]:
    """What an evaluation makes, and nothing else: whatever lies beside it was not meant to be sent.

    What people noted stays at home, what can be made again and what other tools were given.
    """
    files = [
        *(run.config, run.steps, run.summary, run.scores, run.values, run.chances),
        *(run.episodes, run.outcomes, run.events, run.training_log),
    ]
    for folder in (run.networks, run.tables, run.figures):
        files += sorted(path for path in folder.glob("*") if not path.name.startswith("."))
    return [file for file in files if file.is_file()]


def _is_parcel(folder: Path) -> bool:
    """Many folders have a README: only one with a card of ours is replaced."""
    card = folder / CARD
    return card.is_file() and is_card(card.read_text(errors="replace"))

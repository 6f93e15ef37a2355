"""What an earlier evaluation left in a folder, removed: our own files, never anybody else's.

Results go first and settings last: whoever looks in between sees a run that is not finished.
"""

import logging
import shutil
from pathlib import Path

from goalward.errors import GoalwardError
from goalward.run_folder import LABEL_LISTS, RunFolder
from goalward.runs.making.steps import Steps

_log = logging.getLogger("goalward.runs")


def remove_run(folder: RunFolder) -> None:
    """All that has a name in `RunFolder`."""
    remove_made(folder)
    for path in (
        *(folder.report, folder.sheets, folder.exports, folder.curation),
        *_told_again(folder),
    ):
        remove(path)
    remove(folder.config)


def _told_again(folder: RunFolder) -> list[Path]:
    """What another audit writes anew; lists of labels that a person may have filled in stay."""
    found = sorted(folder.audit.iterdir()) if folder.audit.is_dir() else []
    return [path for path in found if not path.match(LABEL_LISTS)]


def remove_made(folder: RunFolder) -> None:
    """All that the steps of an evaluation make, and the notes of them."""
    for path in (
        *(folder.scores, folder.events, folder.chances, folder.values),
        *(folder.episodes, folder.outcomes, folder.summary, folder.tables, folder.figures),
    ):
        remove(path)
    remove_networks(folder)
    remove(folder.steps)


def remove_stale(folder: RunFolder, steps: Steps, inputs: dict[str, str]) -> None:
    """What steps left that were made, or begun, from other inputs than now, latest first."""
    files = {
        "episodes": (folder.episodes, folder.outcomes),
        "values": (folder.values,),
        "chances": (folder.chances,),
        "scores": (folder.scores, folder.events),
        "summary": (folder.summary,),
    }
    stale = [name for name in reversed(inputs) if not steps.is_of(name, inputs[name])]
    for name in stale:
        if name == "networks":
            remove_networks(folder)
            continue
        for path in (*files[name], *steps.files(name)):
            remove(path)
    if "values" in stale:
        remove(folder.report)
        shown = (folder.sheets, folder.exports, folder.audit, folder.curation)
        old = [path.name for path in shown if path.is_dir()]
        if old:
            words = "%s: %s there are of the values before; make them again"
            _log.warning(words, folder.path, " and ".join(old))
    # After the files: notes of files that are gone do no harm, files of unknown inputs would.
    steps.forget(*stale)


def remove_networks(folder: RunFolder) -> None:
    """Networks, those half trained too, and what was noted of their training."""
    # torch takes seconds to import: only who removes networks pays.
    from goalward.training.stored.checkpoint import remove_training

    # Before the folder of the networks, which goes where nothing is left in it.
    remove(folder.learned_frames)
    remove_training(folder.networks)
    remove(folder.training_log)


def remove(path: Path) -> None:
    """A file or a folder with all in it, if it is there; of a link the link alone."""
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise GoalwardError(f"{path}: cannot be removed ({error.strerror or error})") from error

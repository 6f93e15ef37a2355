"""What an earlier evaluation left in a folder, removed: our own files, never anybody else's.

Results go first and settings last: whoever looks in between sees a run that is not finished.
"""

import shutil
from pathlib import Path

from goalward.errors import GoalwardError
from goalward.run_folder import LABEL_LISTS, RunFolder


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


def remove_networks(folder: RunFolder) -> None:
    """Networks, those half trained too, and what was noted of their training."""
    # torch takes seconds to import: only who removes networks pays.
    from goalward.training.checkpoint import remove_training

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

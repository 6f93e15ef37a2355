"""Whether the files of a run are as they were made, and what to do where one is not."""

from pathlib import Path

from goalward.checksums import damage_explained
from goalward.config import command_behind
from goalward.run_folder import RunFolder
from goalward.runs.making.steps import Steps


def check_files(run: RunFolder, *files: Path) -> None:
    """An error if one of these files of a run was changed or damaged; it says what to do."""
    with damage_explained(remedy_of(run)):
        Steps(run.steps).check(*files)


def remedy_of(run: RunFolder) -> str:
    """What makes damaged files of a run anew, in words."""
    return f"{again(command_behind(run.config))}, which makes anew what is damaged"


def again(command: str) -> str:
    return f"run `{command or 'goalward evaluate'}` again"

"""`goalward push`: a run to the model hub, or into a folder exactly as it would be sent."""

import os
import re
import tempfile
from pathlib import Path
from typing import Any

from goalward.errors import GoalwardError, argument
from goalward.exports.hub.parcel import Parcel, write_parcel
from goalward.runs.folder.stored import open_run
from goalward.runs.run import Run

_NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_TAKEN = 409


def push(
    run: Run | str | Path,
    name: str,
    *,
    to: str | Path | None = None,
    private: bool = False,
    replace: bool = False,
    report: bool = True,
) -> list[str]:
    """Send networks, a card, the report and the values of a run to the hub; return where they are.

    `name` is `organisation/name`; the values go to a data set `organisation/name-values`. With
    `to`, a folder, nothing is sent and it holds what would be. A name that is taken is refused
    unless `replace`; `private` makes new ones private. The report has no videos: those show rooms.
    """
    run = run if isinstance(run, Run) else open_run(run)
    if not _NAME.fullmatch(name):
        raise GoalwardError(f"{name!r} is no name for the hub: it takes organisation/name")
    if to is not None:
        parcel = write_parcel(run, name, Path(to), report=report)
        return [str(parcel.model), str(parcel.values)]
    api = _hub()
    with tempfile.TemporaryDirectory() as folder:
        parcel = write_parcel(run, name, Path(folder), report=report)
        return _send(api, name, parcel, private=private, replace=replace)


def _hub() -> Any:
    from huggingface_hub import HfApi, constants, get_token

    if constants.HF_HUB_OFFLINE:
        raise GoalwardError(
            "HF_HUB_OFFLINE forbids to send anything; "
            f"{argument('to', 'folder')} writes what would be"
        )
    if get_token() is None:
        raise GoalwardError(
            "the hub wants to know who you are: `hf auth login`, or a token with the right to "
            f"write in HF_TOKEN; {argument('to', 'folder')} writes what would be sent"
        )
    return HfApi(endpoint=os.environ.get("HF_ENDPOINT"))


def _send(api: Any, name: str, parcel: Parcel, *, private: bool, replace: bool) -> list[str]:
    repositories = ((name, "model", parcel.model), (f"{name}-values", "dataset", parcel.values))
    for repository, kind, _ in repositories:
        try:
            api.create_repo(repository, repo_type=kind, private=private, exist_ok=replace)
        except Exception as error:
            raise _explained(api, repository, error) from error
    sent: list[str] = []
    for repository, kind, folder in repositories:
        try:
            sent.append(
                api.upload_folder(
                    repo_id=repository,
                    repo_type=kind,
                    folder_path=folder,
                    commit_message="goalward push",
                    # What an earlier version had and this one has not.
                    delete_patterns="*" if replace else None,
                ).commit_url
            )
        except Exception as error:  # any failure of the network has its own class
            raise GoalwardError(
                f"{repository}: the upload was cut off ({_first_line(error)}); nothing half sent "
                f"is shown there. Again with {argument('replace')}, or {argument('to', 'folder')} "
                "and send it by other means"
            ) from error
    return sent


def _explained(api: Any, name: str, error: Exception) -> GoalwardError:
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status == _TAKEN:
        return GoalwardError(
            f"{name}: is on the hub already; choose another name, or {argument('replace')} it"
        )
    if status in (401, 403):
        return GoalwardError(f"{name}: the hub does not let you write there ({_first_line(error)})")
    return GoalwardError(
        f"{api.endpoint}: cannot be reached ({_first_line(error)}); "
        f"{argument('to', 'folder')} writes what would be sent"
    )


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"

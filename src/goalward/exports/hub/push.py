"""`goalward push`: a run to the model hub, or into a folder exactly as it would be sent."""

import logging
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from goalward.errors import GoalwardError, argument
from goalward.exports.hub.parcel import Parcel, write_parcel
from goalward.runs.folder.stored import as_run
from goalward.runs.hub import check_hub_name, hub_address, status_of, what_came
from goalward.runs.run import Run

_LICENCE = re.compile(r"[a-z0-9][a-z0-9.-]*")
_TAKEN = 409
# What the hub itself puts into a repository.
_OF_THE_HUB = ".gitattributes"
_Repository = tuple[str, str, Path]


def push(
    run: Run | str | Path,
    name: str,
    *,
    to: str | Path | None = None,
    private: bool = False,
    replace: bool = False,
    report: bool = True,
    licence: str | None = None,
) -> list[str]:
    """Send networks, a card, the report and the values of a run to the hub; return where they are.

    `name` is `organisation/name`; the values go to a data set `organisation/name-values`. With
    `to`, a folder, nothing is sent and it holds what would be. A name that is taken is refused
    unless `replace`; `private` makes new ones private, and refuses to replace public ones. The
    report has no videos: those show rooms. `licence` stands on both cards by the hub's name of it,
    as "apache-2.0" or "cc-by-4.0".
    """
    run = as_run(run)
    check_hub_name(name)
    check_hub_name(_values_of(name))
    if licence is not None and not _LICENCE.fullmatch(licence):
        raise GoalwardError(
            f"{argument('licence')}: {licence!r} is no name of one; the hub's are like apache-2.0"
        )
    if to is not None:
        parcel = write_parcel(run, name, Path(to), licence=licence, report=report)
        return [str(parcel.model), str(parcel.values)]
    api = _hub()
    with _without_words_of_the_client(), tempfile.TemporaryDirectory() as folder:
        # Before the report is written, which takes a minute; and a refusal leaves nothing behind.
        for repository, kind in ((name, "model"), (_values_of(name), "dataset")):
            is_taken = _asked(repository, api.repo_exists, kind)
            if is_taken and not replace:
                raise _taken(repository)
            if is_taken and private and not _asked(repository, api.repo_info, kind).private:
                raise _is_public(repository)
        parcel = write_parcel(run, name, Path(folder), licence=licence, report=report)
        return _send(api, name, parcel, private=private, replace=replace)


def _values_of(name: str) -> str:
    return f"{name}-values"


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
    return HfApi(endpoint=hub_address())


@contextmanager
def _without_words_of_the_client() -> Iterator[None]:
    """A line for every repeated request, and that tables belong into data sets: ours stay both."""
    logger = logging.getLogger("huggingface_hub")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", message="It seems that you are about to commit a data"
            )
            yield
    finally:
        logger.setLevel(level)


def _asked(repository: str, question: Callable[..., Any], kind: str) -> Any:
    try:
        return question(repository, repo_type=kind)
    except Exception as error:  # any failure of the network has its own class
        raise _refused(repository, error) from error


def _send(api: Any, name: str, parcel: Parcel, *, private: bool, replace: bool) -> list[str]:
    repositories = ((name, "model", parcel.model), (_values_of(name), "dataset", parcel.values))
    for repository, kind, _ in repositories:
        try:
            api.create_repo(repository, repo_type=kind, private=private, exist_ok=replace)
        except Exception as error:
            raise _refused(repository, error) from error
    sent: list[str] = []
    for repository in repositories:
        try:
            sent.append(_commit(api, repository, replace=replace))
        except Exception as error:
            complete = name if sent else None
            raise _not_sent(repository[0], complete, error) from error
    return sent


def _commit(api: Any, repository: _Repository, *, replace: bool) -> str:
    """All files in one commit, which the hub shows whole or not at all.

    `upload_folder` makes several of them, and leaves some where a later one is cut off.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    name, kind, folder = repository
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    added = {path.relative_to(folder).as_posix(): path for path in files}
    there = api.list_repo_files(name, repo_type=kind) if replace else []
    gone = sorted(set(there) - set(added) - {_OF_THE_HUB})
    operations = [CommitOperationDelete(path) for path in gone]
    operations += [CommitOperationAdd(path, str(file)) for path, file in added.items()]
    commit = api.create_commit(name, operations, repo_type=kind, commit_message="goalward push")
    return commit.commit_url


def _taken(name: str) -> GoalwardError:
    return GoalwardError(
        f"{name}: is on the hub already; choose another name, or {argument('replace')} it"
    )


def _is_public(name: str) -> GoalwardError:
    return GoalwardError(
        f"{name}: is public on the hub, and would stay so; make it private there first, or leave "
        f"out {argument('private')}"
    )


def _refused(name: str, error: Exception) -> GoalwardError:
    status = status_of(error)
    if status == _TAKEN:
        return _taken(name)
    if status in (401, 403):
        return GoalwardError(f"{name}: the hub does not let you write there: {what_came(error)}")
    return GoalwardError(
        f"{name}: {what_came(error)}; {argument('to', 'folder')} writes what would be sent"
    )


def _not_sent(name: str, complete: str | None, error: Exception) -> GoalwardError:
    there = f"{complete} is complete there. " if complete else ""
    return GoalwardError(
        f"{name}: was not sent: {what_came(error)}. A repository shows all of a run or nothing of "
        f"it. {there}Both names are taken now: again with {argument('replace')}, or "
        f"{argument('to', 'folder')} and send it by other means"
    )

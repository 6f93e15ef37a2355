"""What goes wrong with a store, in one sentence each: what it means and what to do."""

import contextlib
import errno
from collections.abc import Generator

from goalward.errors import GoalwardError
from goalward.stores.place import FOLDER, stores_folder
from goalward.urls import protocol_of

# What pip calls the packages that speak to a store; those of an extra by the extra's name.
_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs"}
_GO_ON = "what is here stays, and the same command goes on"
# Classes of packages that may not be installed, by name: whoever raises them has imported them.
_NO_CREDENTIALS = frozenset(
    {
        "NoCredentialsError",
        "PartialCredentialsError",
        "DefaultCredentialsError",
        "LocalTokenNotFoundError",
        "CredentialRetrievalError",
        "NoAuthTokenError",
        "TokenRetrievalError",
    }
)
_NOT_FOUND = frozenset(
    {"RepositoryNotFoundError", "RevisionNotFoundError", "EntryNotFoundError", "NoSuchBucket"}
)
_REFUSED = frozenset({"GatedRepoError", "AccessDenied", "ClientAuthenticationError"})


class StoreError(GoalwardError):
    """A store that does not give what was asked of it; nothing that is here is lost.

    Not an error of the rollouts: no episode is left out for it. `is_passing`: another machine, or
    the same one later, may do better.
    """

    def __init__(self, text: str, *, is_passing: bool = False) -> None:
        super().__init__(text)
        self.is_passing = is_passing


@contextlib.contextmanager
def explained(url: str) -> Generator[None]:
    """Inside, every trouble with a store becomes a sentence about this address."""
    try:
        yield
    except (GoalwardError, NotImplementedError):
        raise
    except Exception as error:  # the packages of stores have many kinds
        raise StoreError(_in_words(url, error), is_passing=not is_lasting(error)) from error


def changed(url: str) -> StoreError:
    return StoreError(f"{url}: changed in the store since it was listed; run it again")


def cut_short(url: str, got: int, wanted: int) -> StoreError:
    return StoreError(
        f"{url}: the store gave {got:,} of {wanted:,} bytes and then no more; {_GO_ON}",
        is_passing=True,
    )


def is_lasting(error: BaseException) -> bool:
    """Whether asking again would give the same answer."""
    names = {kind.__name__ for kind in type(error).__mro__}
    lasting = (FileNotFoundError, PermissionError, IsADirectoryError, ImportError, ValueError)
    by_name = _NO_CREDENTIALS | _NOT_FOUND | _REFUSED
    return isinstance(error, (*lasting, NotImplementedError)) or bool(names & by_name)


def _in_words(url: str, error: Exception) -> str:
    protocol = protocol_of(url)
    names = {kind.__name__ for kind in type(error).__mro__}
    said = str(error).strip().splitlines()
    why = f"{type(error).__name__}: {said[0][:300]}" if said else type(error).__name__
    if isinstance(error, ImportError):
        extra = _EXTRAS.get(protocol)
        how = (
            f"pip install 'goalward[{extra}]'" if extra else f"it says: {said[0] if said else why}"
        )
        return f"{url}: files of {protocol}:// need another package: {how}"
    if isinstance(error, ValueError) and "Protocol not known" in str(error):
        return f"{url}: no such file or folder, and no store is known by {protocol}://"
    if names & _NO_CREDENTIALS or "Unable to locate credentials" in str(error):
        return (
            f"{url}: the store wants to know who asks, and there are no credentials ({why}); sign "
            "in as its own tools do (aws configure, gcloud auth, hf auth login)"
        )
    if isinstance(error, PermissionError) or names & _REFUSED:
        return f"{url}: the store refuses to show it to these credentials ({why})"
    if isinstance(error, FileNotFoundError) or names & _NOT_FOUND:
        return f"{url}: the store has no such file or folder"
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"{url}: no space left in {stores_folder()}; set {FOLDER} to a folder with more room: "
            f"{_GO_ON}"
        )
    return f"{url}: the store does not answer as it should ({why}); {_GO_ON}"

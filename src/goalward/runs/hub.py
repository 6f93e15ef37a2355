"""The model hub as both ways see it: what may be a name, and what came instead of an answer."""

import os
import re

from goalward.errors import GoalwardError

_NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


def check_hub_name(name: str) -> None:
    """Refuse what the hub would: it has rules of its own beyond organisation/name."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id

    if not _NAME.fullmatch(name):
        raise GoalwardError(f"{name!r} is no name for the hub: it takes organisation/name")
    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise GoalwardError(f"{name!r} is no name for the hub: {error}") from error


def hub_address() -> str:
    from huggingface_hub import constants

    return os.environ.get("HF_ENDPOINT") or constants.ENDPOINT


def status_of(error: BaseException | None) -> int | None:
    """What the hub answered; None where no answer came. The client hides it behind other errors."""
    while error is not None:
        status = getattr(getattr(error, "response", None), "status_code", None)
        if status is not None:
            return status
        error = error.__cause__
    return None


def what_came(error: Exception) -> str:
    """One sentence: nothing was asked, the hub refused, nobody answered, or what else it was."""
    from huggingface_hub.errors import OfflineModeIsEnabled

    cause = error.__cause__ or error
    if isinstance(cause, OfflineModeIsEnabled):
        return "HF_HUB_OFFLINE forbids to ask the hub"
    first = f"{type(cause).__name__}: {(str(cause).splitlines() or [''])[0]}"
    status = status_of(error)
    if status is not None:
        return f"the hub answered {status} ({first})"
    # Of the client itself, before anything was sent; its errors of the network are none of these.
    return first if isinstance(cause, ValueError) else f"{hub_address()} did not answer ({first})"

"""A run that `goalward push` put on the hub, fetched into the hub's cache."""

from pathlib import Path

from goalward.errors import GoalwardError, argument
from goalward.runs.hub import check_hub_name, hub_address, what_came

HUB = "hub:"
# What judging new episodes takes, and no more: the report and the tables stay where they are.
_NEEDED = ("*.toml", "*.json", "*.csv", "*.parquet", "networks/*")


def is_on_hub(values: object) -> bool:
    return str(values).startswith(HUB)


def fetched_run(values: str | Path) -> Path:
    """The folder of `hub:organisation/name` or `hub:organisation/name@revision`, here."""
    name, _, revision = str(values).removeprefix(HUB).partition("@")
    check_hub_name(name)
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        folder = snapshot_download(
            name,
            revision=revision or None,
            allow_patterns=list(_NEEDED),
            endpoint=hub_address(),
        )
    except RepositoryNotFoundError as error:
        raise GoalwardError(
            f"{values}: the hub has no such run, or does not show it to you (`hf auth login`)"
        ) from error
    except Exception as error:  # any failure of the network has its own class
        raise GoalwardError(
            f"{values}: {what_came(error)}, and it was not fetched before; a folder works too: "
            f"{argument('values', 'folder')}"
        ) from error
    return Path(folder)

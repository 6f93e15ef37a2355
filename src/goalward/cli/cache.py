"""`goalward cache`: what the embedding cache holds, and making room in it."""

import time
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from rich.table import Table

from goalward.cli.console import output_console, plain
from goalward.errors import GoalwardError

cache_app = App(name="cache", help="Show what the embedding cache holds, and make room in it.")

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


@cache_app.command(name="list")
def list_command(*, cache: Path | None = None) -> None:
    """List the encoders whose embeddings are kept, with their size and last use.

    Parameters
    ----------
    cache
        The folder of the cache. Default: GOALWARD_CACHE, else the platform's cache folder.
    """
    from goalward.embeddings.cache.encoder_cache import cache_folder
    from goalward.embeddings.cache.upkeep import cache_uses

    console = output_console()
    uses = cache_uses(cache)
    if not uses:
        console.print(plain(f"the cache is empty: {cache_folder(cache)}"), soft_wrap=True)
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("encoder", "revision", "pool"):
        table.add_column(name, overflow="fold")
    for name in ("clips", "size", "last used"):
        table.add_column(name, justify="right", no_wrap=True)
    for use in uses:
        table.add_row(
            plain(use.encoder),
            plain(use.revision[:12]),
            plain(use.pool),
            f"{use.num_clips:,}",
            in_words(use.num_bytes),
            time.strftime("%Y-%m-%d", time.localtime(use.last_used)) if use.num_clips else "never",
        )
    console.print(table)
    console.print(plain(str(cache_folder(cache))), soft_wrap=True)


@cache_app.command(name="size")
def size_command(
    *, cache: Path | None = None, in_bytes: Annotated[bool, Parameter(negative=())] = False
) -> None:
    """Say how much room the cache takes.

    Parameters
    ----------
    cache
        The folder of the cache. Default: GOALWARD_CACHE, else the platform's cache folder.
    in_bytes
        A number and nothing else, for machines.
    """
    from goalward.embeddings.cache.encoder_cache import cache_folder
    from goalward.embeddings.cache.upkeep import cache_uses

    uses = cache_uses(cache)
    num_bytes = sum(use.num_bytes for use in uses)
    if in_bytes:
        print(num_bytes)
        return
    clips = sum(use.num_clips for use in uses)
    text = f"{in_words(num_bytes)} in {clips:,} clips: {cache_folder(cache)}"
    output_console().print(plain(text), soft_wrap=True)


@cache_app.command(name="prune")
def prune_command(
    *,
    encoder: str | None = None,
    unused_days: float | None = None,
    max_size: str | None = None,
    all_: Annotated[bool, Parameter(name="--all", negative=())] = False,
    dry_run: Annotated[bool, Parameter(negative=())] = False,
    cache: Path | None = None,
) -> None:
    """Remove embeddings, those used longest ago first. They can always be made again.

    Examples:

    ```bash
    goalward cache prune --unused-days 90  # what nobody used for three months
    goalward cache prune --max-size 10G  # until no more than 10 GB are left
    # what removing one encoder would free
    goalward cache prune --encoder dinov2 --dry-run
    goalward cache prune --all
    ```

    Parameters
    ----------
    encoder
        Only embeddings of this encoder; a part of its name is enough.
    unused_days
        Only what was last used so many days ago or earlier.
    max_size
        Only until the cache is this small: 500M, 10G.
    all_
        Everything.
    dry_run
        Say what would go, and remove nothing.
    cache
        The folder of the cache. Default: GOALWARD_CACHE, else the platform's cache folder.
    """
    if all_ == (encoder is not None or unused_days is not None or max_size is not None):
        raise GoalwardError("say what may go: --unused-days, --max-size, --encoder, or --all alone")
    from goalward.embeddings.cache.upkeep import prune

    removed = prune(
        cache,
        encoder=encoder,
        unused_days=unused_days,
        max_bytes=None if max_size is None else bytes_of(max_size),
        dry_run=dry_run,
    )
    verb = "would remove" if dry_run else "removed"
    text = f"{verb} {removed.num_clips:,} clips, {in_words(removed.num_bytes)}"
    output_console().print(plain(text), soft_wrap=True)


def bytes_of(text: str) -> int:
    """A size as people write it, in units of 1,000.

    >>> bytes_of("10G"), bytes_of("500 MB"), bytes_of("0")
    (10000000000, 500000000, 0)
    """
    size = text.strip().lower().removesuffix("b")
    unit = size[-1:] if size[-1:] in _UNITS else ""
    try:
        number = float(size.removesuffix(unit))
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise GoalwardError(f"--max-size wants a size like 500M or 10G, got {text!r}")
    return int(number * _UNITS[unit])


def in_words(num_bytes: int) -> str:
    """
    >>> in_words(1_234_567), in_words(12)
    ('1.2 MB', '12 bytes')
    """
    for unit in ("T", "G", "M", "k"):
        if num_bytes >= _UNITS[unit.lower()]:
            return f"{num_bytes / _UNITS[unit.lower()]:.1f} {unit}B"
    return f"{num_bytes} bytes"

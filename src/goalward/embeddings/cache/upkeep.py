"""What the embedding cache holds, and making room in it."""

import contextlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from goalward.embeddings.cache.encoder_cache import (
    ABOUT,
    CLAIMS,
    NETWORK,
    ROOM,
    SUFFIX,
    TEXT_PREFIX,
    cache_folder,
)
from goalward.errors import GoalwardError
from goalward.files import regular_bytes
from goalward.stores.place import StoredPath, url_of


@dataclass(frozen=True)
class EncoderUse:
    """What one encoder keeps in the cache."""

    folder: Path
    encoder: str
    revision: str
    pool: str
    num_clips: int
    num_bytes: int
    last_used: float


def cache_uses(cache: str | Path | None = None) -> list[EncoderUse]:
    """What lies in the cache, encoder by encoder."""
    folder = cache_folder(cache)
    if isinstance(folder, StoredPath):
        raise GoalwardError(
            f"{url_of(folder)}: what a store keeps is listed and removed by the store's own tools "
            "and rules (aws s3 ls, lifecycle rules)"
        )
    room = folder / ROOM
    if not room.is_dir():
        return []
    return [_use(folder) for folder in sorted(room.iterdir()) if folder.is_dir()]


def _use(folder: Path) -> EncoderUse:
    try:
        about = json.loads(regular_bytes(folder / ABOUT))
        encoder, revision, pool = (str(about[k]) for k in ("encoder", "revision", "pool"))
    except (OSError, ValueError, KeyError, TypeError):
        encoder, revision, pool = folder.name, "unknown", "unknown"
    files = list(_entries(folder))
    return EncoderUse(
        folder=folder,
        encoder=encoder,
        revision=revision,
        pool=pool,
        num_clips=sum(_is_clip(path) for path, _, _ in files),
        num_bytes=sum(num_bytes for _, num_bytes, _ in files),
        last_used=max((used for _, _, used in files), default=0.0),
    )


def _entries(folder: Path) -> Iterator[tuple[Path, int, float]]:
    """(path, bytes, last used) of every entry; files that others remove meanwhile are skipped."""
    for path in (*folder.glob(f"??/*{SUFFIX}"), *folder.glob(NETWORK)):
        if not path.name.startswith("."):
            with contextlib.suppress(FileNotFoundError):
                facts = path.stat()
                yield path, facts.st_size, facts.st_mtime


def _is_clip(path: Path) -> bool:
    """The texts of tasks lie among the clips, a network in 8 bits beside them."""
    return path.name != NETWORK and not path.name.startswith(TEXT_PREFIX)


@dataclass(frozen=True)
class Pruned:
    num_clips: int
    num_bytes: int


# A claim or a file without its name, of this age, belongs to a process that was killed.
_LEFTOVER_S = 24 * 3600.0


def prune(
    cache: str | Path | None = None,
    *,
    encoder: str | None = None,
    unused_days: float | None = None,
    max_bytes: int | None = None,
    dry_run: bool = False,
) -> Pruned:
    """Remove embeddings, those used longest ago first.

    `encoder` (a part of its name is enough) and `unused_days` say which may go; with `max_bytes`
    only as many as bring the cache below it. Leftovers of killed processes always go.
    """
    uses = cache_uses(cache)
    entries = [
        (used, num_bytes, path, use)
        for use in uses
        for path, num_bytes, used in _entries(use.folder)
    ]
    total = sum(num_bytes for _, num_bytes, _, _ in entries)
    now = time.time()
    removed = Pruned(0, 0)
    for used, num_bytes, path, use in sorted(entries, key=lambda entry: (entry[0], entry[2])):
        named = f"{use.folder.name} {use.encoder}"
        if encoder is not None and encoder not in named:
            continue
        if unused_days is not None and now - used < unused_days * 86_400:
            continue
        if max_bytes is not None and total <= max_bytes:
            break
        if not dry_run:
            _unlink(path)
        total -= num_bytes
        removed = Pruned(removed.num_clips + _is_clip(path), removed.num_bytes + num_bytes)
    if not dry_run:
        _sweep(uses, now)
    return removed


def _unlink(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise GoalwardError(f"{path}: cannot be removed ({error.strerror})") from error


def _sweep(uses: list[EncoderUse], now: float) -> None:
    """Remove what killed processes left, and folders that are empty."""
    for use in uses:
        for path in (*use.folder.glob(f"??/.*{SUFFIX}"), *use.folder.glob(f"{CLAIMS}/*")):
            with contextlib.suppress(FileNotFoundError):
                if now - path.stat().st_mtime > _LEFTOVER_S:
                    _unlink(path)
        for folder in (*use.folder.glob("??"), use.folder / CLAIMS, use.folder):
            with contextlib.suppress(OSError):
                if folder == use.folder and [path.name for path in folder.iterdir()] == [ABOUT]:
                    _unlink(folder / ABOUT)
                folder.rmdir()

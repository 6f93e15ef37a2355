"""From what a user points at to rollouts with features, telling on the way what was found."""

import logging
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any

from goalward.embeddings.embed import embed, embed_shard
from goalward.embeddings.embed_report import EmbedProgress, EmbedReport, OnEmbedProgress
from goalward.errors import GoalwardError, RolloutError, argument
from goalward.executors.choice import HERE, Workers
from goalward.executors.shard import Shard
from goalward.progress import fetching_bar, progress_bar
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.findings import LeftOut, counted, some_of
from goalward.rollouts.readers import read
from goalward.stores.place import place_of
from goalward.training.stored.feature_file import read_features

_log = logging.getLogger("goalward.runs")
FEATURE_SUFFIX = ".npz"
# What may be said of reading and embedding: all but what is said here or of the whole evaluation.
_SAID_HERE = {
    *("path", "rollouts", "on_progress", "on_fetch", "on_finish"),
    *("keep_features", "device", "on", "num_workers"),
}
READING_OPTIONS = tuple(name for name in signature(read).parameters if name not in _SAID_HERE)
EMBEDDING_OPTIONS = tuple(
    name for name in signature(embed).parameters if name not in {*_SAID_HERE, "strict"}
)


def is_feature_file(path: str | Path) -> bool:
    return str(path).endswith(FEATURE_SUFFIX)


def read_input(
    path: str | Path,
    reading: Mapping[str, Any],
    embedding: Mapping[str, Any],
    *,
    progress: bool = True,
) -> Rollouts:
    """Rollouts from a data set, or rollouts with features from a feature file."""
    if not is_feature_file(path):
        with (
            fetching_bar(is_shown=progress) as fetch,
            progress_bar("reading", is_shown=progress) as update,
        ):
            rollouts = read(path, **reading, on_progress=update, on_fetch=fetch)
        for text in rollouts.warnings:
            _log.warning("%s", text)
        _tell_left_out(rollouts.left_out)
        return rollouts
    # Labels or an encoder beside a feature file would be ignored in silence.
    given = [argument(name) for name in (*reading, *embedding)]
    if given:
        raise GoalwardError(
            f"{path}: a feature file has its outcomes and features already; "
            f"{some_of(given)} would change nothing"
        )
    with fetching_bar(is_shown=progress) as fetch:
        return read_features(path, on_fetch=fetch)


def embed_input(
    rollouts: Rollouts,
    embedding: Mapping[str, Any],
    *,
    device: str | None = None,
    strict: bool = False,
    progress: bool = True,
    workers: Workers = HERE,
) -> Rollouts:
    """Rollouts with features, with bars and a line of what was done on the way."""
    reports: list[EmbedReport] = []
    with _embedding_bars(progress) as show:
        embedded = embed(
            rollouts,
            **embedding,
            device=device,
            on=workers.on,
            num_workers=workers.num_workers,
            strict=strict,
            on_progress=show,
            on_finish=reports.append,
        )
    _tell(reports[0])
    _log.info("embeddings of %s: %s", counted(embedded), place_of(reports[0].cache))
    return embedded


def embed_share(
    rollouts: Rollouts,
    shard: Shard,
    embedding: Mapping[str, Any],
    *,
    device: str | None = None,
    strict: bool = False,
    workers: Workers = HERE,
) -> None:
    """A share of the clips into the cache, with bars and a line of what was done on the way."""
    with _embedding_bars(True) as show:
        report = embed_shard(
            rollouts,
            shard,
            **embedding,
            device=device,
            on=workers.on,
            num_workers=workers.num_workers,
            on_progress=show,
        )
    _tell(report)
    if strict and report.left_out:
        left = report.left_out[0]
        raise RolloutError(f"episode {left.episode_id}: {left.reason}")
    _log.info("shard %s is in the cache: %s", shard, place_of(report.cache))


@contextmanager
def _embedding_bars(is_shown: bool) -> Generator[OnEmbedProgress]:
    with (
        progress_bar("reading videos", is_shown=is_shown) as show_reading,
        progress_bar("embedding", unit="frames", is_shown=is_shown) as show_embedding,
    ):

        def show(now: EmbedProgress) -> None:
            update = show_reading if now.stage == "reading" else show_embedding
            update(now.frames, now.total_frames)
            update.met(now.setbacks)

        yield show


def _tell(report: EmbedReport) -> None:
    _tell_left_out(report.left_out)
    if report.num_rebuilt_clips:
        _log.warning("%d damaged files of the cache were made again", report.num_rebuilt_clips)
    facts = [f"{report.num_frames:,} frames by {report.encoder}"]
    if report.num_from_cache:
        facts.append(f"{report.num_from_cache:,} from the cache")
    if report.num_encoded:
        facts.append(f"{report.num_encoded:,} encoded in {report.seconds:,.1f} s")
    if report.num_unchanged:
        facts.append(f"{report.num_unchanged:,} the same as the frame before")
    _log.info("%s", "; ".join(facts))


def _tell_left_out(left_out: Sequence[LeftOut]) -> None:
    for episode in left_out:
        _log.warning("episode %s is left out: %s", episode.episode_id, episode.reason)

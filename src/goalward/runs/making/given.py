"""What an evaluation was given: a path, rollouts or features, and how to read and embed them."""

import glob
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goalward.config import EvaluationConfig
from goalward.embeddings.encoders import DEFAULT_ENCODER, FLOAT, find_encoder
from goalward.embeddings.features import layout
from goalward.errors import GoalwardError, argument
from goalward.executors.choice import HERE, Workers
from goalward.files import resolved
from goalward.metrics.truth import BRANCHES_SUFFIX
from goalward.metrics.truth.frame_truth import TRUTH_FILE, FrameTruth, read_truth
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.embedded import DEMO, is_embedded, located
from goalward.runs.making.inputs import (
    EMBEDDING_OPTIONS,
    FEATURE_SUFFIX,
    READING_OPTIONS,
    embed_input,
    is_feature_file,
    read_input,
)
from goalward.runs.settings import RunData
from goalward.stores.fetching import file_here
from goalward.stores.place import StoredPath, url_of
from goalward.urls import check_here

_log = logging.getLogger("goalward.runs")
# Options of embedding that change how fast it is, and not what comes of it.
SPEED_ALONE = ("batch_size", "cache")


@dataclass(frozen=True)
class Given:
    """How rollouts are to be read and embedded."""

    reading: dict[str, Any]
    embedding: dict[str, Any]

    def __post_init__(self) -> None:
        for name, given, known in (
            ("reading", self.reading, READING_OPTIONS),
            ("embedding", self.embedding, EMBEDDING_OPTIONS),
        ):
            for option in given:
                if option not in known:
                    raise GoalwardError(
                        f"{argument(name)}: no option {option!r}; there are {', '.join(known)}"
                    )

    def read(self, rollouts: Rollouts | str | Path, progress: bool) -> Rollouts:
        if isinstance(rollouts, Rollouts):
            if self.reading:
                raise GoalwardError("rollouts that were read already cannot be read otherwise")
            return rollouts
        return read_input(rollouts, self.reading, self.unusual, progress=progress)

    def embed(
        self, rollouts: Rollouts, device: str | None, progress: bool, workers: Workers = HERE
    ) -> Rollouts:
        if rollouts.features is not None:
            return rollouts
        options = dict(self.embedding)
        # The reader has left only the cameras that were asked for; none is a choice too.
        if self.reading.get("cameras") == ():
            options["cameras"] = ()
        strict = bool(self.reading.get("strict", False))
        return embed_input(
            rollouts, options, device=device, strict=strict, progress=progress, workers=workers
        )

    @property
    def unusual(self) -> dict[str, Any]:
        """Options of embedding that were told, as far as can be seen."""
        usual = {"encoder": DEFAULT_ENCODER}
        return {name: value for name, value in self.embedding.items() if value != usual.get(name)}

    def reading_told(self, rollouts: Rollouts | str | Path) -> dict[str, Any]:
        is_read = not isinstance(rollouts, Rollouts) and not is_feature_file(rollouts)
        return _told(self.reading) if is_read else {}

    def embedding_told(self, recorded: Rollouts) -> dict[str, Any]:
        return {} if recorded.features is not None else _told(self.embedding)


def _told(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as a file can hold them."""
    return {
        name: str(value) if isinstance(value, Path) else value
        for name, value in options.items()
        if value is not None
    }


def planned_layout(recorded: Rollouts, given: Given) -> str:
    """What the features of these rollouts would be made of, in words, before they are there."""
    options = given.embedding
    encoder = find_encoder(
        options.get("encoder", DEFAULT_ENCODER),
        pool=options.get("pool", "global"),
        precision=options.get("precision", FLOAT),
    )
    asked = () if given.reading.get("cameras") == () else options.get("cameras")
    is_read = options.get("proprioception", True)
    return layout(
        encoder.label,
        recorded.camera_names if asked is None else asked,
        recorded.proprioception.shape[1] if is_read else 0,
        int(options.get("n_obs_steps", 1)),
        every=int(options.get("every", 1)),
    )


def name_of(rollouts: Rollouts | str | Path) -> str:
    """The name of the data: v1.2 for a folder v1.2, and for a file v1.2.hdf5."""
    if isinstance(rollouts, Rollouts):
        return EvaluationConfig.policy
    path = located(rollouts)
    if isinstance(path, StoredPath):
        # Known by its name alone: nothing of it need be here yet.
        return path.stem if path.suffix in (FEATURE_SUFFIX, ".hdf5", ".h5") else path.name
    path = _whole_path(rollouts)
    return path.stem if path.is_file() else path.name


def check_apart(rollouts: Rollouts | str | Path, out: Path) -> None:
    """Results inside a folder of rollouts would be taken for rollouts by whoever reads it next."""
    check_here(out)
    if isinstance(rollouts, Rollouts) or not located(rollouts).is_dir():
        return
    if resolved(out).is_relative_to(resolved(located(rollouts))):
        raise GoalwardError(
            f"{out}: lies in the folder of the rollouts, where nothing else is written; give "
            f"another {argument('out')}"
        )


def truth_path_of(
    rollouts: Rollouts | str | Path, truth: FrameTruth | str | Path | None
) -> Path | None:
    """Where `goalward truth` left its results: as told, or in the folder of the rollouts."""
    if isinstance(truth, FrameTruth):
        return None
    if truth is not None:
        return file_here(truth)
    if isinstance(rollouts, Rollouts):
        return None
    usual = located(rollouts) / TRUTH_FILE
    if usual.is_file():
        return usual
    if any(usual.parent.glob(f"{glob.escape(usual.stem)}*{BRANCHES_SUFFIX}")):
        words = "%s: is not there, though its truth was measured or begun: values are not compared "
        _log.warning(words + "with it; `goalward truth` makes it of what was measured", usual)
    return None


def known_truth(
    rollouts: Rollouts | str | Path, truth: FrameTruth | str | Path | None
) -> tuple[Path | None, FrameTruth | None]:
    """The truth that values are held against, if there is one, and its file if it has one."""
    path = truth_path_of(rollouts, truth)
    if path is not None:
        return path, read_truth(path)
    return None, truth if isinstance(truth, FrameTruth) else None


def data_of(given: Rollouts | str | Path, rollouts: Rollouts, truth: Path | None) -> RunData:
    return RunData(
        path=_path_of(given),
        sources=tuple(source.format for source in rollouts.sources),
        features=rollouts.feature_layout,
        truth="" if truth is None else _place(truth),
        warnings=rollouts.warnings,
        left_out=rollouts.left_out,
    )


def _path_of(given: Rollouts | str | Path) -> str:
    """Where the rollouts can be found again; empty if nowhere but in memory."""
    if isinstance(given, Rollouts):
        if len(given.sources) != 1:
            return ""
        path = located(given.sources[0].path)
        return _place(path) if path.exists() else ""
    # The rollouts of the package go by their name, wherever it is installed.
    is_demo = is_embedded(located(given)) and str(given) == DEMO
    return str(given) if is_demo else _place(located(given))


def _place(path: Path) -> str:
    """What finds it again: the whole path, or where it lies in a store."""
    return url_of(path) if isinstance(path, StoredPath) else str(_whole_path(path))


def _whole_path(path: str | Path) -> Path:
    """From the root, links followed; Path.resolve has no words for one that leads to itself."""
    return Path(os.path.realpath(path))

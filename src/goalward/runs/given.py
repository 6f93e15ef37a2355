"""What an evaluation was given: a path, rollouts or features, and how to read and embed them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goalward.config import EvaluationConfig
from goalward.embeddings.encoders import DEFAULT_ENCODER
from goalward.errors import GoalwardError, argument
from goalward.executors.choice import HERE, Workers
from goalward.metrics.truth.frame_truth import TRUTH_FILE, FrameTruth
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.embedded import located
from goalward.runs.inputs import embed_input, is_feature_file, read_input
from goalward.runs.settings import RunData


@dataclass(frozen=True)
class Given:
    """How rollouts are to be read and embedded."""

    reading: dict[str, Any]
    embedding: dict[str, Any]

    def read(self, rollouts: Rollouts | str | Path, progress: bool) -> Rollouts:
        if isinstance(rollouts, Rollouts):
            if self.reading:
                raise GoalwardError("rollouts that were read already cannot be read otherwise")
            return rollouts
        return read_input(rollouts, self.reading, self._unusual, progress=progress)

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
    def _unusual(self) -> dict[str, Any]:
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


def name_of(rollouts: Rollouts | str | Path) -> str:
    """The name of the data: v1.2 for a folder v1.2, and for a file v1.2.hdf5."""
    if isinstance(rollouts, Rollouts):
        return EvaluationConfig.policy
    path = _whole_path(rollouts)
    return path.stem if path.is_file() else path.name


def check_apart(rollouts: Rollouts | str | Path, out: Path) -> None:
    """Results inside a folder of rollouts would be taken for rollouts by whoever reads it next."""
    if isinstance(rollouts, Rollouts) or not located(rollouts).is_dir():
        return
    if out.resolve().is_relative_to(located(rollouts).resolve()):
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
        return Path(truth)
    if isinstance(rollouts, Rollouts):
        return None
    usual = located(rollouts) / TRUTH_FILE
    return usual if usual.is_file() else None


def data_of(given: Rollouts | str | Path, rollouts: Rollouts, truth: Path | None) -> RunData:
    return RunData(
        path=_path_of(given),
        sources=tuple(source.format for source in rollouts.sources),
        features=rollouts.feature_layout,
        truth="" if truth is None else str(_whole_path(truth)),
        warnings=rollouts.warnings,
        left_out=rollouts.left_out,
    )


def _path_of(given: Rollouts | str | Path) -> str:
    """Where the rollouts can be found again; empty if nowhere but in memory."""
    if isinstance(given, Rollouts):
        paths = [Path(source.path) for source in given.sources]
        return str(_whole_path(paths[0])) if len(paths) == 1 and paths[0].exists() else ""
    # The rollouts of the package go by their name, wherever it is installed.
    return str(given) if located(given) != Path(given) else str(_whole_path(given))


def _whole_path(path: str | Path) -> Path:
    """From the root, links followed; Path.resolve has no words for one that leads to itself."""
    return Path(os.path.realpath(path))

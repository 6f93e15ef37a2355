"""Grids of runs: methods x seeds x numbers of training episodes x encoders, one table of scores.

    out/results.parquet          every score of every run, and what it was made from
    out/networks/<encoder>/      the value functions; `goalward.load` reads them
    out/values/<encoder>_<size>.parquet     values of every test frame
    out/chances/<encoder>_<size>.parquet    its chances of success

All runs of an encoder train side by side, on nested balanced samples of the training episodes,
and are scored on the same test episodes. Killed at any moment, the same call goes on: trainings
from their checkpoint, finished encoders from the results, as long as their inputs are the same.
"""

import hashlib
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from goalward.checksums import DamagedFile
from goalward.code_version import code_digest
from goalward.errors import GoalwardError
from goalward.executors.choice import HERE, Workers
from goalward.experiments.recipe import Recipe
from goalward.experiments.results import ResultRow, Results, read_results
from goalward.metrics.scores.card import scorecard
from goalward.metrics.scores.table import scores_by_seed
from goalward.metrics.truth.card import chance_steps
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.endings import Endings
from goalward.runs.making.steps import data_digest, digest
from goalward.training.methods.presets import hyperparameters
from goalward.training.methods.table import find_method
from goalward.training.progress import UNHURRIED, Pace, TrainingProgress
from goalward.values.chances import chance_points
from goalward.values.fit import fit
from goalward.values.table import ValueTable

_log = logging.getLogger("goalward.experiments")

RESULTS_FILE = "results.parquet"
NETWORKS_FOLDER = "networks"
VALUES_FOLDER = "values"
CHANCES_FOLDER = "chances"
# What scores and files are made by, apart from networks, which a checkpoint keeps.
_ROOMS = ("rollouts", "targets", "training", "values", "metrics", "experiments")
# Which episodes a smaller sample has is part of the study, not of a run's chance.
_SAMPLE_SEED = 0

# An encoder's name -> training and test episodes with its features.
FeaturesOf = Callable[[str], tuple[Rollouts, Rollouts]]
# Hears the encoder and where its training stands; None: its results were there already.
OnGridProgress = Callable[[str, TrainingProgress | None], None]


@dataclass(frozen=True)
class Grid:
    """Which runs there are, and by which horizon their predictions are judged.

    `sizes` are numbers of training episodes, half of them successes; a smaller sample lies
    inside a larger one. `overrides` replace numbers of the preset.
    """

    methods: tuple[str, ...]
    seeds: tuple[int, ...]
    sizes: tuple[int, ...]
    encoders: tuple[str, ...]
    standard_horizon: int
    preset: str = "default"
    overrides: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, recipe: Recipe, overrides: Mapping[str, Any] | None = None) -> "Grid":
        """All runs of a case study."""
        return cls(
            methods=recipe.methods,
            seeds=tuple(range(recipe.seeds)),
            sizes=recipe.sizes,
            encoders=recipe.encoders,
            standard_horizon=recipe.standard_horizon,
            preset=recipe.preset,
            overrides=overrides or {},
        )

    def __post_init__(self) -> None:
        for name in ("methods", "seeds", "sizes", "encoders"):
            values = getattr(self, name)
            if not values or len(set(values)) < len(values):
                raise GoalwardError(f"{name} must be one or more, all different, got {values}")
        for size in self.sizes:
            if size < 2 or size % 2:
                raise GoalwardError(
                    f"half of the training episodes are successes: {size} is no even number of "
                    "at least 2"
                )
        if self.standard_horizon < 1:
            raise GoalwardError(
                f"standard_horizon must be at least 1 step, got {self.standard_horizon}"
            )
        for method in self.methods:
            find_method(method)
        hyperparameters(self.preset, **self.overrides)

    def digest(self, train: Rollouts, test: Rollouts) -> str:
        """Differs when scores would: other episodes, labels, features, runs or numbers."""
        numbers = hyperparameters(self.preset, **self.overrides).as_dict()
        runs = (self.methods, self.seeds, self.sizes, self.standard_horizon, numbers)
        return digest(code_digest(*_ROOMS), data_digest(train), data_digest(test), runs)


def run_grid(
    grid: Grid,
    features_of: FeaturesOf,
    folder: Path,
    *,
    device: str | None = None,
    workers: Workers = HERE,
    on_progress: OnGridProgress | None = None,
    pace: Pace = UNHURRIED,
) -> Results:
    """Train and score every run of the grid; results are written after each encoder."""
    report = on_progress or (lambda encoder, progress: None)
    path = folder / RESULTS_FILE
    stored = _stored_results(path)
    results = Results()
    for encoder in grid.encoders:
        train, test = features_of(encoder)
        inputs = grid.digest(train, test)
        if stored.inputs.get(encoder) == inputs:
            report(encoder, None)
            results += stored.of(encoder)
            continue
        positions = _sample_positions(train, grid.sizes)
        longest = int(test.lengths.max()) - 1
        points = chance_points(longest, chance_steps(grid.standard_horizon))
        networks = folder / NETWORKS_FOLDER / file_name(encoder)
        fitted = fit(
            train,
            grid.methods,
            seeds=grid.seeds,
            preset=grid.preset,
            # As the paper's studies: every task by itself.
            per_task=True,
            subsets=positions,
            device=device,
            on=workers.on,
            num_workers=workers.num_workers,
            checkpoint=networks,
            on_progress=lambda progress, encoder=encoder: report(encoder, progress),
            pace=pace,
            **grid.overrides,
        )
        fitted.save(networks)
        rows: list[ResultRow] = []
        for size in grid.sizes:
            predicted = fitted.predict(test, subset=str(size), device=device)
            predicted.write(values_file(folder, encoder, size))
            chances = fitted.chance_table(test, points, subset=str(size), device=device)
            chances.write(chances_file(folder, encoder, size))
            learned_from = train.select(positions[str(size)])
            seen = fitted.predict(learned_from, subset=str(size), device=device)
            endings = test.endings, learned_from.endings
            rows += _scores(grid, encoder, size, (predicted, seen), endings)
        results += Results(tuple(rows), {encoder: inputs})
        # Encoders that are not reached yet keep the results they had.
        later = [name for name in stored.encoders if name not in results.encoders]
        sum((stored.of(name) for name in later), results).write(path)
    results.write(path)
    return results


def _stored_results(path: Path) -> Results:
    """Results of an earlier call; those that are damaged are made again."""
    try:
        return read_results(path) if path.exists() else Results()
    except DamagedFile as error:
        _log.warning("%s: the scores are made again", error)
        return Results()


def values_file(folder: Path, encoder: str, size: int) -> Path:
    """Where the values of the test frames lie."""
    return folder / VALUES_FOLDER / f"{file_name(encoder)}_{size}.parquet"


def chances_file(folder: Path, encoder: str, size: int) -> Path:
    """Where their chances lie."""
    return folder / CHANCES_FOLDER / f"{file_name(encoder)}_{size}.parquet"


def file_name(encoder: str) -> str:
    """A name for files; encoders may be named by a hub id or a path.

    >>> file_name("siglip2"), file_name("org/model@main")
    ('siglip2', 'org-model-main-54b204')
    """
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", encoder).strip("-.")
    if safe == encoder:
        return encoder
    return f"{safe}-{hashlib.blake2b(encoder.encode(), digest_size=3).hexdigest()}"


def _sample_positions(train: Rollouts, sizes: tuple[int, ...]) -> dict[str, np.ndarray]:
    """By size, the positions of a balanced sample of the training episodes."""
    ids = np.array(train.ids)
    return {
        str(size): np.flatnonzero(
            np.isin(ids, np.array(train.balanced(size, seed=_SAMPLE_SEED).ids))
        )
        for size in sizes
    }


def _scores(
    grid: Grid,
    encoder: str,
    size: int,
    values: tuple[ValueTable, ValueTable],
    endings: tuple[Endings, Endings],
) -> list[ResultRow]:
    """Every score of every run of one size, from values and endings of test and training."""
    predicted, seen = values
    rows: list[ResultRow] = []
    for method in grid.methods:
        card = scorecard(
            np.asarray(predicted.steps(method), dtype=np.float64),
            endings[0],
            grid.standard_horizon,
            training=(np.asarray(seen.steps(method), dtype=np.float64), endings[1]),
            kinds=scores_by_seed(),
        )
        rows += [
            ResultRow(encoder, size, method, seed, metric, score)
            for metric, row in card.items()
            for seed, score in zip(grid.seeds, row.by_seed, strict=True)
        ]
    return rows

"""What a tracker is told of a run or of a case study: settings, scores, curves, figures, files."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from goalward.experiments.recipe import Recipe
from goalward.experiments.results import Results
from goalward.runs.run import Run
from goalward.values.training_log import LossCurve, TrainingLog


@dataclass(frozen=True)
class Curve:
    """Numbers over gradient steps under one name."""

    name: str
    steps: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Tracked:
    """`scores` by names with slashes, which trackers group by; `files` are folders or files."""

    name: str
    settings: Mapping[str, Any]
    scores: Mapping[str, float]
    curves: Sequence[Curve] = ()
    figures: Sequence[Path] = ()
    files: Sequence[Path] = field(default_factory=tuple)


def tracked_run(run: Run) -> Tracked:
    """An evaluation: every score of every method, and what is said of the policy.

    A score that is not defined is left out: a tracker has no room for the reason, the report has.
    """
    folder = run.folder
    evaluation = asdict(run.settings.evaluation)
    made_by = asdict(run.settings.made_by)
    answers = run.scores.policy
    scores: dict[str, float | None] = {
        "policy/success_rate": answers.success.value,
        "policy/success_rate_low": answers.success.interval.low,
        "policy/success_rate_high": answers.success.interval.high,
        "policy/num_episodes": float(len(run.episodes)),
    }
    for method, card in run.scores.cards.items():
        for name, row in card.items():
            scores[f"{method}/{name}"] = row.over_seeds.mean.value
    log = run.training_log() if run.has_training_log else TrainingLog(())
    return Tracked(
        name=run.policy,
        settings={**evaluation, "data": run.settings.data.path, "made_by": made_by},
        scores={name: value for name, value in scores.items() if value is not None},
        curves=mean_curves(log),
        figures=sorted(folder.figures.glob("*.png")),
        files=[
            path
            for path in (folder.report, folder.summary, folder.scores, folder.config)
            if path.exists()
        ],
    )


def tracked_reproduction(recipe: Recipe, results: Results, out: Path) -> Tracked:
    """A case study: the mean over seeds of every encoder, size, method and metric."""
    by_name: dict[str, list[float]] = {}
    for row in results.rows:
        if row.score.value is not None:
            name = f"{row.encoder}/{row.size}/{row.method}/{row.metric}"
            by_name.setdefault(name, []).append(row.score.value)
    settings = {name: str(value) for name, value in vars(recipe).items()}
    return Tracked(
        name=recipe.title,
        settings=settings,
        scores={name: float(np.mean(values)) for name, values in by_name.items()},
        figures=sorted((out / "figures").glob("*.png")),
        files=[
            path
            for path in (*sorted(out.glob("*.md")), out / "tables", out / "results.parquet")
            if path.exists()
        ],
    )


def mean_curves(log: TrainingLog) -> list[Curve]:
    """By stage the mean over networks at every step: a curve for each would be dozens."""
    found: list[Curve] = []
    for stage in log.stages:
        of_stage = log.of_stage(stage)
        found += _mean(f"training/{stage}/loss", [(c, c.loss) for c in of_stage])
        held_out = [(c, c.held_out_loss) for c in of_stage if c.held_out_loss is not None]
        found += _mean(f"training/{stage}/held_out_loss", held_out)
    return found


def _mean(name: str, pairs: Sequence[tuple[LossCurve, tuple[float, ...]]]) -> list[Curve]:
    at: dict[int, list[float]] = {}
    for curve, losses in pairs:
        for step, loss in zip(curve.steps, losses, strict=True):
            if np.isfinite(loss):
                at.setdefault(step, []).append(loss)
    steps = tuple(sorted(at))
    return [Curve(name, steps, tuple(float(np.mean(at[step])) for step in steps))] if at else []

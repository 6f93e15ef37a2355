"""How the networks learned, as a page draws it: losses over gradient steps, stage by stage."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from goalward.report.pages.numbers import number
from goalward.values.training_log import LossCurve, TrainingLog

# More thin lines than these show no better how far networks differ; the mean is that of all.
MOST_LINES = 40

# Gradient steps and the loss at each.
_Points = tuple[Sequence[int], Sequence[float]]


def training_stages(log: TrainingLog) -> list[dict[str, Any]]:
    """The losses of each stage; `held_out` is null where no episodes were kept out for it."""
    return [_stage(name, log.of_stage(name)) for name in log.stages]


def _stage(name: str, curves: Sequence[LossCurve]) -> dict[str, Any]:
    judged = [(curve, curve.held_out_loss) for curve in curves if curve.held_out_loss is not None]
    return {
        "name": name,
        "num_networks": len(curves),
        "training": _losses([(curve.steps, curve.loss) for curve in curves]),
        "held_out": _losses([(curve.steps, loss) for curve, loss in judged]) if judged else None,
        # Where the weights of each network were taken from: its step, its held-out loss.
        "kept": [(curve.kept_step, number(min(loss))) for curve, loss in _some(judged)],
    }


def _losses(networks: Sequence[_Points]) -> dict[str, Any]:
    """The steps, the mean over all networks at each, and the lines of some networks."""
    steps = sorted({step for of_one, _ in networks for step in of_one})
    table = np.full((len(networks), len(steps)), np.nan)
    for row, (of_one, losses) in zip(table, networks, strict=True):
        row[np.searchsorted(steps, of_one)] = losses
    is_known = np.isfinite(table)
    with np.errstate(invalid="ignore"):
        mean = np.where(is_known, table, 0.0).sum(axis=0) / is_known.sum(axis=0)
    return {
        "steps": steps,
        "mean": [number(loss) for loss in mean.tolist()],
        "networks": [[number(loss) for loss in row] for row in _some(table.tolist())],
    }


def _some(items: Sequence[Any]) -> list[Any]:
    """No more than can be drawn, from the first to the last.

    >>> _some(range(3)), len(_some(range(1000)))
    ([0, 1, 2], 40)
    """
    count = min(len(items), MOST_LINES)
    return [items[i * (len(items) - 1) // max(count - 1, 1)] for i in range(count)]

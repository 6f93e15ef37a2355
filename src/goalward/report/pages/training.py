"""How the networks learned, as a page draws it: losses over gradient steps, stage by stage."""

from collections.abc import Sequence
from typing import Any, TypeVar

from goalward.report.figures.training import HELD_OUT, TRAINING, loss_lines, mean_loss
from goalward.report.pages.colours import loss_colours
from goalward.report.pages.numbers import number
from goalward.values.training_log import LossCurve, TrainingLog

# More thin lines than these show no better how far networks differ; the mean is that of all.
MOST_LINES = 40

Item = TypeVar("Item")


def training_stages(log: TrainingLog) -> list[dict[str, Any]]:
    """The losses of each stage: in training, and held out where episodes were kept out for it."""
    return [_stage(name, log.of_stage(name)) for name in log.stages]


def _stage(name: str, curves: Sequence[LossCurve]) -> dict[str, Any]:
    judged = [(curve, curve.held_out_loss) for curve in curves if curve.held_out_loss is not None]
    kinds = (TRAINING, HELD_OUT) if judged else (TRAINING,)
    return {
        "name": name,
        "num_networks": len(curves),
        "losses": [_losses(kind, curves) for kind in kinds],
        # Where the weights of each network were taken from: its step, its held-out loss.
        "kept": [(curve.kept_step, number(min(loss))) for curve, loss in _some(judged)],
    }


def _losses(kind: str, curves: Sequence[LossCurve]) -> dict[str, Any]:
    """The steps, the mean over all networks at each, and the lines of some networks."""
    lines = loss_lines(curves, kind)
    steps, mean = mean_loss(lines)
    return {
        "kind": kind,
        "colours": loss_colours()[kind],
        "steps": steps,
        "mean": [number(loss) for loss in mean],
        "networks": [
            (of_one, [number(loss) for loss in losses]) for of_one, losses in _some(lines)
        ],
    }


def _some(items: Sequence[Item]) -> list[Item]:
    """No more than can be drawn, from the first to the last.

    >>> _some(range(3)), len(_some(range(1000)))
    ([0, 1, 2], 40)
    """
    count = min(len(items), MOST_LINES)
    return [items[i * (len(items) - 1) // max(count - 1, 1)] for i in range(count)]

"""Labels as a person gives them who cannot see the boundary of success to the millimetre."""

import math
from dataclasses import replace

import numpy as np

from goalward.seeds import generator as named_generator
from goalward.simulate.recording.trace import Trace
from goalward.simulate.worlds.cloth_scene import FOLD_TOLERANCE_M


def as_seen(trace: Trace, goal_error: float | None, spread: float) -> Trace:
    """The episode with the label of a person whose eye is off by `spread` metres.

    A fold that just failed may be called a success at the last frame, and one that just
    succeeded a time-out.
    """
    if goal_error is None:
        raise ValueError("a label can be unsure only where the goal has a distance")
    draw = named_generator(trace.seed, "label")
    return replace(trace, success=noisy_label(goal_error, draw, spread))


def flip_probability(
    fold_error: float, spread: float, threshold: float = FOLD_TOLERANCE_M
) -> float:
    """Chance that the label is the wrong one: 1/2 at the boundary, and less the farther from it.

        P(flip) = Phi(-|fold_error - threshold| / spread)

    with Phi the normal distribution function. An infinite error, a fold that was never made, is
    never mistaken for a success.

    >>> flip_probability(0.03, spread=0.005)
    0.5
    >>> round(flip_probability(0.025, spread=0.005), 4), round(flip_probability(0.04, 0.005), 4)
    (0.1587, 0.0228)
    """
    if spread <= 0:
        raise ValueError(f"spread must be above 0, got {spread}")
    return 0.5 * math.erfc(abs(fold_error - threshold) / (spread * math.sqrt(2)))


def noisy_label(
    fold_error: float,
    generator: np.random.Generator,
    spread: float,
    threshold: float = FOLD_TOLERANCE_M,
) -> bool:
    """Whether a person calls the fold a success whose eye is off by `spread` metres.

    The true label, `fold_error < threshold`, is flipped with `flip_probability`. One number is
    drawn per label, also where nothing is in doubt, so that one episode's fold never shifts the
    labels of the next; a spread of 0 gives the true labels.

    >>> draw = np.random.default_rng(0)
    >>> noisy_label(0.002, draw, spread=0.005), noisy_label(0.2, draw, spread=0.005)
    (True, False)
    """
    drawn = generator.random()
    label = fold_error < threshold
    if spread == 0:
        return label
    return label != (drawn < flip_probability(fold_error, spread, threshold))

"""Chances on the scale on which all of them can move alike."""

import numpy as np


def moved(chance: np.ndarray, step: float) -> np.ndarray:
    """Chances with a step of their log-odds; none and certainty stay what they are.

    >>> moved(np.array([0.0, 0.5, 1.0]), -np.log(3)).round(2).tolist()
    [0.0, 0.25, 1.0]
    """
    times = np.exp(step)
    return (chance * times / (1 - chance + chance * times)).astype(chance.dtype)

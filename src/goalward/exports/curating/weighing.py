"""How kept frames are weighed: all alike, or by their advantage."""

import numpy as np

from goalward.exports.advantages import BoolArray, FloatArray

WEIGHINGS = ("equal", "advantage")
# No frame counts more or less than this often as one of no advantage: a few frames would be all
# that is learned from, and their luck with it.
MOST_WEIGHT = 5.0


def advantage_weights(advantage: FloatArray, is_kept: BoolArray) -> FloatArray:
    """exp(advantage / deviation) of kept frames, from 1/5 to 5, then 1 in their mean; else 0.

    The weights of advantage-weighted regression (Peng et al. 2019), the temperature being the
    standard deviation of the advantages that are kept. Where all are equal, so are the weights.

    >>> advantage_weights(np.array([0.0, 0.0, 9.0]), np.array([True, True, False]))
    array([1., 1., 0.])
    """
    weights = np.zeros(len(advantage))
    kept = advantage[is_kept]
    if len(kept) == 0:
        return weights
    deviation = float(kept.std())
    scaled = (kept - kept.mean()) / deviation if deviation > 1e-12 else np.zeros(len(kept))
    most = np.log(MOST_WEIGHT)
    raw = np.exp(np.clip(scaled, -most, most))
    weights[is_kept] = raw / raw.mean()
    return weights

"""A return as a distribution over bins on [-1, 0], for learning it by classification (MC-D)."""

from goalward.targets.namespace import Array, arange_like, namespace

NUM_BINS = 201


def bin_centres(like: Array, num_bins: int = NUM_BINS) -> Array:
    """The returns that bins stand for, evenly from -1 to 0; kind and precision as `like`.

    >>> import numpy as np
    >>> bin_centres(np.zeros(1), num_bins=5)
    array([-1.  , -0.75, -0.5 , -0.25,  0.  ])
    """
    return arange_like(like, num_bins) / (num_bins - 1) - 1


def project_onto_bins(value: Array, num_bins: int = NUM_BINS) -> Array:
    """A number as the two bins beside it, weighted so that their mean is the number.

        weight of bin i = max(0, 1 - |position - i|),   position = (V + 1) * (num_bins - 1)

    Numbers outside [-1, 0] go to the outermost bin. (...) becomes (..., num_bins).

    >>> import numpy as np
    >>> project_onto_bins(np.array([-0.3, 0.4]), num_bins=5)
    array([[0. , 0. , 0.2, 0.8, 0. ],
           [0. , 0. , 0. , 0. , 1. ]])
    """
    xp = namespace(value)
    position = (xp.clip(value, -1.0, 0.0) + 1) * (num_bins - 1)
    distance = xp.abs(position[..., None] - arange_like(value, num_bins))
    return xp.clip(1 - distance, 0.0, None)


def expected_value(probabilities: Array) -> Array:
    """The mean of a distribution over bins: undoes the projection. (..., num_bins) to (...).

    >>> import numpy as np
    >>> expected_value(np.array([[0.0, 0.0, 0.2, 0.8, 0.0]]))
    array([-0.3])
    """
    centres = bin_centres(probabilities, probabilities.shape[-1])
    return namespace(probabilities).sum(probabilities * centres, -1)

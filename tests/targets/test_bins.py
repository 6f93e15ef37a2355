"""Two-neighbour projection onto bins, and back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalward.targets.bins import NUM_BINS, bin_centres, expected_value, project_onto_bins


def test_centres():
    centres = bin_centres(np.zeros(1))
    assert centres.shape == (NUM_BINS,) == (201,)
    np.testing.assert_allclose(centres[[0, 1, 100, 200]], [-1, -0.995, -0.5, 0])


def test_projection_fills_two_neighbours():
    weights = project_onto_bins(np.array([[-0.9985, -0.5]]))
    assert weights.shape == (1, 2, 201)
    np.testing.assert_allclose(weights[0, 0, :3], [0.7, 0.3, 0], atol=1e-12)
    assert weights[0, 0, 3:].sum() == 0
    assert weights[0, 1, 100] == 1


def test_outside_goes_to_the_outermost_bin():
    weights = project_onto_bins(np.array([-7.0, 0.01]), num_bins=3)
    np.testing.assert_array_equal(weights, [[1, 0, 0], [0, 0, 1]])


def test_expectation():
    assert expected_value(np.array([0.5, 0.25, 0.25])) == -0.625


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 3e-7), (np.float64, 1e-14)])
@given(value=st.floats(-1.5, 0.5), num_bins=st.integers(2, 300))
@settings(deadline=None)
def test_expectation_undoes_the_projection(dtype, tolerance, value, num_bins):
    weights = project_onto_bins(np.array([value], dtype=dtype), num_bins)
    assert weights.dtype == dtype
    assert (weights > 0).sum() <= 2
    np.testing.assert_allclose(weights.sum(), 1, atol=300 * tolerance)
    np.testing.assert_allclose(expected_value(weights), np.clip(value, -1, 0), atol=tolerance)

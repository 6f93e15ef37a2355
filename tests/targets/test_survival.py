"""Censored steps to success: likelihood, hazards, and the values that follow."""

import numpy as np
import pytest
import torch

from goalward.targets.liveness import liveness_value
from goalward.targets.survival import (
    chance_by_bin,
    geometric_edges,
    hazard_loss,
    hazard_targets,
    seen_of_bins,
    soft_hazard_loss,
    success_probability,
    survival_value,
)

EDGES = np.array([0.0, 1.0, 3.0, 7.0])


def logits_of(hazard, edges):
    """The logits of a hazard per step: log(q / (1 - q)) + log(width)."""
    hazard = np.asarray(hazard)
    return np.log(hazard / (1 - hazard) * np.diff(edges))


@pytest.mark.parametrize(("max_steps", "num_bins"), [(1, 1), (7, 7), (250, 40), (5000, 64)])
def test_geometric_edges_are_whole_increasing_and_widening(max_steps, num_bins):
    edges = geometric_edges(max_steps, num_bins)
    assert edges.shape == (num_bins + 1,)
    assert edges[0] == 0
    assert edges[1] == 1
    assert edges[-1] == max_steps
    assert (np.diff(edges) >= 1).all()
    assert (edges == np.round(edges)).all()


def test_more_bins_than_steps():
    with pytest.raises(ValueError, match="5 steps do not make 6 bins"):
        geometric_edges(5, 6)


def test_targets_of_a_success():
    """K = 0, 1, 2, 3, and 7, which is beyond the last bin."""
    passed, succeeded = hazard_targets(np.array([0, 1, 2, 3, 7]), np.full(5, True), EDGES)
    np.testing.assert_array_equal(passed, [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 2, 0], [1, 2, 4]])
    np.testing.assert_array_equal(
        succeeded, [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]
    )


def test_targets_of_a_time_out_and_of_a_failure():
    """K > 0 passed the bin {0}, K > 1 half of the bin {1, 2}; K = inf passed them all."""
    steps = np.array([0, 1, 2, 3, 6, np.inf])
    passed, succeeded = hazard_targets(steps, np.full(6, False), EDGES)
    np.testing.assert_array_equal(
        passed, [[1, 0, 0], [1, 1, 0], [1, 2, 0], [1, 2, 1], [1, 2, 4], [1, 2, 4]]
    )
    assert not succeeded.any()


def test_loss_by_hand():
    """Hazards 0.1, 0.5, 0.2 per step: P(K = 4) and P(K > 3), factor by factor."""
    logits = np.broadcast_to(logits_of([0.1, 0.5, 0.2], EDGES), (2, 3))
    loss = hazard_loss(logits, np.array([4, 3]), np.array([True, False]), EDGES)
    chance = [0.9 * 0.5 * 0.5 * 0.8 * 0.2, 0.9 * 0.5 * 0.5 * 0.8]
    np.testing.assert_allclose(loss, -np.log(chance))


def test_a_logit_of_zero():
    """One half in a bin of one step, about one success per bin in a wide one: 1 - 1/e."""
    within = success_probability(np.zeros((1, 1)), np.array([0.0, 1.0]), 0)
    assert within == 0.5
    within = success_probability(np.zeros((1, 1)), np.array([0.0, 1000.0]), 999)
    assert within == pytest.approx(1 - np.exp(-1), abs=1e-3)


def test_loss_of_extreme_logits_is_finite():
    logits = np.full((2, 3), -500.0)
    loss = hazard_loss(logits, np.array([0, 9]), np.array([True, True]), EDGES)
    np.testing.assert_allclose(loss, [500, 0], atol=1e-12)


@pytest.mark.parametrize(
    ("edges", "hazards"),
    [
        # One step per bin: 2 of 10 at once, 2 of 8 after one step, 3 of 6 after two.
        ([0.0, 1.0, 2.0, 3.0], [2 / 10, 2 / 8, 3 / 6]),
        # Steps tried in {1, 2}: 2 * 1 + 3 * 2 + 3 * 2; in {3, .., 6}: 3 + 4 + 4.
        ([0.0, 1.0, 3.0, 7.0], [2 / 10, 5 / 14, 1 / 11]),
    ],
)
def test_fitted_hazards_are_the_empirical_ones(edges, hazards):
    edges = torch.tensor(edges, dtype=torch.float64)
    steps = torch.tensor([0, 0, 1, 1, 2, 2, 2, 5, 8, 9])
    logits = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS(
        [logits], max_iter=100, tolerance_grad=1e-12, tolerance_change=0, history_size=10
    )

    def closure():
        optimiser.zero_grad()
        loss = hazard_loss(logits, steps, torch.full((10,), True), edges).mean()
        loss.backward()
        return loss

    optimiser.step(closure)
    np.testing.assert_allclose(logits.detach(), logits_of(hazards, edges.numpy()), atol=1e-6)


def test_censoring_does_not_bias_the_hazard():
    """Clocks that stop anywhere, inside wide bins too, leave the hazard per step at 0.03."""
    rng = np.random.default_rng(0)
    k, clock = rng.geometric(0.03, size=100_000) - 1, rng.integers(0, 60, size=100_000)
    reached = k <= clock
    edges = np.array([0.0, 1, 4, 16, 64])
    passed, succeeded = hazard_targets(np.where(reached, k, clock), reached, edges)
    fitted = succeeded.sum(axis=0) / (passed + succeeded).sum(axis=0)
    np.testing.assert_allclose(fitted, 0.03, atol=0.0015)


@pytest.mark.parametrize("edges", [np.arange(401.0), geometric_edges(400, 12)])
def test_a_geometric_k_is_exact_in_bins_of_any_width(edges):
    discount, hazard = 0.97, 0.02
    logits = logits_of(np.full(len(edges) - 1, hazard), edges)
    k = np.arange(400)
    probability = hazard * (1 - hazard) ** k
    never = 1 - probability.sum()
    expected = (probability * liveness_value(k.astype(float), discount)).sum() + never
    assert survival_value(logits, edges, discount) == pytest.approx(expected, abs=1e-12)

    num_steps = np.array([0.0, 1, 5, 77, 399, 1000])
    within = success_probability(logits, edges, num_steps)
    np.testing.assert_allclose(within, 1 - (1 - hazard) ** np.minimum(num_steps + 1, 400))


def test_value_by_hand():
    """P(K = 0) = 0.1, P(K = 1) = 0.45, P(K = 2) = 0.225, never 0.225 at discount 0.9."""
    logits = logits_of([0.1, 0.5], np.array([0.0, 1.0, 3.0]))
    value = survival_value(logits, np.array([0.0, 1.0, 3.0]), 0.9)
    assert value == pytest.approx(-0.1 - 0.8 * 0.45 - 0.62 * 0.225 + 0.225)


def test_value_of_certainty():
    """Success in exactly 0, 1 or 2 steps, or never."""
    edges = np.arange(4.0)
    logits = 80 * np.array([[1, 1, 1], [-1, 1, 1], [-1, -1, 1], [-1, -1, -1.0]])
    np.testing.assert_allclose(survival_value(logits, edges, 0.9), [-1, -0.8, -0.62, 1])


def test_success_within_one_number_of_steps_or_one_per_frame():
    logits = np.stack([logits_of([0.1, 0.5, 0.2], EDGES), logits_of([0.5, 0.5, 0.5], EDGES)])
    within = success_probability(logits, EDGES, 2)
    np.testing.assert_allclose(within, [1 - 0.9 * 0.25, 1 - 0.125])
    within = success_probability(logits, EDGES, np.array([1.0, 0.0]))
    np.testing.assert_allclose(within, [1 - 0.9 * 0.5, 0.5])


# ---- what is seen on average -------------------------------------------------------------------


def random_logits(*shape):
    return np.random.default_rng(0).normal(0, 2, size=(*shape, 3))


def test_the_loss_of_one_future_is_that_of_its_steps():
    """Successes in and beyond the bins, clocks that ran out, a failure."""
    steps = np.array([0, 1, 2, 5, 9, 0, 1, 4, np.inf])
    reached = np.arange(9) < 5
    logits = random_logits(9)
    seen = seen_of_bins(steps, reached, EDGES)
    assert seen.shape == (9, 6)
    soft = soft_hazard_loss(logits, seen, EDGES)
    np.testing.assert_allclose(soft, hazard_loss(logits, steps, reached, EDGES), rtol=1e-12)


def test_the_loss_of_several_futures_is_their_mean():
    steps, reached = np.array([0, 2, 5, np.inf]), np.array([True, True, True, False])
    seen = seen_of_bins(steps, reached, EDGES)
    logits = random_logits()
    share = np.array([0.1, 0.2, 0.3, 0.4])
    mean = (share * hazard_loss(np.tile(logits, (4, 1)), steps, reached, EDGES)).sum()
    assert soft_hazard_loss(logits, share @ seen, EDGES) == pytest.approx(mean)


def test_the_soft_loss_is_least_at_the_distribution_it_was_drawn_from():
    """Hazards 0.1, 0.5, 0.2: of 1000 futures, those that survive bin by bin."""
    logits = torch.tensor(logits_of([0.1, 0.5, 0.2], EDGES))
    left = np.cumprod([1, 0.9, 0.5, 0.5, 0.8, 0.8, 0.8, 0.8])
    chance = left[:-1] - left[1:]
    passed = np.array([left[1], left[2] + left[3], left[4:].sum()])
    targets = [*passed, chance[0], chance[1:3].sum(), chance[3:].sum()]
    logits.requires_grad_()
    soft_hazard_loss(logits, torch.tensor(targets), torch.tensor(EDGES)).backward()
    np.testing.assert_allclose(logits.grad, 0, atol=1e-12)


def test_chances_by_bin_are_those_within_its_last_step():
    logits = random_logits(4, 2)
    by_bin = chance_by_bin(logits, EDGES)
    for b, end in enumerate(EDGES[1:]):
        within = success_probability(logits, EDGES, float(end - 1))
        np.testing.assert_allclose(by_bin[..., b], within, rtol=1e-12)
    assert (np.diff(by_bin, axis=-1) >= 0).all()
    sure = chance_by_bin(np.array([[800.0, 0, 0], [-800, -800, -800]]), EDGES)
    np.testing.assert_array_equal(sure, [[1, 1, 1], [0, 0, 0]])

"""Prioritised replay against its formula."""

import numpy as np
import torch

from goalward.training import replay


def test_uniform_numbers_are_uniform_and_independent_of_company():
    keys = torch.tensor([[5], [6], [77]])
    draws = torch.stack([replay.uniforms(keys, torch.tensor(i), 1000) for i in range(20)])
    assert draws.min() >= 0
    assert draws.max() < 1
    counts = torch.histc(draws.float(), bins=10, min=0, max=1)
    # 60,000 draws: the standard deviation of a count is 73.
    assert (counts - 6000).abs().max() < 330
    alone = replay.uniforms(keys[1:2], torch.tensor(3), 1000)
    assert torch.equal(alone[0], draws[3, 1])


def test_neighbouring_batches_and_runs_are_not_correlated():
    keys = torch.arange(40)[:, None]
    draws = torch.stack([replay.uniforms(keys, torch.tensor(i), 500).flatten() for i in range(6)])
    correlation = np.corrcoef(draws.numpy())
    # 20,000 numbers each: the standard deviation of a correlation is 0.007.
    assert np.abs(correlation - np.eye(6)).max() < 0.035


def test_frames_are_drawn_as_often_as_their_mass_says():
    mass = torch.tensor([[1.0, 0.0, 2.0, 5.0, 0.0], [0.0, 3.0, 3.0, 0.0, 0.5]])
    keys = torch.tensor([[11], [12]])
    counts = torch.zeros(2, 5)
    for batch in range(200):
        rows, _ = replay.sample_rows(mass, replay.uniforms(keys, torch.tensor(batch), 50))
        counts.scatter_add_(1, rows, torch.ones(2, 50))
    share = counts / counts.sum(1, keepdim=True)
    torch.testing.assert_close(share, mass / mass.sum(1, keepdim=True), atol=0.01, rtol=0)
    assert (counts[mass == 0] == 0).all()


def test_probability_of_a_row_is_its_share():
    mass = torch.tensor([[1.0, 0.0, 2.0, 5.0]])
    rows, chance = replay.sample_rows(mass, torch.zeros(1, 8))
    assert rows.tolist() == [[0, 2, 2, 3, 3, 3, 3, 3]]
    torch.testing.assert_close(chance[0], mass[0, rows[0]] / 8)


def test_last_frame_is_never_drawn_by_rounding():
    mass = torch.zeros(1, 1000)
    mass[0, :999] = 0.1
    rows, chance = replay.sample_rows(mass, torch.full((1, 64), 1 - 2**-32, dtype=torch.float64))
    assert rows.max() == 998
    assert (chance > 0).all()


def test_importance_weights_by_hand():
    """N = 4 frames with P = 1/8, 1/2: w = (1/2)^-b and 2^-b, over the larger."""
    weights = replay.importance_weights(
        torch.tensor([[0.125, 0.5]]), torch.tensor([[4]]), torch.tensor(0.5)
    )
    torch.testing.assert_close(weights, torch.tensor([[1.0, 0.5]]))


def test_importance_weights_undo_the_sampling():
    """With beta 1 the weighted mean over draws is the plain mean over frames."""
    generator = torch.Generator().manual_seed(0)
    mass = torch.rand(1, 50, generator=generator) + 0.05
    quantity = torch.rand(1, 50, generator=generator)
    rows, chance = replay.sample_rows(mass, torch.rand(1, 200_000, generator=generator).double())
    weight = replay.importance_weights(chance, torch.tensor([[50]]), 1.0)
    mean = (weight * quantity.gather(1, rows)).sum() / weight.sum()
    torch.testing.assert_close(mean, quantity.mean(), atol=1e-3, rtol=0)


def test_priority_mass_by_hand():
    mass = replay.priority_mass(torch.tensor([-0.24, 0.0]), exponent=0.5, floor=0.01)
    torch.testing.assert_close(mass, torch.tensor([0.5, 0.1]))


def test_a_window_of_frames_moves_round():
    position = torch.tensor([[0, 1, 2, 3, 4]])
    count = torch.tensor([[5]])
    seen = [
        replay.in_window(position, count, torch.tensor(start), 2)[0].nonzero().flatten().tolist()
        for start in (0, 2, 4, 6)
    ]
    assert seen == [[0, 1], [2, 3], [0, 4], [1, 2]]

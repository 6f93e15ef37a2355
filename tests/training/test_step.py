"""One batch of training against what it is meant to do, computed another way."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from goalward.training.scoring import evaluate, score_held_out
from goalward.training.step import (
    draw,
    folder,
    gradient_step,
    targets,
    train_batch,
)

LIVENESS_DISCOUNT = 1 - 1.75 / 10


def plain_net(weights, inputs):
    """The network of one run, written down layer by layer."""
    hidden = inputs
    for layer in range(3):
        hidden = hidden @ weights[f"weight_{layer}"][0] + weights[f"bias_{layer}"][0]
        if layer < 2:
            hidden = functional.layer_norm(hidden, hidden.shape[-1:])
            hidden = hidden * weights[f"gain_{layer}"][0] + weights[f"shift_{layer}"][0]
            hidden = functional.gelu(hidden)
    return hidden


def inputs_of(frames, problem, rows):
    features = torch.from_numpy(frames.features)
    return (features[rows] - problem.mean[0]) / problem.scale[0]


def plain_targets(frames, weights, problem, rows):
    """Row by row: -1 at the goal, nothing after the end, else the next frame's value."""
    found = []
    for row in rows.tolist():
        last = frames.endings.at_end[row]
        following = inputs_of(frames, problem, torch.tensor([row if last else row + 1]))
        following = plain_net(weights, following).clamp(-1, 1).item()
        backed_up = (1 - LIVENESS_DISCOUNT) + LIVENESS_DISCOUNT * (1.0 if last else following)
        found.append(-1.0 if frames.endings.at_goal[row] else backed_up)
    return torch.tensor(found)


def constant(weights, value):
    """Weights of a network that says one number whatever it sees."""
    weights["weight_2"].zero_()
    weights["bias_2"].fill_(value)


def test_batches_train_as_torch_would(begun, frames):
    """Rows and weights as drawn; network, targets, loss and Adam are torch's own."""
    problem, state = begun(
        learning_rate=3e-3, learning_rate_end=0.25, priority_exponent=0.9, importance_start=0.2
    )
    weights = {name: tensor.clone() for name, tensor in folder(state, "weights").items()}
    for tensor in weights.values():
        tensor.requires_grad_()
    adam = torch.optim.Adam(list(weights.values()))
    for batch in range(6):
        rows, importance = draw(problem, state)
        target = plain_targets(frames, weights, problem, rows[0])
        # From the whole rate to a quarter of it over the six batches there are.
        adam.param_groups[0]["lr"] = 3e-3 * (1 - 0.75 * batch / 6)
        losses = []
        for _ in range(2):
            value = plain_net(weights, inputs_of(frames, problem, rows[0]))[:, 0]
            loss = (importance[0] * (value - target) ** 2).mean()
            adam.zero_grad()
            loss.backward()
            adam.step()
            losses.append(loss.item())
        before = state["sum_of_losses"].item()
        train_batch(problem, state)
        assert int(state["batch"]) == batch + 1
        assert state["loss"].item() == pytest.approx(losses[1], rel=1e-4)
        assert state["sum_of_losses"].item() - before == pytest.approx(sum(losses), rel=1e-4)
    for name, tensor in weights.items():
        torch.testing.assert_close(state[f"weights/{name}"], tensor.detach(), rtol=0, atol=2e-5)


def test_a_batch_sets_the_priorities_of_the_frames_it_drew(begun, frames):
    problem, state = begun(
        gradient_steps_per_batch=1, priority_exponent=0.7, priority_floor=0.05, batch_size=8
    )
    rows, _ = draw(problem, state)
    weights = {name: tensor.clone() for name, tensor in folder(state, "weights").items()}
    value = plain_net(weights, inputs_of(frames, problem, rows[0]))[:, 0]
    error = value - plain_targets(frames, weights, problem, rows[0])
    train_batch(problem, state)
    expected = torch.ones(1, frames.num_frames)
    expected[0, rows[0]] = (error.abs() + 0.05) ** 0.7
    torch.testing.assert_close(state["mass"], expected)


def test_priorities_are_those_of_the_last_gradient_step(begun):
    problem, state = begun(learning_rate=0.1)
    rows, importance = draw(problem, state)
    target = targets(problem, state, rows)
    again = {name: tensor.clone() for name, tensor in state.items()}
    inputs = problem.rows.standardised(rows, problem.mean, problem.scale, torch.float32)
    for step in range(2):
        _, error = gradient_step(
            problem, again, slice(0, 1), inputs, target, importance, torch.tensor(step)
        )
    train_batch(problem, state)
    mass = state["mass"].gather(1, rows)
    torch.testing.assert_close(mass, (error.abs() + 0.01) ** 0.6)


@pytest.mark.parametrize(("batch", "exponent"), [(0, 0.3), (2, 0.5), (5, 0.8)])
def test_importance_weights_rise_evenly_over_the_batches(begun, batch, exponent):
    """Of six batches the first has the lowest exponent and the last the highest."""
    problem, state = begun(importance_start=0.3, importance_end=0.8)
    mass = torch.rand(1, 54, generator=torch.Generator().manual_seed(0)) + 0.1
    state["mass"].copy_(mass)
    state["batch"].fill_(batch)
    rows, importance = draw(problem, state)
    chance = (mass / mass.sum())[0, rows[0]].numpy()
    weight = chance**-exponent
    np.testing.assert_allclose(importance[0], weight / weight.max(), rtol=1e-5)


@pytest.mark.parametrize(("batch", "rate"), [(0, 1e-2), (3, 6e-3), (5, 1e-2 * (1 - 0.8 * 5 / 6))])
def test_the_first_step_of_adam_is_as_long_as_the_rate(begun, batch, rate):
    problem, state = begun(learning_rate=1e-2, learning_rate_end=0.2)
    state["batch"].fill_(batch)
    rows, importance = draw(problem, state)
    before = state["weights/weight_0"].clone()
    inputs = problem.rows.standardised(rows, problem.mean, problem.scale, torch.float32)
    target = torch.ones(1, 16)
    gradient_step(problem, state, slice(0, 1), inputs, target, importance, torch.tensor(0))
    moved = (state["weights/weight_0"] - before).abs().max().item()
    assert moved == pytest.approx(rate, rel=1e-3)


def test_a_small_buffer_holds_neighbours_of_a_random_order_and_moves_on(begun, frames):
    problem, state = begun(capacity=20)
    position = problem.window_position
    assert position is not None
    assert sorted(position[0].tolist()) == list(range(frames.num_frames))
    assert position[0].tolist() != list(range(frames.num_frames))
    for batch in range(5):
        state["batch"].fill_(batch)
        held = {(16 * batch + i) % frames.num_frames for i in range(20)}
        rows, _ = draw(problem, state)
        assert set(position[0, rows[0]].tolist()) <= held
    unlimited, _ = begun(capacity=frames.num_frames)
    assert unlimited.window_position is None


# ---- a lagged network -------------------------------------------------------------------------


def test_targets_come_from_the_lagged_network(begun, frames):
    problem, state = begun(lagged_tau=0.1)
    constant(folder(state, "lagged"), 0.3)
    constant(folder(state, "weights"), -0.9)
    rows = torch.arange(frames.num_frames)[None]
    target = targets(problem, state, rows)[0].numpy()
    on_the_way = ~frames.endings.at_end & ~frames.endings.at_goal
    expected = (1 - LIVENESS_DISCOUNT) + LIVENESS_DISCOUNT * 0.3
    np.testing.assert_allclose(target[on_the_way], expected, rtol=1e-6)
    assert (target[frames.endings.at_goal] == -1).all()
    np.testing.assert_allclose(target[frames.endings.at_end & ~frames.endings.at_goal], 1.0)


def test_without_a_lag_targets_come_from_the_network_itself(begun):
    problem, state = begun()
    assert not folder(state, "lagged")
    constant(folder(state, "weights"), -0.9)
    target = targets(problem, state, torch.tensor([[3]]))
    torch.testing.assert_close(
        target, torch.tensor([[(1 - LIVENESS_DISCOUNT) - LIVENESS_DISCOUNT * 0.9]])
    )


def test_targets_of_values_out_of_range_are_cut(begun):
    problem, state = begun()
    constant(folder(state, "weights"), -7.0)
    target = targets(problem, state, torch.tensor([[3]]))
    torch.testing.assert_close(
        target, torch.tensor([[(1 - LIVENESS_DISCOUNT) - LIVENESS_DISCOUNT]])
    )


def test_the_lagged_network_moves_its_share_of_the_way_at_each_period(begun):
    problem, state = begun(lagged_tau=0.25, lagged_period=2, learning_rate=1e-2)
    first = state["lagged/weight_0"].clone()
    assert torch.equal(first, state["weights/weight_0"])
    train_batch(problem, state)
    assert torch.equal(state["lagged/weight_0"], first)
    train_batch(problem, state)
    torch.testing.assert_close(
        state["lagged/weight_0"], 0.75 * first + 0.25 * state["weights/weight_0"]
    )


# ---- held-out episodes ------------------------------------------------------------------------


def test_held_out_loss_is_against_the_exact_value(begun, frames):
    """A constant 0.3 against 1 - 2 discount^k before goals, 1 where none follows."""
    problem, state = begun(held_out_fraction=0.34, seeds=range(4))
    constant(folder(state, "weights"), 0.3)
    held_out = [frames.frames_of(run.held_out) for run in problem.runs]
    # Every run has the mean over its own frames, however many the others hold out.
    assert len({frames.sum() for frames in held_out}) > 1
    exact = np.where(frames.reached, 1 - 2 * LIVENESS_DISCOUNT**frames.steps, 1.0)
    expected = [((0.3 - exact[own]) ** 2).mean() for own in held_out]
    np.testing.assert_allclose(score_held_out(problem, state), expected, rtol=1e-5)


def test_every_run_keeps_its_own_best_weights(begun, frames):
    problem, state = begun(held_out_fraction=0.34, seeds=range(2))
    exact = np.where(frames.reached, 1 - 2 * LIVENESS_DISCOUNT**frames.steps, 1.0)
    best = [float(exact[frames.frames_of(run.held_out)].mean()) for run in problem.runs]
    for first, second in ((0.0, 0.5), (0.5, 0.0)):
        constant(folder(state, "weights"), 0.0)
        state["weights/bias_2"][0] = best[0] + first
        state["weights/bias_2"][1] = best[1] + second
        score_held_out(problem, state)
    assert state["best/bias_2"].flatten().tolist() == pytest.approx(best)


def test_the_best_weights_are_kept_and_not_the_last(begun, frames):
    problem, state = begun(held_out_fraction=0.34)
    held_out = frames.frames_of(problem.runs[0].held_out)
    exact = np.where(frames.reached, 1 - 2 * LIVENESS_DISCOUNT**frames.steps, 1.0)[held_out]
    losses = []
    for value in (0.9, float(exact.mean()), -0.5):
        constant(folder(state, "weights"), value)
        losses.append(score_held_out(problem, state).item())
    assert losses[1] < losses[0] < losses[2]
    assert state["best/bias_2"].item() == pytest.approx(exact.mean(), rel=1e-6)
    assert state["held_out_loss"].item() == losses[1]


def test_evaluations_log_the_mean_loss_since_the_last(begun):
    problem, state = begun(held_out_fraction=0.34, evaluations=3)
    state["batch"].fill_(2)
    state["sum_of_losses"].fill_(6.0)
    evaluate(problem, state)
    # Two batches of two gradient steps each.
    assert state["log/loss"][0, 0] == 1.5
    assert state["log/loss"][0, 1:].isnan().all()
    assert state["log/held_out_loss"][0, 0] == state["held_out_loss"][0]
    assert state["sum_of_losses"] == 0


def test_without_held_out_episodes_the_log_has_the_loss_alone(begun):
    problem, state = begun(evaluations=2)
    assert not folder(state, "best")
    state["batch"].fill_(6)
    state["sum_of_losses"].fill_(3.0)
    evaluate(problem, state)
    assert state["log/loss"][0, 1] == 0.5
    assert state["log/held_out_loss"].isnan().all()

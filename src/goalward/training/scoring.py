"""Looks at the held-out episodes in the course of a training: scores, and the best weights."""

from collections.abc import Iterable

import torch
from torch import Tensor

from goalward.training.networks.value_net import Weights, net_outputs
from goalward.training.problem import Problem
from goalward.training.step import (
    State,
    evaluation_batches,
    folder,
    has_stopped,
    inputs_of,
    read_weights,
)


@torch.no_grad()
def evaluate(problem: Problem, state: State, parts: Iterable[Problem] | None = None) -> None:
    """Score the held-out episodes, if there are any, and log where the losses stand.

    To be called after the batches that `evaluation_batches` names. Held-out episodes are those of
    the problem, or of `parts`.
    """
    stopped = has_stopped(problem, state)
    held_out_loss = score_held_out(problem, state, parts)
    points = evaluation_batches(problem.numbers)
    point = points.index(int(state["batch"]))
    num_batches = points[point] - (points[point - 1] if point else 0)
    num_steps = num_batches * problem.numbers.gradient_steps_per_batch
    # A run that had stopped before has nothing to tell; one that stops here has.
    mean = state["sum_of_losses"] / num_steps
    state["log/loss"][:, point] = torch.where(stopped, torch.nan, mean)
    state["log/held_out_loss"][:, point] = torch.where(stopped, torch.nan, held_out_loss)
    state["sum_of_losses"].zero_()


@torch.no_grad()
def score_held_out(
    problem: Problem, state: State, parts: Iterable[Problem] | None = None
) -> Tensor:
    """Score the held-out episodes and keep the weights of the runs that never did better.

    Returns the loss of every run, NaN for those that hold nothing out.
    """
    total = torch.zeros(len(problem.runs), device=problem.device)
    of_all = torch.zeros_like(total)
    weights = read_weights(state)
    is_scored = False
    for part in [problem] if parts is None else parts:
        if part.held_out is not None and part.held_out_share is not None:
            is_scored = True
            of_all += part.held_out_share.sum(1)
            for rows, share in zip(
                part.held_out.split(part.numbers.batch_size, 1),
                part.held_out_share.split(part.numbers.batch_size, 1),
                strict=True,
            ):
                total += _held_out_losses(part, weights, rows, share)
    if not is_scored:
        return torch.full_like(state["held_out_loss"], torch.nan)
    # A run with too few episodes to hold any out keeps its last weights.
    holds_none = of_all == 0
    better = ((total < state["held_out_loss"]) & ~has_stopped(problem, state)) | holds_none
    state["waited"].copy_(torch.where(better, 0, state["waited"] + 1))
    state["held_out_loss"].copy_(torch.where(better, total, state["held_out_loss"]))
    for name, tensor in folder(state, "best").items():
        tensor.copy_(torch.where(better[:, None, None], state[f"weights/{name}"], tensor))
    return torch.where(holds_none, torch.nan, total)


def _held_out_losses(problem: Problem, weights: Weights, rows: Tensor, share: Tensor) -> Tensor:
    """(runs,) what some held-out rows add to the loss of each run."""
    target = [part.targets(rows[part.runs], held_out=True) for part in problem.parts]
    outputs = net_outputs(weights, inputs_of(problem, rows, slice(None)))
    return (problem.loss(outputs, torch.cat(target))[0] * share).sum(1)

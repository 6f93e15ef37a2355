"""One batch of training for a group of runs: draw, target, descend, remember the errors."""

import torch
from torch import Tensor

from goalward.training import replay
from goalward.training.frames.shaking import Shaking
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.networks.adam import adam_step, adam_step_with_copy
from goalward.training.networks.fused import kernels_for
from goalward.training.networks.value_net import (
    NetShape,
    Weights,
    initial_weights,
    net_outputs,
    product_copy,
    some_runs,
)
from goalward.training.problem import Problem
from goalward.training.side_by_side import Each, one_by_one

# Every tensor that changes in training, by name: "weights/bias_0", "mass", "batch", ...
State = dict[str, Tensor]


def initial_state(problem: Problem, holds_out: bool | None = None) -> State:
    """The state before the first batch, on the problem's device.

    `holds_out` says whether runs are scored on held-out episodes, where these are not in the
    problem itself.
    """
    holds_out = problem.held_out is not None if holds_out is None else holds_out
    numbers = problem.numbers
    shape = NetShape(problem.rows.size, problem.output_size, numbers.width, numbers.num_layers)
    generators = [
        torch.Generator().manual_seed(run.integer("initial_weights")) for run in problem.runs
    ]
    weights = initial_weights(shape, generators)
    num_runs = len(problem.runs)
    nothing_logged = torch.full((num_runs, len(evaluation_batches(numbers))), torch.nan)
    state: State = {
        "batch": torch.tensor(0),
        "loss": torch.zeros(num_runs),
        "sum_of_losses": torch.zeros(num_runs),
        "log/loss": nothing_logged,
        "log/held_out_loss": nothing_logged.clone(),
        "held_out_loss": torch.full((num_runs,), torch.inf),
        "waited": torch.zeros(num_runs, dtype=torch.int64),
        "mass": problem.first_mass.clone(),
    }
    # Drawn on the host; what is made of them is made where they go, without the way there.
    weights = {name: tensor.to(problem.device) for name, tensor in weights.items()}
    for name, tensor in weights.items():
        state[f"weights/{name}"] = tensor
        state[f"first_moment/{name}"] = torch.zeros_like(tensor)
        state[f"second_moment/{name}"] = torch.zeros_like(tensor)
        if problem.dtype is not torch.float32 and name.startswith("weight_"):
            state[f"copy/{name}"] = product_copy(tensor, problem.dtype)
        if holds_out:
            state[f"best/{name}"] = tensor.clone()
        if numbers.lagged_tau:
            state[f"lagged/{name}"] = tensor.clone()
    return {name: tensor.to(problem.device) for name, tensor in state.items()}


def evaluation_batches(numbers: Hyperparameters) -> list[int]:
    """After how many batches losses are logged and held-out episodes scored: the last is one.

    >>> evaluation_batches(Hyperparameters(num_steps=18, evaluations=4))
    [2, 4, 6, 8, 9]
    """
    every = max(numbers.num_batches // max(numbers.evaluations, 1), 1)
    return sorted({*range(every, numbers.num_batches + 1, every), numbers.num_batches})


def folder(state: State, name: str) -> Weights:
    """The tensors of the state below a name; empty if there is no such folder."""
    return {
        key.removeprefix(f"{name}/"): tensor
        for key, tensor in state.items()
        if key.startswith(f"{name}/")
    }


def some_runs_of_state(state: State, runs: slice) -> State:
    """Views of what belongs to some of the runs."""
    return {name: tensor[runs] for name, tensor in state.items() if "/" in name}


def train_batch(problem: Problem, state: State, each: Each = one_by_one) -> None:
    """Draw a batch per run, take the gradient steps it is worth, and set its new priorities.

    Features are gathered and targets computed once per batch; all its gradient steps use them.
    On CUDA nothing here asks the device for a number, so that it can be replayed as a graph. `each`
    does the portions that runs are computed in.
    """
    numbers = problem.numbers
    rows, importance = draw(problem, state)
    target = targets(problem, state, rows, each)
    first_step = state["batch"] * numbers.gradient_steps_per_batch

    def descend(runs: slice) -> None:
        inputs = inputs_of(problem, rows[runs], runs)
        error = torch.zeros_like(importance[runs])
        for step in range(numbers.gradient_steps_per_batch):
            loss, error = gradient_step(
                problem, state, runs, inputs, target[runs], importance[runs], first_step + step
            )
            state["loss"][runs] = loss
            state["sum_of_losses"][runs] += loss
        mass = replay.priority_mass(error, numbers.priority_exponent, numbers.priority_floor)
        state["mass"][runs].scatter_(1, rows[runs], mass)

    each(descend, _still_training(problem, state))
    state["batch"] += 1
    _move_lagged(problem, state)


def _still_training(problem: Problem, state: State) -> list[slice]:
    """The portions of runs that have not stopped; on CUDA all of them."""
    portions = problem.slices(len(problem.runs))
    if problem.device.type == "cuda" or not problem.numbers.patience:
        return portions
    stopped = has_stopped(problem, state)
    return [runs for runs in portions if not bool(stopped[runs].all())]


def has_stopped(problem: Problem, state: State) -> Tensor:
    """(runs,) True where a network has done no better for so long that it trains no further.

    On CUDA it goes through the motions with the others; what it learns then is not kept.
    """
    patience = problem.numbers.patience
    return state["waited"] >= (patience or torch.iinfo(torch.int64).max)


def draw(problem: Problem, state: State) -> tuple[Tensor, Tensor]:
    """Rows of a batch and their importance weights, (runs, batch) each."""
    numbers, batch = problem.numbers, state["batch"]
    mass, num_frames = state["mass"], problem.num_frames
    kernels = kernels_for(mass, problem.dtype)
    if kernels is not None and kernels.can_draw(mass.shape[1], numbers.batch_size):
        return kernels.draw(
            mass,
            problem.window_position,
            num_frames,
            numbers.capacity,
            problem.run_keys,
            batch,
            numbers.batch_size,
            (numbers.importance_start, numbers.importance_end),
            numbers.num_batches,
        )
    if problem.window_position is not None and numbers.capacity is not None:
        # As many frames come in as are drawn.
        start = batch * numbers.batch_size
        held = replay.in_window(problem.window_position, num_frames, start, numbers.capacity)
        mass = mass * held
        num_frames = num_frames.clamp(max=numbers.capacity)
    uniform = replay.uniforms(problem.run_keys, batch, numbers.batch_size)
    rows, chance = replay.sample_rows(mass, uniform)
    rise = numbers.importance_end - numbers.importance_start
    exponent = numbers.importance_start + rise * batch / max(numbers.num_batches - 1, 1)
    return rows, replay.importance_weights(chance, num_frames, exponent)


@torch.no_grad()
def targets(problem: Problem, state: State, rows: Tensor, each: Each = one_by_one) -> Tensor:
    """What each run's network is to say on its rows: (runs, batch)."""
    weights = folder(state, "lagged") or read_weights(state)
    next_value = torch.empty(0)
    if problem.num_backups:
        next_rows = (rows + 1).clamp_(max=len(problem.at_end) - 1)

        @torch.no_grad()
        def next_values(runs: slice) -> Tensor:
            inputs = inputs_of(problem, next_rows[runs], runs)
            return problem.value(net_outputs(some_runs(weights, runs), inputs))

        next_value = torch.cat(each(next_values, problem.slices(problem.num_backups)))
        backups = slice(problem.num_backups)
        next_value = torch.clamp(next_value, problem.lowest[backups], problem.highest[backups])
    found: list[Tensor] = []
    for part in problem.parts:
        here = rows[part.runs]
        target = part.targets(here)
        if part.stage.backup is not None:
            at_goal, at_end = problem.at_goal[here], problem.at_end[here]
            target = part.stage.backup(
                target, next_value[part.runs], at_goal, at_end, problem.numbers
            )
        found.append(target)
    return torch.cat(found)


def gradient_step(
    problem: Problem,
    state: State,
    runs: slice,
    inputs: Tensor,
    target: Tensor,
    importance: Tensor,
    steps_before: Tensor,
) -> tuple[Tensor, Tensor]:
    """One step of Adam for some runs; the loss (runs,) and the errors (runs, batch) before it."""
    leaves = some_runs(read_weights(state), runs)
    for tensor in leaves.values():
        tensor.requires_grad_()
    shaken = Shaking(problem.run_keys[runs], steps_before, problem.numbers)
    inputs = shaken.inputs(inputs)
    loss, error = problem.loss(net_outputs(leaves, inputs, shaken.hidden), target)
    loss = (importance * loss).mean(1)
    # Runs share nothing, so the gradient of the sum is every run's own.
    gradients = torch.autograd.grad(loss.sum(), list(leaves.values()))
    found = dict(zip(leaves, gradients, strict=True))
    rate = _learning_rate(problem, state)
    _descend(some_runs_of_state(state, runs), found, rate, steps_before, problem.numbers)
    return loss.detach(), error


def read_weights(state: State) -> Weights:
    """The weights as matrix products read them: bfloat16 copies where there are any."""
    return folder(state, "weights") | folder(state, "copy")


def _descend(
    state: State,
    gradients: Weights,
    rate: Tensor,
    steps_before: Tensor,
    numbers: Hyperparameters,
) -> None:
    copies = folder(state, "copy")
    if numbers.weight_decay:
        # Of the maps alone, apart from the gradient (Loshchilov and Hutter 2019).
        for name in gradients:
            if name.startswith("weight_"):
                state[f"weights/{name}"].mul_(1 - rate * numbers.weight_decay)
    plain = [name for name in gradients if name not in copies]
    adam_step(
        [state[f"weights/{name}"] for name in plain],
        [gradients[name] for name in plain],
        [state[f"first_moment/{name}"] for name in plain],
        [state[f"second_moment/{name}"] for name in plain],
        # torch counts in each of these; they may not share memory.
        list(steps_before.float().repeat(len(plain)).unbind()),
        rate,
    )
    step_count = (steps_before + 1).float()
    for name, copy in copies.items():
        adam_step_with_copy(
            state[f"weights/{name}"],
            gradients[name],
            state[f"first_moment/{name}"],
            state[f"second_moment/{name}"],
            step_count,
            rate,
            copy,
        )


def _learning_rate(problem: Problem, state: State) -> Tensor:
    numbers = problem.numbers
    fall = (1 - numbers.learning_rate_end) * state["batch"] / numbers.num_batches
    return (numbers.learning_rate * (1 - fall)).float()


def inputs_of(problem: Problem, rows: Tensor, runs: slice) -> Tensor:
    mean, scale = problem.mean[runs], problem.scale[runs]
    return problem.rows.standardised(rows, mean, scale, problem.dtype)


def _move_lagged(problem: Problem, state: State) -> None:
    numbers = problem.numbers
    if numbers.lagged_tau:
        due = state["batch"] % numbers.lagged_period == 0
        share = due * numbers.lagged_tau
        weights = folder(state, "weights")
        for name, tensor in folder(state, "lagged").items():
            tensor.add_(share * (weights[name] - tensor))

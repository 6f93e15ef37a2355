"""Rollouts of two tasks by turns, and the smallest networks that learn from them."""

import numpy as np

import goalward

LENGTHS = [5, 3, 4, 2] * 2
# Both tasks and both kinds of outcomes are in each half.
HALVES = {"early": [0, 1, 2, 3], "late": [4, 5, 6, 7]}
TINY = {
    "width": 4,
    "num_layers": 2,
    "batch_size": 8,
    "num_steps": 2,
    "device": "cpu",
    "per_task": True,
}


def two_tasks(*, layout="", outcomes=("success", "failure", "time_out", "success") * 2):
    draws = np.random.default_rng(0)
    features = [draws.normal(size=(length, 2)) for length in LENGTHS]
    tasks = ["lift", "turn"] * 4
    rollouts = goalward.from_arrays(features, outcomes=list(outcomes), tasks=tasks)
    return rollouts.with_features(rollouts.features, layout=layout)


def of_task(task):
    """Which of their frames are of a task."""
    return np.repeat(np.array(["lift", "turn"] * 4) == task, LENGTHS)

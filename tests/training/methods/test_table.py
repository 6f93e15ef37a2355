"""The table of methods: what a stage learns of each frame, and the steps a value stands for."""

import numpy as np
import pytest
import torch

from goalward import GoalwardError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.training.frames.inputs import FeatureRows
from goalward.training.frames.training_frames import training_frames
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.stages import STAGES
from goalward.training.methods.table import METHODS
from goalward.training.networks.nets import Nets, frame_values
from goalward.training.networks.value_net import NetShape, initial_weights
from goalward.training.runs import NetRun

NUMBERS = Hyperparameters(
    discount=0.9, td_discount=0.8, td_normaliser=10.0, mc_normaliser=20.0, survival_max_steps=5
)
ANCHOR = np.array([[1, 0.5, -1, -1, 0.3, 1, 0.2, 1, -0.5]])
INF = np.inf


@pytest.fixture
def recorded():
    """A success filmed on after its goal, a time-out, a failure."""
    episodes = [
        Episode("a", 4, Outcome.SUCCESS, goal_frame=2),
        Episode("b", 3, Outcome.TIME_OUT),
        Episode("c", 2, Outcome.FAILURE),
    ]
    return training_frames(Rollouts(episodes, features=np.ones((9, 2), dtype=np.float32)))


SPARSE = [1, 1, -1, -1, 1, 1, 1, 1, 1]
EXACT_SPARSE = [-0.62, -0.8, -1, -1, 1, 1, 1, 1, 1]
# The backup of the anchor where that is better than what follows.
BOOTSTRAPPED = [-0.62, -0.8, -1, -1, 0.37, 0.352, 0.28, -0.215, -0.35]
EXACT_TD = [-0.18, -0.1, 0, 0, -0.18 - 0.64, -0.1 - 0.8, -1, -0.1 - 0.8, -1]
RETURN = [-0.1, -0.05, 0, 0, -0.6, -0.55, -0.5, -0.55, -0.5]


@pytest.mark.parametrize(
    ("stage", "table", "held_out"),
    [
        ("sparse", SPARSE, EXACT_SPARSE),
        ("bootstrap", ANCHOR[0], BOOTSTRAPPED),
        ("sparse-exact", EXACT_SPARSE, EXACT_SPARSE),
        ("bootstrap-exact", BOOTSTRAPPED, BOOTSTRAPPED),
        ("td", SPARSE, EXACT_TD),
        ("mc", RETURN, RETURN),
        ("mc-dist", RETURN, RETURN),
        ("survival", [2, 1, 0, 0, -3, -2, -1, -INF, -INF], [2, 1, 0, 0, -3, -2, -1, -INF, -INF]),
    ],
)
def test_what_is_learned_of_each_frame(recorded, stage, table, held_out):
    """Backwards along the time-out: 0.1 + 0.9 * 0.2, then * 0.28, then * its own anchor, 0.3."""
    found = np.atleast_2d(STAGES[stage].table(recorded, ANCHOR, NUMBERS))[0]
    np.testing.assert_allclose(found, table, atol=1e-12)
    exact = STAGES[stage].exact or STAGES[stage].table
    found = np.atleast_2d(exact(recorded, ANCHOR, NUMBERS))[0]
    np.testing.assert_allclose(found, held_out, atol=1e-12)


def test_the_backups():
    """One step on the way, a goal, and an end without one."""
    next_value, at_goal = torch.tensor([[-0.5, 0.9, 0.9]]), torch.tensor([[False, True, False]])
    at_end, table = torch.tensor([[False, False, True]]), torch.tensor([[0.2, -1.0, 0.2]])
    arguments = (table, next_value, at_goal, at_end, NUMBERS)
    for name in ("sparse", "bootstrap"):
        found = STAGES[name].backup(*arguments)
        torch.testing.assert_close(found, torch.tensor([[-0.35, -1, 0.28]]))
    torch.testing.assert_close(STAGES["td"].backup(*arguments), torch.tensor([[-0.5, 0, -1]]))
    assert {name for name, stage in STAGES.items() if stage.backup} == {"sparse", "bootstrap", "td"}


@pytest.mark.parametrize(
    ("stages", "value", "steps"),
    [
        (("sparse", "bootstrap", "sparse-exact", "bootstrap-exact", "survival"), -0.62, 2),
        (("td",), -0.18, 2),
        (("mc", "mc-dist"), -0.1, 2),
    ],
)
def test_steps_of_a_value(stages, value, steps):
    for name in stages:
        assert STAGES[name].steps(np.array([value]), NUMBERS) == pytest.approx(steps)
    (method,) = [method for method in METHODS.values() if method.stages == (STAGES[stages[0]],)]
    assert method.steps(np.array([value]), NUMBERS) == pytest.approx(steps)


@pytest.mark.parametrize(
    ("stage", "lowest", "highest"), [("sparse", -1, 1), ("td", -7, 0), ("mc", -1, 0)]
)
def test_values_stay_in_the_range_of_their_stage(recorded, stage, lowest, highest):
    weights = initial_weights(NetShape(2, 1, width=4, num_layers=2), [torch.Generator()] * 2)
    weights["weight_1"].zero_()
    weights["bias_1"][0], weights["bias_1"][1] = -7, 7
    runs = tuple(NetRun(STAGES[stage], seed, (0,)) for seed in (0, 1))
    nets = Nets(runs, weights, torch.zeros(2, 1, 2), torch.ones(2, 1, 2))
    value = frame_values(nets, FeatureRows(recorded.features, torch.device("cpu")), NUMBERS)
    assert value.tolist() == [[lowest] * 9, [highest] * 9]


def test_methods_are_their_stages():
    assert {name: [stage.name for stage in method.stages] for name, method in METHODS.items()} == {
        "liveness": ["sparse", "bootstrap"],
        "liveness-nb": ["sparse"],
        "td": ["td"],
        "mc": ["mc"],
        "mc-dist": ["mc-dist"],
        "liveness-exact": ["sparse-exact", "bootstrap-exact"],
        "liveness-nb-exact": ["sparse-exact"],
        "survival": ["survival"],
        "lambda-returns": ["dark", "bright"],
    }
    assert all(name == method.name for name, method in METHODS.items())
    assert {stage for method in METHODS.values() for stage in method.stages} == {*STAGES.values()}
    assert all(method.after is None for method in METHODS.values())


@pytest.mark.parametrize("stage", ["sparse-exact", "td", "mc"])
def test_numbers_that_await_the_horizon(recorded, stage):
    with pytest.raises(GoalwardError, match="depend on the horizon: call for_horizon first"):
        (STAGES[stage].exact or STAGES[stage].table)(recorded, None, Hyperparameters())


def test_networks_of_other_features_are_refused(recorded):
    weights = initial_weights(NetShape(3, 1, width=4, num_layers=2), [torch.Generator()])
    nets = Nets(
        (NetRun(STAGES["mc"], 0, (0,)),), weights, torch.zeros(1, 1, 3), torch.ones(1, 1, 3)
    )
    with pytest.raises(GoalwardError, match="trained on 3 features per frame, these frames have 2"):
        frame_values(nets, FeatureRows(recorded.features, torch.device("cpu")), NUMBERS)

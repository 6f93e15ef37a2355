"""Options of a fit do what their names say, in worlds where that can be seen."""

import numpy as np
import pytest
import torch

import goalward
from goalward.training.frames.inputs import FeatureRows
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.table import METHODS
from goalward.training.problem import problem_of
from goalward.training.runs import plan_run
from goalward.values.fit import fit

ENOUGH = {
    "width": 8,
    "num_layers": 2,
    "batch_size": 32,
    "num_steps": 160,
    "learning_rate": 3e-2,
    "held_out_fraction": 0.0,
    "discount": 0.9,
    "device": "cpu",
}


def crossing(**options):
    """State B is one step before the goal in half of the episodes and the last frame of the rest.

    Returns the value of B by each method.
    """
    a, b, goal = np.eye(3, dtype=np.float32)
    episodes = [np.stack([a, b, goal]), np.stack([a, b])] * 4
    rollouts = goalward.from_arrays(episodes, success=[True, False] * 4)
    fitted = fit(rollouts, ("liveness-nb", "td", "mc"), seeds=1, **ENOUGH | options)
    table = fitted.predict(goalward.from_arrays([b[None]], success=[False]))
    return {method: float(table.mean(method)[0]) for method in table.methods}


def test_an_open_time_out_teaches_nothing_at_its_last_frame():
    """Left open, B is only ever one step before the goal; terminal, it is the end half the time."""
    numbers = {"td_discount": 0.9, "td_normaliser": 10.0, "mc_normaliser": 10.0}
    left_open = crossing(time_out="open", **numbers)
    terminal = crossing(time_out="terminal", **numbers)
    assert left_open["liveness-nb"] == pytest.approx(-0.8, abs=0.15)
    assert terminal["liveness-nb"] == pytest.approx((-0.8 + 1) / 2, abs=0.15)
    assert left_open["td"] == pytest.approx(-0.1, abs=0.1)
    assert terminal["td"] == pytest.approx((-0.1 - 1) / 2, abs=0.1)
    # What does not go through the network has a target everywhere: -1/10 and -1/2.
    assert left_open["mc"] == terminal["mc"] == pytest.approx(-0.3, abs=0.1)


@pytest.mark.parametrize(
    ("method", "time_out", "never_drawn"),
    [
        ("liveness-nb", "open", [20, 34, 47, 53]),
        ("td", "open", [20, 34, 47, 53]),
        ("td", "terminal", []),
        ("mc", "open", []),
        ("survival", "open", []),
        ("liveness-nb-exact", "open", []),
    ],
)
def test_only_the_last_frames_of_open_time_outs_are_never_drawn(
    begun, method, time_out, never_drawn
):
    """Ends of time-outs are frames 20, 34, 47 and 53; that of the failure is frame 52."""
    problem, _ = begun(method, time_out=time_out)
    assert (problem.first_mass[0] == 0).nonzero().flatten().tolist() == never_drawn
    assert problem.num_frames.item() == 54 - len(never_drawn)


def test_frames_of_other_episodes_are_never_drawn(frames, numbers):
    run = plan_run(frames, METHODS["mc"], 0, (1, 2), numbers)
    rows = FeatureRows(frames.features, torch.device("cpu"))
    problem = problem_of(frames, rows, [run], {}, numbers, torch.float32)
    assert problem.first_mass[0].nonzero().flatten().tolist() == list(range(10, 27))


def test_inputs_that_are_not_to_be_standardised_stay_as_they_are(begun, frames):
    problem, _ = begun(standardise=False)
    assert (problem.mean == 0).all()
    assert (problem.scale == 1).all()
    problem, _ = begun()
    np.testing.assert_allclose(problem.mean[0, 0], frames.features.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(problem.scale[0, 0], frames.features.std(axis=0), rtol=1e-5)


def test_standardised_features_may_have_any_scale(rollouts, small):
    """The same networks from features a thousand times as large and shifted; without it, others."""
    moved = rollouts.with_features(1000 * rollouts.features + 500)

    def values(of, **options):
        return fit(of, "mc", seeds=4, **small | options).predict(of).raw_value

    np.testing.assert_allclose(values(moved), values(rollouts), atol=1e-5)
    plain, plain_moved = (values(of, standardise=False) for of in (rollouts, moved))
    assert np.abs(plain - plain_moved).max() > 0.1


@pytest.mark.parametrize(
    ("fraction", "held_out"),
    [(0.0, [0, 0, 0]), (0.34, [1, 1, 0]), (0.5, [2, 1, 0]), (0.99, [3, 2, 0])],
)
def test_the_share_held_out_is_of_every_outcome_and_rounded_down(frames, fraction, held_out):
    """Of four time-outs, three successes and one failure."""
    numbers = Hyperparameters(held_out_fraction=fraction).for_horizon(10)
    run = plan_run(frames, METHODS["mc"], 0, range(8), numbers)
    outcomes = [str(frames.endings.outcomes[episode]) for episode in run.held_out]
    counts = [outcomes.count(name) for name in ("time_out", "success", "failure")]
    assert counts == held_out
    assert sorted(run.episodes + run.held_out) == list(range(8))


@pytest.mark.parametrize("folds", [2, 3, 8])
def test_folds_are_even_and_every_episode_is_left_out_once(frames, folds):
    numbers = Hyperparameters(cross_fit=folds).for_horizon(10)
    run = plan_run(frames, METHODS["liveness"], 0, range(8), numbers)
    left_out = [sorted({*range(8)} - {*anchor.episodes}) for anchor in run.anchors]
    assert [anchor.fold for anchor in run.anchors] == list(range(folds))
    assert sorted(e for fold in left_out for e in fold) == list(range(8))
    assert {len(fold) for fold in left_out} <= {8 // folds, -(-8 // folds)}


@pytest.mark.parametrize("seed", range(8))
def test_folds_have_every_outcome_in_the_same_proportion(frames, seed):
    numbers = Hyperparameters(cross_fit=2).for_horizon(10)
    run = plan_run(frames, METHODS["liveness"], seed, range(8), numbers)
    for anchor in run.anchors:
        kept = [str(frames.endings.outcomes[episode]) for episode in anchor.episodes]
        assert kept.count("time_out") == 2
        assert kept.count("success") in (1, 2)


def test_more_folds_than_episodes(frames):
    numbers = Hyperparameters(cross_fit=9).for_horizon(10)
    with pytest.raises(goalward.GoalwardError, match="8 episodes do not make 9 folds"):
        plan_run(frames, METHODS["liveness"], 0, range(8), numbers)


def test_seeds_names_and_folds_draw_other_numbers_and_the_same_ones_again(frames):
    numbers = Hyperparameters(held_out_fraction=0.34, cross_fit=2).for_horizon(10)

    def drawn(seed, name):
        run = plan_run(frames, METHODS["liveness"], seed, range(8), numbers, name=name)
        runs = (run, *run.anchors)
        return [one.integer(purpose) for one in runs for purpose in ("replay", "window")]

    every = [number for seed in (0, 1) for name in ("", "a") for number in drawn(seed, name)]
    assert len(set(every)) == 2 * 2 * 3 * 2
    assert drawn(0, "a") == drawn(0, "a")


def test_a_run_without_a_target_says_so(small):
    single = goalward.from_arrays([np.ones((1, 2))], success=[False], tasks=["fold"])
    with pytest.warns(UserWarning, match="of task 'fold' .* is no success"):
        with pytest.raises(
            goalward.GoalwardError, match="stage td, seed 3, task fold: no frame has a target"
        ):
            fit(single, "td", seeds=[3], time_out="open", **small)

"""Value functions by method, seed, task and subset: who answers for which frame."""

import math
from itertools import pairwise

import numpy as np
import pytest
from rollout_files.two_tasks import HALVES, TINY, of_task, two_tasks

import goalward
from goalward.training.methods.presets import hyperparameters
from goalward.training.methods.table import METHODS
from goalward.training.progress import Pace
from goalward.values.fit import fit

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def rollouts():
    return two_tasks()


@pytest.fixture(scope="module")
def fitted(rollouts):
    """Of two halves of the episodes, each with both tasks and both kinds of outcomes."""
    return fit(rollouts, ("mc", "liveness-nb"), seeds=(3, 5), subsets=HALVES, **TINY)


def test_a_table_says_what_it_is_of(fitted, rollouts):
    table = fitted.predict(rollouts, subset="early")
    assert table.methods == fitted.methods == ("mc", "liveness-nb")
    assert table.seeds == fitted.seeds == (3, 5)
    assert table.episode_ids == rollouts.ids
    assert table.episode_tasks == ("lift", "turn") * 4
    assert fitted.tasks == ("lift", "turn")
    assert table.episode_ends.tolist() == [5, 8, 12, 14, 19, 22, 26, 28]
    assert table.raw_value.shape == table.steps_to_goal.shape == (2, 2, 28)
    assert table.raw_value.dtype == table.steps_to_goal.dtype == np.float32


def test_every_frame_is_judged_by_the_networks_of_its_task(fitted, rollouts):
    table = fitted.predict(rollouts, subset="early")
    for task in ("lift", "turn"):
        alone = fitted.predict(rollouts.where(task=task), subset="early")
        here = of_task(task)
        np.testing.assert_allclose(table.raw_value[..., here], alone.raw_value, atol=1e-6)
        np.testing.assert_allclose(table.steps_to_goal[..., here], alone.steps_to_goal, rtol=1e-4)
    # The networks of the other task would have said something else.
    lift = of_task("lift")
    frames = [rollouts.features[lift][:5]]
    other = fitted.predict(
        goalward.from_arrays(frames, success=[True], tasks=["turn"]), subset="early"
    )
    assert np.abs(other.raw_value - table.raw_value[..., lift][..., :5]).max() > 1e-3


def test_steps_follow_from_the_value_of_each_method(fitted, rollouts):
    """The horizon is 4: liveness with a discount of 1 - 1.75 / 4, returns over 8 steps."""
    table = fitted.predict(rollouts, subset="early")
    assert fitted.numbers.discount == pytest.approx(0.5625)
    returned, worth = table.raw_value
    np.testing.assert_allclose(table.steps("mc"), np.abs(np.minimum(returned, 0)) * 8, rtol=1e-5)
    expected = np.log((1 - worth) / 2) / math.log(0.5625)
    np.testing.assert_allclose(table.steps("liveness-nb"), expected, rtol=1e-4, atol=1e-5)


def test_a_subset_is_named_where_there_are_several(fitted, rollouts):
    assert fitted.subsets == ("early", "late")
    early, late = (fitted.predict(rollouts, subset=name).raw_value for name in HALVES)
    assert np.abs(early - late).max() > 1e-3
    with pytest.raises(
        goalward.GoalwardError,
        match="^there are several subsets of episodes, so name one: 'early', 'late'$",
    ):
        fitted.predict(rollouts)
    with pytest.raises(
        goalward.GoalwardError, match="^no subset 'all'; there are 'early', 'late'$"
    ):
        fitted.chances(rollouts, 3, subset="all")


def test_one_subset_needs_no_name(rollouts):
    one = fit(rollouts, "mc", seeds=1, subsets={"half": HALVES["early"]}, **TINY)
    assert one.subsets == ("half",)
    unnamed, named = one.predict(rollouts), one.predict(rollouts, subset="half")
    assert np.array_equal(unnamed.raw_value, named.raw_value)
    whole = fit(rollouts, "mc", seeds=1, **TINY)
    assert whole.subsets == ("",)
    assert np.abs(whole.predict(rollouts).raw_value - unnamed.raw_value).max() > 1e-3


def test_networks_learn_from_the_episodes_of_their_task_and_subset(fitted):
    """By their positions in the rollouts."""
    episodes = {
        (task, subset): set(run.episodes) | set(run.held_out)
        for (method, seed, task, subset), (run,) in fitted.answers.items()
    }
    assert episodes == {
        ("lift", "early"): {0, 2},
        ("turn", "early"): {1, 3},
        ("lift", "late"): {4, 6},
        ("turn", "late"): {5, 7},
    }
    # What random numbers depend on besides the seed.
    assert {run.name for (run,) in fitted.answers.values()} == {
        f"{subset}/{task}" for task, subset in episodes
    }
    assert all(
        run.stage is METHODS[method].stages[-1] and run.seed == seed
        for (method, seed, _, _), (run,) in fitted.answers.items()
    )


def test_without_subsets_random_numbers_depend_on_the_task_alone(rollouts):
    whole = fit(rollouts, "mc", seeds=1, **TINY)
    assert {run.name for (run,) in whole.answers.values()} == {"lift", "turn"}


@pytest.mark.parametrize(
    ("positions", "message"),
    [
        ([], "^subset 'x' has no episodes$"),
        ([0, 0], "^subset 'x' must name positions of 8 episodes once$"),
        ([-1, 0], "^subset 'x' must name positions of 8 episodes once$"),
        ([0, 8], "^subset 'x' must name positions of 8 episodes once$"),
    ],
)
def test_subsets_that_are_none(rollouts, positions, message):
    with pytest.raises(goalward.GoalwardError, match=message):
        fit(rollouts, "mc", seeds=1, subsets={"x": positions}, **TINY)


def test_a_subset_may_be_one_episode(rollouts):
    with pytest.warns(UserWarning, match="nothing to tell apart"):
        one = fit(rollouts, "mc", seeds=1, subsets={"x": [3]}, **TINY)
    ((run,),) = one.answers.values()
    assert run.episodes == (3,)


def test_subsets_may_be_arrays_and_hold_every_position(rollouts):
    every = fit(rollouts, "mc", seeds=1, subsets={"x": np.arange(8)}, **TINY)
    ((lift,), (turn,)) = every.answers.values()
    assert {*lift.episodes, *lift.held_out} == {0, 2, 4, 6}
    assert {*turn.episodes, *turn.held_out} == {1, 3, 5, 7}


def test_methods_and_seeds_are_given_in_several_ways(rollouts):
    assert fit(rollouts, METHODS["mc"], seeds=2, **TINY).seeds == (0, 1)
    twice = fit(rollouts, ["mc", METHODS["mc"], "td"], seeds=[7], **TINY)
    assert (twice.methods, twice.seeds) == (("mc", "td"), (7,))
    assert fit(rollouts, **TINY, seeds=1).methods == ("liveness",)
    assert fit(rollouts, "mc", **TINY).seeds == (0, 1, 2, 3, 4)


@pytest.mark.parametrize("nothing", [{"methods": []}, {"seeds": 0}, {"seeds": []}])
def test_no_method_or_no_seed(rollouts, nothing):
    with pytest.raises(goalward.GoalwardError, match="^give at least one method and one seed$"):
        fit(rollouts, **{"methods": "mc", "seeds": 1, **nothing}, **TINY)


def test_presets_and_overrides_arrive(rollouts):
    given = {name: value for name, value in TINY.items() if name not in ("device", "per_task")}
    default = fit(rollouts, "mc", seeds=1, **TINY)
    assert default.numbers == hyperparameters("default", **given).for_horizon(4)
    cloth = fit(rollouts, "mc", seeds=1, preset="cloth", **TINY)
    assert cloth.numbers == hyperparameters("cloth", **given).for_horizon(4)


def test_every_task_of_one_outcome_is_warned_of_by_name():
    one_kind = two_tasks(outcomes=("success", "success", "success", "failure") * 2)
    with pytest.warns(UserWarning, match="^every episode of task 'lift' that is learned from"):
        fit(one_kind, "mc", seeds=1, **TINY)


def test_a_fit_tells_of_its_progress_and_leaves_what_it_can_go_on_from(rollouts, tmp_path):
    told = []
    options = TINY | {
        "num_steps": 6,
        "checkpoint": str(tmp_path / "fit"),
        "on_progress": told.append,
    }
    first = fit(rollouts, "mc", seeds=1, pace=Pace(report_s=0.0), **options)
    assert len(told) > 1
    assert any((tmp_path / "fit").iterdir())
    told.clear()
    again = fit(rollouts, "mc", seeds=1, **options)
    assert told == []
    assert np.array_equal(first.predict(rollouts).raw_value, again.predict(rollouts).raw_value)


def test_a_device_that_is_none_is_refused(fitted, rollouts):
    no_device = pytest.raises(goalward.GoalwardError, match="^no device 'abacus'")
    with no_device:
        fit(rollouts, "mc", seeds=1, **TINY | {"device": "abacus"})
    with no_device:
        fitted.predict(rollouts, subset="late", device="abacus")
    with no_device:
        fitted.chances(rollouts, 3, subset="late", device="abacus")


# ---- chances ---------------------------------------------------------------------------------


def test_a_value_is_sure_of_its_steps(fitted, rollouts):
    table = fitted.predict(rollouts, subset="late")
    for num_steps in (0.0, 1.5, 3.0):
        chances = fitted.chances(rollouts, num_steps, subset="late")
        assert chances.dtype == np.float32
        assert np.array_equal(chances, table.steps_to_goal <= num_steps)


def test_chances_are_those_of_the_task(rollouts):
    fitted = fit(rollouts, "survival", seeds=2, **TINY)
    chances = fitted.chances(rollouts, 2.0)
    assert chances.shape == (1, 2, 28)
    assert ((chances > 0) & (chances < 1)).all()
    for task in ("lift", "turn"):
        alone = fitted.chances(rollouts.where(task=task), 2.0)
        np.testing.assert_allclose(chances[..., of_task(task)], alone, atol=1e-6)


def test_chances_of_bins_are_their_mass_up_to_so_many_steps(rollouts):
    """Returns are over 8 steps: within 8 all but the last bin, which says never."""
    fitted = fit(rollouts, ("mc-dist", "mc"), seeds=1, **TINY)
    within = [fitted.chances(rollouts, steps)[0, 0] for steps in (0.0, 2.0, 4.0, 8.0)]
    for fewer, more in pairwise(within):
        assert (fewer < more).all()
    assert (within[0] > 0).all()
    assert within[-1] == pytest.approx(1.0, abs=0.05)
    # An untrained network gives every bin about the same: a quarter within 2 of 8 steps.
    assert within[1] == pytest.approx(0.25, abs=0.05)


@pytest.mark.parametrize("num_steps", [-1, math.nan])
def test_chances_within_no_number_of_steps(fitted, rollouts, num_steps):
    with pytest.raises(
        goalward.GoalwardError, match=f"^num_steps must be 0 or more, got {num_steps}$"
    ):
        fitted.chances(rollouts, num_steps, subset="late")


# ---- what frames it knows ---------------------------------------------------------------------


def test_features_made_of_something_else_are_refused():
    fitted = fit(two_tasks(layout="clip of front"), "mc", seeds=1, **TINY)
    assert fitted.feature_layout == "clip of front"
    for known in ("clip of front", ""):
        assert fitted.predict(two_tasks(layout=known)).num_frames == 28
    with pytest.raises(
        goalward.GoalwardError,
        match="^these value functions know features made of clip of front; the rollouts have dino",
    ):
        fitted.predict(two_tasks(layout="dino of wrist"))
    unnamed = fit(two_tasks(), "mc", seeds=1, **TINY)
    assert unnamed.predict(two_tasks(layout="dino of wrist")).num_frames == 28


def test_tasks_that_were_not_trained_are_named(rollouts):
    lift = fit(rollouts.where(task="lift"), "mc", seeds=1, **TINY)
    with pytest.raises(
        goalward.GoalwardError, match="^no value function for task 'turn'; trained: 'lift'$"
    ):
        lift.predict(rollouts)
    both = fit(rollouts, "mc", seeds=1, **TINY)
    other = goalward.from_arrays([np.zeros((2, 2))], success=[True], tasks=["push"])
    with pytest.raises(
        goalward.GoalwardError, match="^no value function for task 'push'; trained: 'lift', 'turn'$"
    ):
        both.predict(other)


def test_a_curve_per_network(fitted):
    """Two methods, two seeds, two tasks, two subsets; each learned from two episodes."""
    log = fitted.log
    assert log.stages == ("sparse", "mc")
    places = {(c.stage, c.seed, c.task, c.subset) for c in log.curves}
    assert len(places) == len(log.curves) == 16
    assert {(c.fold, c.num_episodes, c.held_out_loss) for c in log.curves} == {(None, 2, None)}
    assert {c.steps[-1] for c in log.curves} == {2}

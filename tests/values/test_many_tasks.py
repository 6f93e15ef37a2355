"""One value function for many tasks, told which one it looks at; and episodes judged unseen."""

import numpy as np
import pytest

import goalward
from goalward.training.frames.task_codes import task_codes
from goalward.values.fit import fit
from goalward.values.fitted import load

pytestmark = pytest.mark.usefixtures("one_thread")
TINY = {"width": 16, "num_layers": 2, "batch_size": 64, "device": "cpu"}


def opposite_tasks(num_each=8, seed=0):
    """The same frames lead to the goal in one task and away from it in the other."""
    noise = np.random.default_rng(seed)
    ramp = np.linspace(0, 1, 10)[:, None]
    features, success, tasks = [], [], []
    for task, towards in (("up", 1), ("down", -1)):
        for number in range(num_each):
            is_success = number % 2 == 0
            sign = towards if is_success else -towards
            features.append(sign * ramp + 0.01 * noise.normal(size=(10, 1)))
            success.append(is_success)
            tasks.append(task)
    return goalward.from_arrays(features, success=success, tasks=tasks)


@pytest.mark.parametrize("method", ["mc", "lambda-returns"])
def test_one_network_learns_opposite_tasks_because_it_is_told_which(method) -> None:
    rollouts = opposite_tasks()
    fitted = fit(
        rollouts, method, seeds=1, num_steps=400, learning_rate=3e-3, held_out_fraction=0.0, **TINY
    )
    assert fitted.is_shared
    assert fitted.tasks == ("",)
    steps = fitted.predict(rollouts).steps(method)[0]
    before_last = rollouts.episode_ends - 2
    near = steps[before_last[rollouts.success]]
    far = steps[before_last[~rollouts.success]]
    assert near.max() < far.min()
    # Frames alike but for the task: the code alone makes the difference.
    up = goalward.from_arrays([np.ones((2, 1))], success=[True], tasks=["up"])
    down = goalward.from_arrays([np.ones((2, 1))], success=[True], tasks=["down"])
    assert fitted.predict(up).steps(method)[0, 0] < fitted.predict(down).steps(method)[0, 0]


def test_a_task_that_was_not_learned_gets_an_answer_between_the_others() -> None:
    rollouts = opposite_tasks()
    fitted = fit(rollouts, "mc", seeds=1, num_steps=40, **TINY)
    other = goalward.from_arrays([np.ones((2, 1))], success=[True], tasks=["never seen"])
    assert np.isfinite(fitted.predict(other).steps("mc")).all()
    np.testing.assert_array_equal(task_codes(["up", "down"]).of(["never seen"]), [[0, 0]])


def test_one_task_is_fitted_as_it_always_was() -> None:
    rollouts = opposite_tasks().where(task="up")
    together = fit(rollouts, "mc", seeds=1, num_steps=4, **TINY)
    apart = fit(rollouts, "mc", seeds=1, num_steps=4, per_task=True, **TINY)
    assert not together.is_shared
    assert together.tasks == ("up",)
    for name, weight in together.nets[0].weights.items():
        np.testing.assert_array_equal(weight, apart.nets[0].weights[name])


def test_tasks_are_stored_with_the_networks(tmp_path) -> None:
    rollouts = opposite_tasks()
    fitted = fit(rollouts, ("mc", "lambda-returns"), seeds=1, num_steps=6, **TINY)
    fitted.save(tmp_path)
    again = load(tmp_path)
    assert again.is_shared
    np.testing.assert_array_equal(
        fitted.predict(rollouts).raw_value, again.predict(rollouts).raw_value
    )


def test_codes_of_many_tasks_stay_small_and_apart() -> None:
    names = [f"task {number}" for number in range(1000)]
    codes = task_codes(names).of(names)
    assert codes.shape == (1000, 64)
    np.testing.assert_allclose(np.linalg.norm(codes, axis=1), 2.0, rtol=1e-5)
    cosine = codes @ codes.T / 4
    np.fill_diagonal(cosine, 0)
    assert cosine.max() < 0.9


def test_texts_that_read_alike_have_codes_that_are_alike() -> None:
    vectors = {"a": [1.0, 0.0, 0.0], "b": [0.95, 0.1, 0.0], "c": [0.0, 0.0, 1.0]}
    codes = task_codes(list(vectors), vectors).of(list(vectors))
    near, far = np.linalg.norm(codes[0] - codes[1]), np.linalg.norm(codes[0] - codes[2])
    assert near < 0.2 * far


# ---- unseen ------------------------------------------------------------------------------------


def test_unseen_episodes_are_judged_by_the_networks_that_never_saw_them() -> None:
    rollouts = opposite_tasks().where(task="up")
    fitted = fit(rollouts, "lambda-returns", seeds=2, num_steps=6, **TINY)
    unseen = fitted.predict(rollouts, unseen=True)
    chances = fitted.chance_table(rollouts, unseen=True)
    for seed in (0, 1):
        runs = fitted.answers["lambda-returns", seed, "up", ""]
        assert len(runs) == 5
        for position in range(len(rollouts)):
            (judge,) = [run for run in runs if position not in run.episodes]
            answers = {("lambda-returns", 0, "up", ""): (judge,)}
            alone = type(fitted)(fitted.numbers, fitted.fitted_methods, answers, fitted.nets)
            one = rollouts.select([position])
            frames = slice(
                int(rollouts.episode_ends[position]) - 10, rollouts.episode_ends[position]
            )
            np.testing.assert_allclose(
                unseen.raw_value[0, seed, frames], alone.predict(one).raw_value[0, 0], atol=1e-6
            )
            member = runs.index(judge)
            at_end = chances.at_end[0, seed, :, position]
            assert np.isfinite(at_end[member]).all()
            assert np.isnan(np.delete(at_end, member, axis=0)).all()
    assert (unseen.raw_value != fitted.predict(rollouts).raw_value).any()


def test_a_method_without_folds_cannot_judge_what_it_learned_from() -> None:
    rollouts = opposite_tasks().where(task="up")
    fitted = fit(rollouts, "mc", seeds=1, num_steps=4, **TINY)
    with pytest.raises(goalward.GoalwardError, match="trains on folds"):
        fitted.predict(rollouts, unseen=True)

"""A plan before work: counts, warnings, and what cannot fit."""

import dataclasses

import numpy as np
import pytest

import goalward
from goalward.rollouts.episode import Outcome
from goalward.runs.evaluate import config_of
from goalward.runs.making import plan as plans
from goalward.runs.making.notices import notices_of
from goalward.runs.making.plan import plan

pytestmark = pytest.mark.usefixtures("one_thread")
SMALL = {"width": 8, "num_layers": 2, "num_steps": 6, "batch_size": 16, "device": "cpu"}


def rollouts(num_tasks=1, per_task=4, lengths=(12,), success=(True, False)):
    draws = np.random.default_rng(0)
    count = num_tasks * per_task
    return goalward.from_arrays(
        [draws.normal(size=(lengths[i % len(lengths)], 3)) for i in range(count)],
        success=[success[i % len(success)] for i in range(count)],
        tasks=[f"task {i // per_task}" for i in range(count)],
    )


def test_networks_are_counted_as_they_are_trained(tmp_path) -> None:
    data = rollouts(per_task=10)
    for options in (
        {},
        {"effort": "quick"},
        {"methods": ("liveness", "mc"), "seeds": 3},
        {"methods": ("lambda-returns", "liveness"), "folds": 2, "seeds": 1},
    ):
        planned = plan(data, **options, **SMALL)
        run = goalward.evaluate(
            data, tmp_path / str(len(options)), report=False, progress=False, **options, **SMALL
        )
        trained = goalward.load(run.folder.networks)
        assert planned.num_networks == sum(len(nets.runs) for nets in trained.nets)
        assert planned.num_groups == len(trained.nets)
        assert planned.seeds == len(trained.seeds)


@pytest.mark.parametrize("numbers", [{"width": 10**10}, {"batch_size": 10**12}])
def test_networks_that_no_memory_holds_are_named(numbers) -> None:
    with pytest.raises(goalward.GoalwardError, match=r"networks of width \d+ .* fit into memory"):
        plan(rollouts(), **SMALL | numbers)


def test_one_value_function_serves_all_tasks_so_networks_do_not_grow_with_them() -> None:
    few, many = (plan(rollouts(num_tasks=n), **SMALL) for n in (2, 60))
    assert few.num_networks == many.num_networks == 60
    apart = plan(rollouts(num_tasks=60), methods="mc", seeds=1, per_task=True, **SMALL)
    assert apart.num_networks == 60


def test_what_does_not_fit_is_refused_with_the_remedy(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(plans, "free_bytes", lambda: 1 << 20)
    planned = plan(rollouts(), **SMALL)
    assert not planned.fits
    with pytest.raises(goalward.GoalwardError, match=r"of memory, and 1 MB are free.*effort"):
        goalward.evaluate(rollouts(), tmp_path / "run", progress=False, **SMALL)
    assert not (tmp_path / "run" / "networks").exists()
    apart = dataclasses.replace(planned, num_networks=2300, tasks={"a": 1, "b": 1})
    with pytest.raises(goalward.GoalwardError, match=r"2,300 networks are too many.*per_task"):
        apart.check()


def test_more_networks_and_frames_take_more_memory() -> None:
    small, wide = (
        plan(rollouts(), **{**SMALL, "width": width, "num_layers": 4}) for width in (8, 512)
    )
    longer = plan(rollouts(lengths=(4000,)), **SMALL)
    assert wide.num_bytes > small.num_bytes + 60 * 4 * 512 * 512
    assert longer.num_bytes > small.num_bytes


def test_everything_that_can_be_known_is_warned_of_before_any_work() -> None:
    config = config_of(policy="p")

    def told(data):
        return "\n".join(notices_of(data, config))

    assert told(rollouts(per_task=10)) == ""
    assert "every episode succeeded" in told(rollouts(per_task=10, success=(True,)))
    assert "no episode succeeded" in told(rollouts(per_task=10, success=(False,)))
    assert "4 episodes are few" in told(rollouts())
    one_each = told(rollouts(num_tasks=12, per_task=1))
    assert "12 tasks of 12 have one episode (task 0, task 1, task 2 and 9 more)" in one_each
    one_sided = told(rollouts(num_tasks=4, per_task=2, success=(True, True, False, False)))
    assert "4 tasks of 4 have one outcome only" in one_sided
    mixed = told(rollouts(per_task=10, lengths=(12, 42, 12, 162)))
    assert "clocks ran out after 41 to 161 steps" in mixed
    assert told(rollouts(per_task=10, lengths=(12, 42, 12, 1))) == ""
    two = rollouts(num_tasks=2, per_task=10, lengths=(12, 42, 12, 162))
    assert "steps in 2 tasks (task 0, task 1): each episode" in told(two)
    # Tasks with clocks of their own, one for all of its time-outs, are no warning.
    by_task = rollouts(num_tasks=2, per_task=10, lengths=(12, 42) * 5 + (12, 162) * 5)
    assert "clocks" not in told(by_task)
    same = goalward.from_arrays([np.ones((5, 2))] * 10, success=[True, False] * 5)
    assert "10 episodes have the same frames as another" in told(same)


def test_the_plan_in_words() -> None:
    lines = plan(rollouts(per_task=10, lengths=(12, 42)), **SMALL).lines()
    assert lines[0] == "10 episodes: 5 successes, 5 time-outs, 0 failures; 270 frames"
    assert lines[1] == "clocks that ran out: 41 steps"
    assert lines[2].startswith("training: 60 networks of lambda-returns, 2 seeds, effort normal")
    assert lines[3].startswith("memory: about ")


def test_a_task_text_of_any_length_is_shortened() -> None:
    data = rollouts(num_tasks=3, per_task=1)
    long = [dataclasses.replace(e, task=f"{i}" * 10_000) for i, e in enumerate(data)]
    told = notices_of(goalward.Rollouts(long, features=data.features), config_of(policy="p"))
    assert max(map(len, told)) < 300


def test_seconds_are_measured_not_constant(monkeypatch) -> None:
    from goalward.training import outlook

    real = outlook.batch_trainer

    def slow(problem, state, each):
        advance = real(problem, state, each)

        def slower():
            outlook.time.sleep(0.02)
            advance()

        return slower

    monkeypatch.setattr(outlook, "batch_trainer", slow)
    assert plan(rollouts(per_task=10), **SMALL).training_s > 60 * 6 * 0.02


def test_frames_that_are_judged_on_the_way_are_planned_too(monkeypatch) -> None:
    """Of ten episodes of 3,000 frames 2 are held out, and looked at 12 times and once more."""
    from goalward.training import outlook

    monkeypatch.setattr(outlook._Sample, "try_steps", lambda *_: (1.0, 10))
    monkeypatch.setattr(outlook.torch, "get_num_threads", lambda: 1)
    numbers = SMALL | {"batch_size": 1000}
    planned = plan(rollouts(per_task=10, lengths=(3000,)), **numbers, seeds=1)
    assert planned.num_networks == 30
    assert planned.training_s == pytest.approx(30 * (6 + 0.2 * 30_000 * 13 / 1000 / 3))


def test_outcomes_of_the_plan() -> None:
    assert plan(rollouts(per_task=10), **SMALL).outcomes == {
        Outcome.SUCCESS: 5,
        Outcome.TIME_OUT: 5,
    }

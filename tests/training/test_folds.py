"""Methods that learn through predictions: who may judge whom, how folds answer, few episodes."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

import goalward
from goalward.training.fit import train
from goalward.training.frames.lens import Sight
from goalward.training.frames.training_frames import training_frames
from goalward.training.methods.outputs import SOFT_HAZARD
from goalward.training.methods.presets import hyperparameters
from goalward.training.methods.stages import Stage
from goalward.training.methods.table import METHODS, Method
from goalward.training.networks.anchors import anchor_values
from goalward.training.networks.nets import frame_chances, frame_values, nets_of, rows_seen_by
from goalward.training.progress import Pace
from goalward.training.runs import plan_runs
from goalward.values.fit import fit
from goalward.values.fitted import load

CPU = torch.device("cpu")
LAMBDA = METHODS["lambda-returns"]
FEW = {"width": 8, "num_layers": 3, "batch_size": 16, "num_steps": 12, "learning_rate": 1e-2}


def numbers_with(**given):
    return hyperparameters(**FEW | given).for_horizon(10)


def planned(frames, method=LAMBDA, seed=0, episodes=range(8), **given):
    numbers = numbers_with(**given)
    return plan_runs(frames, method, seed, episodes, numbers), numbers


# ---- which networks there are -----------------------------------------------------------------


def test_every_stage_builds_on_all_folds_of_the_one_before(frames):
    runs, _ = planned(frames, rounds=3, cross_fit=4)
    for stage in ("lambda-3", "lambda-2", "lambda-1"):
        assert [run.stage.name for run in runs] == [stage] * 4
        assert [run.fold for run in runs] == [0, 1, 2, 3]
        for run in runs:
            assert sorted(run.episodes + run.held_out) == list(range(8))
        unseen = [e for run in runs for e in range(8) if e not in run.episodes]
        assert sorted(unseen) == list(range(8))
        assert len({run.anchors for run in runs}) == 1
        runs = runs[0].anchors
    assert [run.stage.name for run in runs] == ["dark"] * 4 + ["bright"] * 4
    assert [run.fold for run in runs] == [0, 1, 2, 3] * 2
    assert all(run.anchors == () for run in runs)


def test_without_rounds_both_starts_answer(frames):
    runs, _ = planned(frames, rounds=0, cross_fit=4)
    assert [run.stage.name for run in runs] == ["dark"] * 4 + ["bright"] * 4


def test_survival_with_rounds_ends_in_one_network(frames):
    given = {"survival.rounds": 2, "survival.cross_fit": 3}
    (run,), _ = planned(frames, METHODS["survival"], **given)
    assert run.stage.name == "survival-round-2"
    assert [anchor.stage.name for anchor in run.anchors] == ["survival-round-1"] * 3
    assert [anchor.stage.name for anchor in run.anchors[0].anchors] == ["survival"] * 3
    (plain,), _ = planned(frames, METHODS["survival"])
    assert (plain.stage.name, plain.anchors) == ("survival", ())


@pytest.mark.parametrize(("num_episodes", "num_runs"), [(1, 1), (2, 2), (3, 3), (5, 5), (8, 5)])
def test_there_are_no_more_folds_than_episodes(frames, num_episodes, num_runs):
    runs, _ = planned(frames, episodes=range(num_episodes))
    assert len(runs) == num_runs
    assert all(run.episodes for run in runs)


def test_a_stage_may_not_be_called_as_a_round_is(rollouts, small):
    stage = Stage("lambda-2", LAMBDA.stages[0].table, output=SOFT_HAZARD)
    with pytest.raises(goalward.GoalwardError, match="^two stages are called 'lambda-2'"):
        fit(rollouts, Method("mine", (stage,)), seeds=1, **small)


# ---- who judges whom --------------------------------------------------------------------------


def read_by(frames, runs, numbers):
    """What the last stage of runs learns through: (frames, bins)."""
    anchors = runs[0].anchors
    trained = train(frames, anchors, numbers, device="cpu")
    sight = Sight(frames, numbers, CPU)
    return anchor_values(frames, sight, runs, trained, numbers)[anchors]


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("lambda-returns", {"rounds": 1, "cross_fit": 2}),
        ("lambda-returns", {"rounds": 1, "cross_fit": 5}),
        ("survival", {"survival.rounds": 1, "survival.cross_fit": 2, "held_out_fraction": 0.0}),
    ],
)
@pytest.mark.parametrize("episode", [0, 1])
def test_nobody_who_learned_the_end_of_an_episode_is_asked_about_it(frames, method, given, episode):
    """An episode with another ending is predicted alike. The networks of a fold may stop by it:
    scored once, at the end, they are the same whatever the score."""
    runs, numbers = planned(frames, METHODS[method], evaluations=1, **given)
    before = read_by(frames, runs, numbers)
    goals = frames.endings.goal_frames.copy()
    goals[episode] = -1 if goals[episode] >= 0 else 3
    changed = replace(frames, endings=replace(frames.endings, goal_frames=goals))
    after = read_by(changed, runs, numbers)
    own = frames.frames_of((episode,))
    assert before.shape == (frames.num_frames, before.shape[1])
    assert np.array_equal(before[own], after[own])
    assert not np.array_equal(before[~own], after[~own])


def test_episodes_of_no_fold_are_judged_by_all(frames):
    """As the mean of their distributions: each of them would say something else."""
    runs, numbers = planned(frames, episodes=range(6), rounds=1, cross_fit=3)
    anchors = runs[0].anchors
    trained = train(frames, anchors, numbers, device="cpu")
    sight = Sight(frames, numbers, CPU)
    read = anchor_values(frames, sight, runs, trained, numbers)[anchors]
    others = frames.frames_of((6, 7))
    edges_end = numbers.of("lambda-returns").survival_max_steps - 1
    nets = nets_of(anchors[0], trained).select(anchors)
    rows = rows_seen_by(nets, frames, CPU)
    nothing = np.zeros((6, frames.num_frames), dtype=np.float32)
    said = frame_chances(nets, rows, numbers, nothing, lambda value: value, edges_end)
    np.testing.assert_allclose(read[others, -1], said.mean(axis=0)[others], atol=1e-6)
    for episode in range(6):
        strangers = [i for i, run in enumerate(anchors) if episode not in run.episodes]
        assert [anchors[i].stage.name for i in strangers] == ["dark", "bright"]
        own = frames.frames_of((episode,))
        expected = said[strangers].mean(axis=0)[own]
        np.testing.assert_allclose(read[own, -1], expected, atol=1e-6)


# ---- the answer -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted(rollouts, small):
    own = {"lambda-returns.rounds": 3, "lambda-returns.dropout": 0.1}
    return fit(rollouts, ("lambda-returns", "survival"), seeds=(3, 5), **small, **own)


def test_the_answer_is_the_mean_over_folds(fitted, rollouts):
    frames = training_frames(rollouts)
    value, chance = fitted.predict(rollouts).raw_value[0], fitted.chances(rollouts, 4)[0]
    for row, seed in enumerate((3, 5)):
        members = fitted.answers["lambda-returns", seed, "", ""]
        assert [run.seed for run in members] == [seed] * 5
        nets = nets_of(members[0], fitted.nets).select(members)
        rows = rows_seen_by(nets, frames, CPU)
        said = frame_values(nets, rows, fitted.numbers)
        assert np.ptp(said, axis=0).max() > 1e-3
        np.testing.assert_allclose(value[row], said.mean(axis=0), atol=1e-6)
        chances = frame_chances(nets, rows, fitted.numbers, said, lambda value: value, 4)
        np.testing.assert_allclose(chance[row], chances.mean(axis=0), atol=1e-6)


def test_steps_follow_from_the_discount_of_the_method(rollouts, small):
    """Of its own, where it was given one."""
    given = {"lambda-returns.discount": 0.8, "discount": 0.95, "rounds": 1}
    table = fit(rollouts, ("lambda-returns", "mc"), seeds=1, **small, **given).predict(rollouts)
    expected = np.log((1 - table.raw_value[0]) / 2) / np.log(0.8)
    np.testing.assert_allclose(table.steps_to_goal[0], expected, rtol=1e-3, atol=1e-4)


# ---- the same numbers -------------------------------------------------------------------------


def test_a_fold_among_many_is_the_same_as_among_its_own(frames):
    """Bit for bit: other seeds and methods in the same training change nothing."""
    given = {"rounds": 2, "cross_fit": 3, "dropout": 0.2, "input_noise": 0.1, "max_inputs": 2}
    own, numbers = planned(frames, **given)
    company = [run for seed in (1, 2) for run in planned(frames, seed=seed, **given)[0]]
    survival = planned(frames, METHODS["survival"], **given)[0]
    alone = train(frames, own, numbers, device="cpu")
    together = train(frames, [*company, *survival, *own], numbers, device="cpu")
    for run in (*own, *own[0].anchors, *own[0].anchors[0].anchors):
        first, second = (nets_of(run, trained).select([run]) for trained in (alone, together))
        for name, tensor in first.weights.items():
            assert torch.equal(tensor, second.weights[name]), (run.stage.name, name)


def test_goes_on_in_its_third_round_bit_for_bit(fitted, rollouts, small, tmp_path):
    own = {"lambda-returns.rounds": 3, "lambda-returns.dropout": 0.1}
    options = {"seeds": (3, 5), "checkpoint": tmp_path, **small, **own}
    told = []

    def stop(now):
        told.append(now)
        if now.stages == ("lambda-3",) and told[-2].stages == now.stages:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pace = Pace(report_s=0.0)
        fit(rollouts, ("lambda-returns", "survival"), on_progress=stop, pace=pace, **options)
    assert (tmp_path / "progress.safetensors").exists()
    told.clear()
    again = fit(rollouts, ("lambda-returns", "survival"), on_progress=told.append, **options)
    assert {now.stages for now in told} == {("lambda-3",)}
    assert told[-1].steps == told[-1].total_steps
    for nets, other in zip(fitted.nets, again.nets, strict=True):
        assert nets.runs == other.runs
        for name, tensor in nets.weights.items():
            assert torch.equal(tensor, other.weights[name])
    assert again.log == fitted.log


def test_saves_and_loads_every_fold(fitted, rollouts, tmp_path):
    fitted.save(tmp_path)
    again = load(tmp_path)
    assert dict(again.answers) == dict(fitted.answers)
    assert again.numbers == fitted.numbers
    for question in (fitted.predict, again.predict):
        assert np.array_equal(question(rollouts).raw_value, fitted.predict(rollouts).raw_value)
    assert np.array_equal(again.chances(rollouts, 3), fitted.chances(rollouts, 3))


def test_seeds_differ_and_come_again(fitted, rollouts, small):
    own = {"lambda-returns.rounds": 3, "lambda-returns.dropout": 0.1}
    value = fitted.predict(rollouts).raw_value[0]
    assert np.abs(value[0] - value[1]).max() > 1e-3
    again = fit(rollouts, "lambda-returns", seeds=[5], **small, **own)
    np.testing.assert_allclose(again.predict(rollouts).raw_value[0, 0], value[1], atol=1e-6)


def test_proprioception_is_part_of_what_a_training_is_made_from(frames, tmp_path):
    runs, numbers = planned(frames, rounds=0, max_inputs=2)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(2):
        numbers_of_robot = rng.normal(size=(frames.num_frames, 1)).astype(np.float32)
        other = replace(frames, proprioception=numbers_of_robot)
        found.append(train(other, runs, numbers, device="cpu", checkpoint_folder=tmp_path)[0])
    assert found[0].fingerprint != found[1].fingerprint
    assert not torch.equal(found[0].mean, found[1].mean)


# ---- few episodes, of few kinds ---------------------------------------------------------------

QUICK = {
    "width": 8,
    "num_layers": 2,
    "batch_size": 32,
    "num_steps": 60,
    "learning_rate": 2e-2,
    "device": "cpu",
    "seeds": 1,
    "rounds": 2,
}
# Lengths, outcomes, and whether success is certain (1), out of the question (0), or neither.
# Time-outs alone say that it is not near, not that it never comes: the two starts differ, and 0.25
# is between.
FEW_EPISODES = {
    "one success": ([6], ["success"], 1),
    "one time-out": ([6], ["time_out"], 0.25),
    "one failure": ([6], ["failure"], 0),
    "one frame": ([1], ["success"], 1),
    "two successes": ([6, 4], ["success"] * 2, 1),
    "two of two kinds": ([6, 4], ["success", "failure"], None),
    "three": ([6, 4, 5], ["success", "time_out", "failure"], None),
    "successes": ([5, 6, 7, 8, 9, 10], ["success"] * 6, 1),
    "time-outs": ([5, 6, 7, 8, 9, 10], ["time_out"] * 6, 0.25),
    "failures": ([5, 6, 7, 8, 9, 10], ["failure"] * 6, 0),
    "of one length": ([6] * 6, ["success", "time_out", "failure"] * 2, None),
    "of one frame": ([1] * 6, ["success", "failure"] * 3, None),
    "one of one frame": ([1, 6, 7, 5, 6, 7], ["time_out", "success"] * 3, None),
}


@pytest.mark.parametrize("method", ["lambda-returns", "survival"])
@pytest.mark.parametrize(("lengths", "outcomes", "sure"), FEW_EPISODES.values(), ids=FEW_EPISODES)
@pytest.mark.filterwarnings("ignore:every episode")
def test_few_episodes_of_few_kinds(method, lengths, outcomes, sure):
    rng = np.random.default_rng(0)
    features = [rng.normal(size=(length, 3)) for length in lengths]
    rollouts = goalward.from_arrays(features, outcomes=outcomes)
    fitted = fit(rollouts, method, held_out_fraction=0.0, **QUICK)
    table = fitted.predict(rollouts)
    assert ((table.raw_value >= -1) & (table.raw_value <= 1)).all()
    assert (table.steps_to_goal >= 0).all()
    chances = [fitted.chances(rollouts, n) for n in (0, 1, 2, 4, 8, 16, 1000)]
    for chance in chances:
        assert ((chance >= 0) & (chance <= 1)).all()
    for fewer, more in pairwise(chances):
        assert (more >= fewer).all()
    if sure is not None:
        assert np.abs(chances[-1] - sure).mean() < (0.3 if sure == 0.25 else 0.2)
    else:
        kinds = np.repeat([outcome == "success" for outcome in outcomes], lengths)
        last = chances[-1][0, 0]
        assert last[kinds].mean() > last[~kinds].mean()


@pytest.mark.parametrize(("starts", "names"), [("dark", ["dark"]), ("bright", ["bright"])])
def test_one_start_may_be_chosen(frames, starts, names):
    runs, _ = planned(frames, rounds=1, cross_fit=2, starts=starts)
    assert [run.stage.name for run in runs[0].anchors] == names * 2

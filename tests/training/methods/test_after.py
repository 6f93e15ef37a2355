"""Methods of one's own: another loss, a step after training, stored and read again."""

import logging
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
import torch

import goalward
from goalward.targets.monte_carlo import monte_carlo_return
from goalward.training.methods.outputs import VALUE
from goalward.training.methods.stages import MC, SPARSE
from goalward.training.methods.table import METHODS, Method, find_method, known_methods
from goalward.training.stored.tensor_file import read_tensors
from goalward.values.fit import fit
from goalward.values.fitted import load


def absolute_loss(outputs, target):
    difference = outputs[..., 0] - target
    return difference.abs(), difference.detach()


MC_ABSOLUTE = replace(
    MC,
    name="mc-absolute",
    output=replace(VALUE, name="absolute", loss=lambda numbers, device: absolute_loss),
)


@dataclass(frozen=True)
class Line:
    """Least squares from what the network said to the recorded return."""

    name: str = "line"

    def learn(self, judged, numbers):
        return [self.line(one, numbers) for one in judged]

    def line(self, one, numbers):
        ends, at_goal = one.frames.episode_ends, one.frames.endings.at_goal
        came_true = monte_carlo_return(ends, at_goal, numbers.mc_normaliser)[one.rows]
        slope, offset = np.polyfit(one.value, came_true, 1)
        return {"slope": torch.tensor(slope), "offset": torch.tensor(offset)}

    def apply(self, value, learned, numbers):
        slope, offset = (
            np.array([of_run[name] for of_run in learned])[:, None] for name in ("slope", "offset")
        )
        return slope * value + offset


PLAIN = Method("plain", (MC_ABSOLUTE,))
STRAIGHT = Method("straight", (MC_ABSOLUTE,), after=Line())
HALF = {"held_out_fraction": 0.5, "num_steps": 40, "learning_rate": 1e-2}


@pytest.fixture(scope="module")
def fitted(rollouts, small):
    return fit(rollouts, [PLAIN, STRAIGHT, "mc"], seeds=[1, 2], **small | HALF)


def values(fitted, rollouts, method):
    return fitted.predict(rollouts, device="cpu").raw_values(method)


def test_the_step_learns_from_held_out_episodes_and_moves_every_value(fitted, rollouts, frames):
    """The line by hand, from the values of the plain method on what each seed held out."""
    came_true = monte_carlo_return(
        frames.episode_ends, frames.endings.at_goal, fitted.numbers.mc_normaliser
    )
    plain, straight = (values(fitted, rollouts, name) for name in ("plain", "straight"))
    runs = [fitted.answers["straight", seed, "", ""][0] for seed in (1, 2)]
    assert runs[0].held_out != runs[1].held_out
    for row, run in enumerate(runs):
        held_out = frames.frames_of(run.held_out)
        assert 0 < held_out.sum() < frames.num_frames
        design = np.stack([plain[row], np.ones(frames.num_frames)], axis=1)
        line, *_ = np.linalg.lstsq(design[held_out], came_true[held_out], rcond=None)
        np.testing.assert_allclose(straight[row], np.clip(design @ line, -1, 0), atol=1e-4)
    assert not np.allclose(plain, straight, atol=1e-3)


def test_steps_and_chances_follow_the_value_after_the_step(fitted, rollouts):
    table = fitted.predict(rollouts)
    steps = -table.raw_values("straight") * fitted.numbers.mc_normaliser
    np.testing.assert_allclose(table.steps("straight"), steps, rtol=1e-5)
    chance = fitted.chances(rollouts, 9.0)[fitted.methods.index("straight")]
    assert np.array_equal(chance, table.steps("straight") <= 9)
    assert not np.array_equal(chance, table.steps("plain") <= 9)


def test_the_step_is_told_of(rollouts, small, caplog):
    caplog.set_level(logging.INFO, logger="goalward.training")
    fit(rollouts, STRAIGHT, seeds=1, **small | HALF)
    assert caplog.messages == [
        "training mc-absolute, 1 network",
        "line after training straight, 1 network",
    ]


def test_methods_that_share_a_stage_share_its_networks(fitted):
    assert fitted.methods == ("plain", "straight", "mc")
    assert fitted.answers["plain", 1, "", ""] == fitted.answers["straight", 1, "", ""]
    assert [[run.stage.name for run in nets.runs] for nets in fitted.nets] == [
        ["mc"] * 2,
        ["mc-absolute"] * 2,
    ]


def test_the_loss_is_the_methods_own(fitted, rollouts):
    assert not np.allclose(values(fitted, rollouts, "plain"), values(fitted, rollouts, "mc"))


def test_what_was_learned_is_in_the_file_of_networks_and_comes_back(fitted, rollouts, tmp_path):
    fitted.save(tmp_path)
    tensors, _ = read_tensors(tmp_path / "nets-1.safetensors")
    assert sorted(name for name in tensors if name.startswith("after/")) == [
        f"after/straight/{run}/{name}" for run in (0, 1) for name in ("offset", "slope")
    ]
    again = load(tmp_path, methods=[STRAIGHT, PLAIN])
    assert again.methods == fitted.methods
    for method in fitted.methods:
        first, second = (values(one, rollouts, method) for one in (fitted, again))
        assert np.array_equal(first, second)


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ([], "holds networks of the method 'plain', which is none of liveness,"),
        ([PLAIN], "holds networks of the method 'straight', .*give it: load.folder, methods="),
        (
            [PLAIN, Method("straight", (MC_ABSOLUTE,))],
            r"other steps after training \(straight: line\) than its methods have now \(none\)",
        ),
        (
            [PLAIN, replace(STRAIGHT, after=Line("curve"))],
            r"\(straight: line\) than its methods have now \(straight: curve\); fit it again",
        ),
        (
            [Method("plain", (MC,)), Method("straight", (MC,), after=Line())],
            "networks of stage 'mc-absolute' are stored here, but no method that is known has it",
        ),
    ],
)
def test_networks_of_a_method_that_is_not_known_as_it_was(fitted, tmp_path, methods, message):
    fitted.save(tmp_path)
    with pytest.raises(goalward.GoalwardError, match=message):
        load(tmp_path, methods=methods)


def test_networks_stored_without_the_step_a_method_has_now(rollouts, small, tmp_path):
    fit(rollouts, Method("straight", (MC_ABSOLUTE,)), seeds=1, **small).save(tmp_path)
    with pytest.raises(goalward.GoalwardError, match=r"\(none\) than .* \(straight: line\)"):
        load(tmp_path, methods=[STRAIGHT])


def test_one_name_cannot_stand_for_two(rollouts, small):
    with pytest.raises(goalward.GoalwardError, match="two methods are called 'mc'"):
        fit(rollouts, Method("mc", (SPARSE,)), seeds=1, **small)
    with pytest.raises(goalward.GoalwardError, match="two stages are called 'mc'"):
        fit(rollouts, Method("mine", (replace(MC, lowest=-2.0),)), seeds=1, **small)
    with pytest.raises(ValueError, match="method 'empty' has no stages"):
        Method("empty", ())
    with pytest.raises(goalward.GoalwardError, match="no method 'lively'; methods: liveness, "):
        find_method("lively")
    assert known_methods([METHODS["mc"]]) == METHODS


def test_a_resumed_training_has_its_step_once_more(rollouts, small, tmp_path):
    """Networks of a finished training are read; what comes after them is learned from them."""
    options = small | HALF
    whole = fit(rollouts, STRAIGHT, seeds=2, **options)
    fit(rollouts, PLAIN, seeds=2, checkpoint=tmp_path, **options)
    resumed = fit(rollouts, STRAIGHT, seeds=2, checkpoint=tmp_path, **options)
    first, second = (values(one, rollouts, "straight") for one in (whole, resumed))
    assert np.array_equal(first, second)


@dataclass(frozen=True)
class Noting:
    """Remembers what it was given; brings the seeds together in their mean."""

    name: str = "noting"
    seen: list = field(default_factory=list)

    def learn(self, judged, numbers):
        self.seen.append((judged, numbers))
        return [{} for _ in judged]

    def apply(self, value, learned, numbers):
        assert len(learned) == len(value)
        return np.broadcast_to(value.mean(axis=0), value.shape)


def test_a_step_sees_all_seeds_of_a_task_and_subset_at_once(small):
    rng = np.random.default_rng(1)
    features = [rng.normal(size=(6, 2)) for _ in range(8)]
    tasks = ["a", "a", "b", "b"] * 2
    both = goalward.from_arrays(features, success=[True, False] * 4, tasks=tasks)
    step = Noting()
    together = Method("together", (MC,), after=step)
    options = small | {"held_out_fraction": 0.0, "per_task": True}
    fitted = fit(both, ["mc", together], seeds=3, subsets={"early": range(4)}, **options)
    assert [len(judged) for judged, _ in step.seen] == [3, 3]
    assert step.seen[0][1] == fitted.numbers.of("")
    for (judged, _), rows in zip(step.seen, (range(12), range(12, 24)), strict=True):
        for one in judged:
            # Nothing was held out: the frames it was trained on.
            assert not one.unseen
            assert one.rows.tolist() == list(rows)
    table = fitted.predict(both)
    alone = table.raw_values("mc")
    np.testing.assert_allclose(table.raw_values("together"), [alone.mean(axis=0)] * 3, rtol=1e-6)
    for (judged, _), task in zip(step.seen, ("a", "b"), strict=True):
        of_task = np.repeat([t == task for t in tasks], 6) & (np.arange(48) < 24)
        said = np.stack([one.value for one in judged])
        np.testing.assert_allclose(said, alone[:, of_task], atol=1e-6)


def test_a_step_cannot_leave_the_range_of_its_stage(rollouts, small):
    @dataclass(frozen=True)
    class Far(Noting):
        def apply(self, value, learned, numbers):
            return np.where(np.arange(value.shape[1]) % 2 == 0, 7.0, -7.0) + 0 * value

    far = Method("far", (MC,), after=Far())
    value = values(fit(rollouts, far, seeds=1, **small), rollouts, "far")
    assert set(value[0, ::2]) == {0.0}
    assert set(value[0, 1::2]) == {-1.0}
    assert value.dtype == np.float32


def test_a_step_that_remembers_nothing_is_applied_after_loading_too(rollouts, small, tmp_path):
    together = Method("together", (MC,), after=Noting())
    fitted = fit(rollouts, together, seeds=2, **small)
    fitted.save(tmp_path)
    first, second = (
        values(one, rollouts, "together") for one in (fitted, load(tmp_path, methods=[together]))
    )
    assert np.array_equal(first[0], first[1])
    assert np.array_equal(first, second)

"""What networks see: main directions, proprioception as it is, and how a frame came about."""

from dataclasses import replace

import numpy as np
import pytest

import goalward
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.training.frames.lens import Lens, lens_of, principal_directions
from goalward.training.frames.training_frames import training_frames
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.values.fit import fit
from goalward.values.fitted import load

LENGTHS = (9, 1, 6, 12)
OUTCOMES = (Outcome.SUCCESS, Outcome.TIME_OUT, Outcome.FAILURE, Outcome.SUCCESS)
NUM_FRAMES = sum(LENGTHS)
OPTIONS = {"lags": (1, 4), "max_inputs": 3, "rounds": 1, "cross_fit": 2}


def made(outcomes=OUTCOMES, *, size=8, rank=8, proprioception=2, chosen=range(4)):
    """Episodes with features and proprioception; `chosen` of four."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(NUM_FRAMES, rank)) @ rng.normal(size=(rank, size))
    numbers = rng.normal(size=(NUM_FRAMES, proprioception)).astype(np.float32)
    starts = np.cumsum((0, *LENGTHS))
    episodes = [
        Episode(
            str(i),
            LENGTHS[i],
            outcomes[i],
            goal_frame=LENGTHS[i] - 1 if outcomes[i] is Outcome.SUCCESS else None,
            proprioception=numbers[starts[i] : starts[i + 1]],
        )
        for i in chosen
    ]
    rows = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in chosen])
    return Rollouts(episodes, features=features.astype(np.float32)[rows])


@pytest.fixture(scope="module")
def frames():
    return training_frames(made())


def test_lags_are_differences_to_frames_of_the_same_episode(frames):
    """Before it began, all was as in its first frame; by a loop over frames."""
    found = Lens((1, 4)).inputs(frames)
    assert found.shape == (NUM_FRAMES, 24)
    first = 0
    for length in LENGTHS:
        for frame in range(length):
            here = frames.features[first + frame]
            parts = [here] + [here - frames.features[first + max(frame - b, 0)] for b in (1, 4)]
            np.testing.assert_array_equal(found[first + frame], np.concatenate(parts))
        first += length


def test_no_lens_where_nothing_is_asked_for(frames):
    assert lens_of(frames, Hyperparameters()) is None
    assert lens_of(frames, Hyperparameters(max_inputs=8)) is None
    assert lens_of(frames, Hyperparameters(max_inputs=8, lags=2)).components is None
    assert lens_of(frames, Hyperparameters(max_inputs=7)).components.shape == (8, 7)


def test_directions_are_those_of_the_largest_spread():
    """Against the singular value decomposition of what was standardised, in either shape."""
    rng = np.random.default_rng(1)
    for num_frames, size in ((200, 12), (10, 40)):
        features = rng.normal(size=(num_frames, size)) * rng.uniform(0.1, 9, size) + 5
        mean, components = principal_directions(features, 4)
        standard = (features - features.mean(axis=0)) / features.std(axis=0)
        left, spread, _ = np.linalg.svd(standard, full_matrices=False)
        projected = (features - mean) @ components
        np.testing.assert_allclose(np.abs(projected), np.abs((left * spread)[:, :4]), atol=1e-4)
        # The sign is fixed by the largest number of a direction.
        directions = components * features.std(axis=0)[:, None]
        assert (directions[np.abs(directions).argmax(axis=0), np.arange(4)] > 0).all()


def test_directions_do_not_depend_on_outcomes(frames):
    numbers = Hyperparameters(max_inputs=3, lags=2)
    other = training_frames(made((Outcome.TIME_OUT, *OUTCOMES[:3])))
    first, second = lens_of(frames, numbers), lens_of(other, numbers)
    assert np.array_equal(first.components, second.components)
    assert np.array_equal(first.inputs(frames), second.inputs(other))


def test_proprioception_is_kept_as_it_is(frames):
    lens = lens_of(frames, Hyperparameters(max_inputs=3, lags=(2,)))
    found = lens.inputs(frames)
    assert found.shape == (NUM_FRAMES, 2 * (3 + 2))
    assert np.array_equal(found[:, 3:5], frames.proprioception)
    # Of features that are seen as they are, it is a part already or is not wanted.
    assert Lens((2,)).inputs(frames).shape == (NUM_FRAMES, 16)


def test_directions_without_spread_are_left_out():
    """Rounding errors, standardised, would be as loud as what is to be seen."""
    few = training_frames(made(rank=2, proprioception=0))
    lens = lens_of(few, Hyperparameters(max_inputs=7))
    assert lens.components.shape == (8, 2)
    wide = training_frames(made(size=80, rank=2, proprioception=0))
    assert lens_of(wide, Hyperparameters(max_inputs=7)).components.shape == (80, 2)
    still = replace(few, features=np.full((NUM_FRAMES, 8), 7.0, dtype=np.float32))
    assert (lens_of(still, Hyperparameters(max_inputs=3)).inputs(still) == 0).all()


def test_features_that_never_change_have_no_direction():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(30, 5))
    features[:, 2] = 1e3
    mean, components = principal_directions(features, 3)
    assert (components[2] == 0).all()
    assert mean[2] == 1e3


@pytest.fixture(scope="module")
def fitted(small):
    return fit(made(), ("lambda-returns", "mc"), seeds=2, **small, **OPTIONS)


def test_an_episode_alone_is_judged_as_among_others(fitted):
    together = fitted.predict(made()).raw_value
    ends = np.cumsum(LENGTHS)
    for episode, (end, length) in enumerate(zip(ends, LENGTHS, strict=True)):
        alone = fitted.predict(made(chosen=[episode])).raw_value
        np.testing.assert_allclose(together[..., end - length : end], alone, atol=1e-6)
    # In another order, too.
    turned = fitted.predict(made(chosen=[3, 0])).raw_value
    np.testing.assert_allclose(turned[..., :12], together[..., -12:], atol=1e-6)
    np.testing.assert_allclose(turned[..., 12:], together[..., :9], atol=1e-6)


def test_frames_of_one_task_are_seen_apart_from_those_of_another(small):
    """By turns: the frame before the first of an episode is of another task and episode."""
    rng = np.random.default_rng(2)
    lengths = [5, 3, 2, 6, 4, 5]
    features = [rng.normal(size=(length, 3)) for length in lengths]
    both = goalward.from_arrays(features, success=[True, True, False] * 2, tasks=["a", "b"] * 3)
    fitted = fit(both, "lambda-returns", seeds=1, **small, **OPTIONS | {"max_inputs": 0})
    together = fitted.predict(both).raw_value[0, 0]
    of_a = np.repeat([True, False] * 3, lengths)
    for task, own in (("a", together[of_a]), ("b", together[~of_a])):
        alone = fitted.predict(both.where(task=task)).raw_value[0, 0]
        np.testing.assert_allclose(own, alone, atol=1e-6)


def test_the_lens_survives_the_disk(fitted, tmp_path):
    fitted.save(tmp_path)
    again = load(tmp_path)
    for before, after in zip(fitted.nets, again.nets, strict=True):
        assert before.lens.lags == after.lens.lags == (1, 4)
        assert np.array_equal(before.lens.mean, after.lens.mean)
        assert np.array_equal(before.lens.components, after.lens.components)
    assert np.array_equal(fitted.predict(made()).raw_value, again.predict(made()).raw_value)


def test_a_lens_of_lags_alone_survives_the_disk(small, tmp_path):
    fitted = fit(made(), ("mc", "survival"), seeds=1, **small, **{"survival.lags": 2})
    fitted.save(tmp_path)
    lenses = {nets.runs[0].stage.name: nets.lens for nets in load(tmp_path).nets}
    assert lenses["mc"] is None
    assert lenses["survival"].lags == (2,)
    assert lenses["survival"].components is None


@pytest.mark.parametrize("max_inputs", [0, 3])
def test_other_features_are_refused_in_their_own_numbers(small, max_inputs):
    fitted = fit(made(), "lambda-returns", seeds=1, **small, **OPTIONS | {"max_inputs": max_inputs})
    with pytest.raises(
        goalward.GoalwardError,
        match="^the networks were trained on 8 features per frame, these .* 5$",
    ):
        fitted.predict(made(size=5))


def test_other_proprioception_is_refused(fitted):
    with pytest.raises(
        goalward.GoalwardError, match="^the networks were trained with 2 numbers of propriocep.* 1$"
    ):
        fitted.predict(made(proprioception=1))

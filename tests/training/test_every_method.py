"""One battery that every method passes, whatever it learns."""

import numpy as np
import pytest

import goalward
from goalward.training.methods.table import METHODS
from goalward.training.progress import Pace
from goalward.values.fit import fit
from goalward.values.fitted import load

pytestmark = pytest.mark.parametrize("method", METHODS)
OPTIONS = {
    "default": {},
    "plain": {"time_out": "terminal", "held_out_fraction": 0.0},
    "open": {"time_out": "open"},
    "cross-fit": {"cross_fit": 2},
    "success anchors": {"anchor_frames": "success"},
    "lagged": {"lagged_tau": 0.5, "lagged_period": 2},
    "held out": {"held_out_fraction": 0.34},
    "small buffer": {"capacity": 20},
    "one step per batch": {"gradient_steps_per_batch": 1},
}


def values(fitted, rollouts):
    return fitted.predict(rollouts, device="cpu").raw_value


@pytest.mark.parametrize("option", OPTIONS)
def test_fits_with_every_option(method, option, rollouts, small):
    fitted = fit(rollouts, method, seeds=2, **small, **OPTIONS[option])
    table = fitted.predict(rollouts)
    assert table.raw_value.shape == (1, 2, rollouts.num_frames)
    assert np.isfinite(table.raw_value).all()
    assert (table.steps_to_goal >= 0).all()
    assert not np.array_equal(table.raw_value[0, 0], table.raw_value[0, 1])


def test_training_changes_the_value(method, rollouts, small):
    short = fit(rollouts, method, seeds=1, **small | {"num_steps": 2})
    longer = fit(rollouts, method, seeds=1, **small | {"num_steps": 60})
    assert np.abs(values(short, rollouts) - values(longer, rollouts)).max() > 1e-4


def test_saves_and_loads(method, rollouts, small, tmp_path):
    fitted = fit(rollouts, method, seeds=[3, 5], **small)
    fitted.save(tmp_path)
    again = load(tmp_path)
    assert again.numbers == fitted.numbers
    assert again.seeds == (3, 5)
    assert again.log == fitted.log
    assert np.array_equal(values(again, rollouts), values(fitted, rollouts))


def test_same_seed_same_result(method, rollouts, small):
    first, second = (values(fit(rollouts, method, seeds=2, **small), rollouts) for _ in range(2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize("option", ["plain", "held out", "lagged"])
def test_resumes_bit_for_bit(method, option, rollouts, small, tmp_path):
    """Stopped at every possible place and started again until it is through."""
    whole = fit(rollouts, method, seeds=2, **small, **OPTIONS[option])
    calls, limit = 0, 2

    def interrupt(progress):
        nonlocal calls
        calls += 1
        if calls == limit:
            raise KeyboardInterrupt

    fitted, stops = None, 0
    while fitted is None:
        calls = 0
        try:
            fitted = fit(
                rollouts,
                method,
                seeds=2,
                checkpoint=tmp_path,
                on_progress=interrupt,
                pace=Pace(report_s=0.0),
                **small,
                **OPTIONS[option],
            )
        except KeyboardInterrupt:
            stops += 1
            assert stops < 50
    assert stops >= 3
    assert np.array_equal(values(fitted, rollouts), values(whole, rollouts))
    assert fitted.log == whole.log


@pytest.mark.parametrize("outcome", ["success", "time_out", "failure"])
def test_one_class_only_fits_with_a_warning(method, outcome, random_rollouts, small):
    rollouts = random_rollouts(*[outcome] * 4)
    with pytest.warns(UserWarning, match="nothing to tell apart"):
        fitted = fit(rollouts, method, seeds=1, **small)
    assert np.isfinite(values(fitted, rollouts)).all()


def test_episodes_of_one_frame(method, small):
    rollouts = goalward.from_arrays(
        [np.full((1, 2), i) for i in range(4)], success=[True, False] * 2
    )
    fitted = fit(rollouts, method, seeds=1, **small)
    assert np.isfinite(values(fitted, rollouts)).all()


def test_features_that_never_change(method, small):
    features = [np.full((5, 3), 7.0) for _ in range(4)]
    rollouts = goalward.from_arrays(features, success=[True, False] * 2)
    value = values(fit(rollouts, method, seeds=1, **small), rollouts)
    assert np.isfinite(value).all()
    assert np.ptp(value) < 1e-5


def test_nan_features_name_the_episode(method, rollouts, small):
    features = rollouts.features.copy()
    features[10 + 11 + 2] = np.nan
    with pytest.raises(goalward.GoalwardError, match="episode 2: features hold NaN .* frame 2"):
        fit(rollouts.with_features(features), method, seeds=1, **small)


def test_every_task_has_value_functions_of_its_own(method, small):
    rng = np.random.default_rng(1)
    features = [rng.normal(size=(6, 2)) for _ in range(8)]
    both = goalward.from_arrays(features, success=[True, False] * 4, tasks=["a", "a", "b", "b"] * 2)
    alone = both.where(task="b")
    together, separate = (fit(r, method, seeds=1, per_task=True, **small) for r in (both, alone))
    assert together.tasks == ("a", "b")
    # Side by side with another task, matrix products round differently.
    np.testing.assert_allclose(values(together, alone), values(separate, alone), atol=1e-5)
    with pytest.raises(goalward.GoalwardError, match="no value function for task 'a'"):
        separate.predict(both)

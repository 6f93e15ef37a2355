"""What is said of frames that nobody looked at, and what they are learned from."""

from dataclasses import replace

import numpy as np
import pytest

import goalward
from goalward.rollouts.dataset import Rollouts
from goalward.training.frames.training_frames import training_frames
from goalward.training.methods.presets import hyperparameters
from goalward.training.methods.table import METHODS
from goalward.training.problem import _trained_on
from goalward.training.runs import NetRun
from goalward.values.fit import fit

pytestmark = pytest.mark.usefixtures("one_thread")

TINY = {"width": 8, "num_layers": 2, "num_steps": 20, "batch_size": 16}
KEPT = [0, 4, 8, 9]


@pytest.fixture(scope="module")
def rollouts():
    """Ten frames each, of which every fourth was looked at; between them the features are wrong."""
    draws = np.random.default_rng(0)
    arrays = [draws.normal(size=(10, 2)).astype(np.float32) for _ in range(6)]
    whole = goalward.from_arrays(arrays, success=[True, False] * 3)
    episodes = [replace(episode, every=4) for episode in whole]
    return Rollouts(episodes, features=whole.features)


@pytest.fixture(scope="module")
def fitted(rollouts):
    return fit(rollouts, ("mc", "survival"), seeds=2, device="cpu", **TINY)


def whole(rollouts):
    episodes = [replace(episode, every=1) for episode in rollouts]
    return Rollouts(episodes, features=rollouts.features)


def test_steps_are_interpolated_and_marked(fitted, rollouts):
    asked, found = fitted.predict(whole(rollouts)), fitted.predict(rollouts)
    assert asked.interpolated is None
    assert found.interpolated.reshape(6, 10)[2].tolist() == [i not in KEPT for i in range(10)]
    for name in ("steps_to_goal", "raw_value"):
        before = getattr(asked, name).reshape(2, 2, 6, 10)
        after = getattr(found, name).reshape(2, 2, 6, 10)
        np.testing.assert_array_equal(after[..., KEPT], before[..., KEPT])
        middle = (before[..., 4] + before[..., 8]) / 2
        is_finite = np.isfinite(before).all(axis=-1)
        np.testing.assert_allclose(after[..., 6][is_finite], middle[is_finite], rtol=1e-5)
        assert (after[..., 6] != before[..., 6]).any()


def test_chances_are_interpolated_and_still_rise(fitted, rollouts):
    asked, found = fitted.chance_table(whole(rollouts)), fitted.chance_table(rollouts)
    before, after = (t.within.reshape(2, 6, 10, -1) for t in (asked, found))
    np.testing.assert_array_equal(after[:, :, KEPT], before[:, :, KEPT])
    np.testing.assert_allclose(after[:, :, 2], (before[:, :, 0] + before[:, :, 4]) / 2, atol=1e-6)
    np.testing.assert_array_equal(found.at_end, asked.at_end)
    single = fitted.chances(rollouts, 3).reshape(2, 2, 6, 10)
    np.testing.assert_allclose(single[..., 2], (single[..., 0] + single[..., 4]) / 2, atol=1e-6)


def test_a_table_on_disk_keeps_the_marks(fitted, rollouts, tmp_path):
    table = fitted.predict(rollouts)
    table.write(tmp_path / "values.parquet")
    again = goalward.read_values(tmp_path / "values.parquet")
    np.testing.assert_array_equal(again.interpolated, table.interpolated)
    fitted.predict(whole(rollouts)).write(tmp_path / "all.parquet")
    assert goalward.read_values(tmp_path / "all.parquet").interpolated is None


@pytest.mark.parametrize(("method", "learned_from"), [("mc", KEPT), ("td", range(10))])
def test_what_is_between_is_not_learned_from_unless_it_hands_values_on(
    rollouts, method, learned_from
):
    run = NetRun(METHODS[method].stages[0], 0, (0, 1))
    chosen = _trained_on(training_frames(rollouts), run, hyperparameters(time_out="terminal"))
    assert np.flatnonzero(chosen[:10]).tolist() == list(learned_from)
    assert not chosen[20:].any()

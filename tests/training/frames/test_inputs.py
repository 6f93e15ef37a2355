"""Features as networks see them: gathered from wherever they lie, and standardised."""

import numpy as np
import pytest
import torch

from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.training.frames import inputs
from goalward.training.frames.inputs import FeatureRows, standardisation
from goalward.training.frames.training_frames import training_frames
from goalward.training.networks.fused import kernels_for

CPU = torch.device("cpu")
FEATURES = np.array([[1, 2], [3, 4], [5, 7]], dtype=np.float32)


@pytest.mark.parametrize("max_bytes", [None, 0, 23, 24])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_rows_are_gathered_and_standardised_wherever_they_lie(max_bytes, dtype):
    rows = FeatureRows(FEATURES.astype(dtype), CPU, max_bytes)
    size = 24 if dtype == np.float32 else 12
    assert rows.on_device == (max_bytes is None or size <= max_bytes)
    assert (rows.num_frames, rows.size) == (3, 2)
    asked = torch.tensor([[1, 0], [2, 2]])
    mean, scale = torch.tensor([[[1.0, 1]], [[0, 0]]]), torch.tensor([[[2.0, 4]], [[1, 1]]])
    found = rows.standardised(asked, mean, scale, torch.float64)
    assert found.dtype == torch.float64
    assert found.tolist() == [[[1, 0.75], [0, 0.25]], [[5, 7], [5, 7]]]
    assert rows.block(1, 9).tolist() == [[3, 4], [5, 7]]
    assert rows.block(0, 1).dtype == torch.float32


def test_gathering_leaves_the_features_as_they_were():
    rows = FeatureRows(FEATURES.copy(), CPU)
    one = torch.ones(1, 1, 2)
    for _ in range(2):
        found = rows.standardised(torch.tensor([[0, 1, 2]]), one, 2 * one, torch.float32)
        assert found[0].tolist() == [[0, 0.5], [1, 1.5], [2, 3]]


def test_a_large_file_stays_where_it_is(tmp_path, monkeypatch):
    np.save(tmp_path / "features.npy", FEATURES)
    mapped = np.load(tmp_path / "features.npy", mmap_mode="r")
    assert FeatureRows(mapped, CPU).on_device
    monkeypatch.setattr(inputs, "_SMALL_FILE_BYTES", 23)
    streamed = FeatureRows(mapped, CPU)
    assert not streamed.on_device
    assert streamed.block(0, 3).tolist() == FEATURES.tolist()
    # What is in memory already is no file.
    assert FeatureRows(FEATURES, CPU).on_device


def frames_with(features):
    episodes = [Episode(str(i), 3, Outcome.TIME_OUT) for i in range(len(features) // 3)]
    return training_frames(Rollouts(episodes, features=features))


def test_a_feature_that_never_changes_has_scale_one():
    features = np.array([[7, 0.1], [7, 0.1], [7, 0.3]], dtype=np.float32)
    mean, scale = standardisation(frames_with(features), [(0,)])
    np.testing.assert_allclose(mean, [[7, 1 / 6]], rtol=1e-6)
    np.testing.assert_allclose(scale, [[1, np.std([0.1, 0.1, 0.3])]], rtol=1e-6)


def test_a_small_movement_far_from_zero_keeps_its_scale():
    noise = np.random.default_rng(0).normal(size=(300, 1))
    mean, scale = standardisation(
        frames_with((1000 + noise).astype(np.float32)), [tuple(range(100))]
    )
    assert mean[0, 0] == pytest.approx(1000 + noise.mean(), rel=1e-6)
    assert scale[0, 0] == pytest.approx(noise.std(), rel=1e-3)
    assert mean.dtype == scale.dtype == np.float32


def test_kernels_are_for_cuda_alone():
    assert kernels_for(torch.ones(2, dtype=torch.bfloat16), torch.bfloat16) is None

"""One frame in so many is encoded; the others lie between, each in its own place."""

import numpy as np
import pytest
from rollout_files.small_encoder import WIDTH, picture_rollouts, small_encoder

import goalward
from goalward.embeddings.embed import embed
from goalward.embeddings.outlook import embedding_outlook
from goalward.training.stored.feature_file import read_features, write_features

LENGTHS = (7, 6)
# Of the first, a success, every third and its goal, the last; of the second the last besides.
SEEN = ([0, 3, 6], [0, 3, 5])


@pytest.fixture
def rollouts():
    return picture_rollouts(LENGTHS, cameras=("front", "wrist"), state_size=2)


def test_cameras_lie_between_and_proprioception_is_known(rollouts):
    every = embed(rollouts, small_encoder(), device="cpu")
    thinned = embed(rollouts, small_encoder(), device="cpu", every=3)
    assert thinned.lengths.tolist() == list(LENGTHS)
    whole, found = every.features, thinned.features
    seen = [*SEEN[0], *(7 + np.array(SEEN[1]))]
    np.testing.assert_array_equal(found[seen], whole[seen])
    between = whole[0, : 2 * WIDTH] / 3 + whole[3, : 2 * WIDTH] * 2 / 3
    np.testing.assert_allclose(found[2, : 2 * WIDTH], between, atol=2e-3)
    np.testing.assert_allclose(
        found[11, : 2 * WIDTH], (whole[10, : 2 * WIDTH] + whole[12, : 2 * WIDTH]) / 2, atol=2e-3
    )
    np.testing.assert_array_equal(found[:, 2 * WIDTH :], rollouts.proprioception)
    assert "small of front, wrist in one frame of 3; 2 prop" in thinned.feature_layout.replace(
        small_encoder().label, "small"
    )


def test_only_those_frames_are_encoded_and_kept(rollouts, embed_with_report):
    _, report = embed_with_report(rollouts, small_encoder(), device="cpu", every=3)
    assert (report.num_frames, report.num_encoded) == (12, 12)
    _, again = embed_with_report(rollouts, small_encoder(), device="cpu", every=3)
    assert (again.num_encoded, again.num_from_cache) == (0, 12)
    _, others = embed_with_report(rollouts, small_encoder(), device="cpu", every=2)
    assert (others.num_encoded, others.num_from_cache) == (2 * (4 + 4), 0)


def test_several_observations_are_those_of_neighbouring_frames(rollouts):
    """Not of those that happened to be encoded."""
    once = embed(rollouts, small_encoder(), device="cpu", every=3)
    twice = embed(rollouts, small_encoder(), device="cpu", every=3, n_obs_steps=2)
    size = once.features.shape[1]
    np.testing.assert_array_equal(twice.features[3, :size], once.features[2])
    np.testing.assert_array_equal(twice.features[3, size:], once.features[3])


def test_a_plan_counts_what_will_be_encoded(rollouts, monkeypatch):
    monkeypatch.setattr(
        "goalward.embeddings.outlook.find_encoder", lambda *_, **__: small_encoder()
    )
    looked = embedding_outlook(rollouts, "small", cameras=("front",), device="cpu", every=3)
    assert (looked.num_frames, looked.num_cached) == (6, 0)


def test_a_feature_file_keeps_what_was_looked_at(rollouts, tmp_path):
    embedded = embed(rollouts, small_encoder(), device="cpu", every=3)
    write_features(tmp_path / "features.npz", embedded)
    assert [episode.every for episode in read_features(tmp_path / "features.npz")] == [3, 3]


def test_without_cameras_there_is_nothing_to_leave_out(rollouts):
    with pytest.raises(goalward.GoalwardError, match="every=3: there are no cameras"):
        embed(rollouts, small_encoder(), cameras=(), every=3)
    with pytest.raises(goalward.GoalwardError, match="every=0: must be at least 1"):
        embed(rollouts, small_encoder(), every=0)

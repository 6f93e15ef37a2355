"""How far new episodes lie from learned ones."""

import numpy as np
import pytest

from goalward.checksums import DamagedFile
from goalward.embeddings.learned_frames import read_learned_frames, write_learned_frames
from goalward.metrics.familiarity import familiarity, learned_frames

LENGTH = 20


def episodes(num, seed, shift=0.0):
    """Walks along a line with some noise; `shift` is off that line."""
    draws = np.random.default_rng(seed)
    walk = np.linspace(0, 1, LENGTH)
    rows = [
        np.stack([walk, np.full(LENGTH, shift)], axis=1) + 0.05 * draws.normal(size=(LENGTH, 2))
        for _ in range(num)
    ]
    return np.concatenate(rows), LENGTH * np.arange(1, num + 1)


def found(new, learned=None):
    learned = episodes(60, seed=0) if learned is None else learned
    ids = [str(i) for i in range(len(new[1]))]
    return familiarity(learned_frames(*learned), *new, ids, "run")


def test_episodes_of_the_same_kind_are_as_far_as_the_learned_ones_from_each_other():
    near = found(episodes(100, seed=1))
    assert np.median([e.distance for e in near.episodes]) == pytest.approx(1.0, abs=0.1)
    assert len(near.far) <= 12
    ranks = np.sort([e.rank for e in near.episodes])
    assert ranks[50] == pytest.approx(0.5, abs=0.15)


def test_those_off_the_beaten_track_are_far_the_farthest_first():
    rows = np.concatenate([episodes(1, 2)[0], episodes(1, 3, shift=1.0)[0], episodes(1, 4, 2.0)[0]])
    told = found((rows, LENGTH * np.arange(1, 4)))
    assert [e.id for e in told.far] == ["2", "1"]
    assert told.far[0].rank == pytest.approx(1 / 61)
    assert told.far[0].distance > told.far[1].distance > 5


def test_a_copy_of_a_learned_episode_is_near_though_the_learned_one_is_not_its_own_neighbour():
    learned = episodes(60, seed=0)
    copy = (learned[0][:LENGTH], np.array([LENGTH]))
    assert found(copy, learned).episodes[0].distance < 0.5


def test_numbers_that_never_change_tell_nothing():
    learned, ends = episodes(60, seed=0)
    new, new_ends = episodes(5, seed=1)
    with_still = found(
        (np.hstack([new, np.full((len(new), 1), 7.0)]), new_ends),
        (np.hstack([learned, np.full((len(learned), 1), 7.0)]), ends),
    )
    plain = found((new, new_ends), (learned, ends))
    assert [e.is_far for e in with_still.episodes] == [e.is_far for e in plain.episodes]


def test_a_few_learned_episodes_call_none_far():
    few = found(episodes(2, seed=1, shift=9.0), episodes(18, seed=0))
    assert not few.can_tell
    assert few.far == ()
    assert found(episodes(2, seed=1, shift=9.0), episodes(19, seed=0)).can_tell


def test_a_sample_of_frames_that_is_cut_is_damaged(tmp_path):
    path = tmp_path / "learned_frames.npz"
    sample = learned_frames(*episodes(5, seed=0))
    write_learned_frames(sample, path)
    np.testing.assert_array_equal(read_learned_frames(path).rows, sample.rows)
    whole = path.read_bytes()
    for length in range(0, len(whole) - 1, 97):
        path.write_bytes(whole[:length])
        with pytest.raises(DamagedFile, match="it holds no frames that were learned from"):
            read_learned_frames(path)

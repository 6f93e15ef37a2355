import numpy as np
import pytest

from goalward.seeds import generator


def test_streams_do_not_depend_on_each_other():
    alone = generator(3, "replay", 5).random(4)
    generator(3, "split").random(100)
    assert np.array_equal(generator(3, "replay", 5).random(4), alone)
    assert not np.array_equal(generator(4, "replay", 5).random(4), alone)
    assert not np.array_equal(generator(3, "replay", 6).random(4), alone)


def test_the_numbers_stay_the_same_across_versions():
    # A change here changes every published result.
    assert generator(0, "split").integers(0, 1000, 3).tolist() == [560, 273, 924]


def test_negative_seed():
    with pytest.raises(ValueError, match="seed must be 0 or more"):
        generator(-1)

"""Episodes that are one recording."""

import numpy as np

from goalward import from_arrays
from goalward.rollouts.twins import Sameness, Twins, twins_between, twins_within


def film(brightness, frames=4):
    return np.full((frames, 6, 6, 3), brightness, np.uint8)


def rollouts(pictures, motion):
    films, motions = list(pictures), list(motion)
    return from_arrays(images={"front": films}, proprioception=motions, success=[True] * len(films))


def moving(start):
    return np.arange(start, start + 4.0)[:, None]


def test_the_same_pictures_are_found_once_for_every_copy():
    found = twins_within(rollouts([film(1), film(2), film(1), film(1)], map(moving, range(4))))
    assert found == (Twins(0, 2, Sameness.PICTURES), Twins(0, 3, Sameness.PICTURES))


def test_pictures_coded_anew_are_found_by_their_motion():
    found = twins_within(rollouts([film(1), film(2)], [moving(0), moving(0)]))
    assert found == (Twins(0, 1, Sameness.MOTION),)


def test_robots_that_stand_still_and_those_not_recorded_are_no_copies():
    still = np.ones((4, 1))
    assert twins_within(rollouts([film(1), film(2)], [still, still])) == ()
    pictures = from_arrays(images={"front": [film(1), film(2)]}, success=[True, False])
    assert twins_within(pictures) == ()


def test_one_more_frame_is_another_recording():
    assert twins_within(rollouts([film(1), film(1, 5)], [moving(0), np.arange(5.0)[:, None]])) == ()


def test_features_alone_are_compared_too():
    same = np.linspace(0, 1, 4)[:, None]
    assert twins_within(from_arrays([same, same + 1, same], success=[True] * 3)) == (
        Twins(0, 2, Sameness.MOTION),
    )


def test_between_two_data_sets_each_episode_goes_with_the_first_like_it():
    ours = rollouts([film(1), film(2)], [moving(0), moving(9)])
    theirs = rollouts([film(7), film(2), film(2)], map(moving, (20, 21, 22)))
    assert twins_between(ours, theirs) == (Twins(1, 1, Sameness.PICTURES),)

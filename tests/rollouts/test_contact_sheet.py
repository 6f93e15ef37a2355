import numpy as np
import pytest

from goalward import RolloutError, from_arrays
from goalward.rollouts.contact_sheet import contact_sheet


def rollouts(num_episodes: int, frames: int = 5):
    success = [i % 10 == 0 for i in range(num_episodes)]
    pictures = [np.full((frames, 8, 8, 3), i % 256, np.uint8) for i in range(num_episodes)]
    features = [np.zeros((frames, 1))] * num_episodes
    return from_arrays(features, success, images={"front": pictures})


def test_many_episodes_are_thinned_but_no_outcome_is_lost():
    sheet = contact_sheet(rollouts(200), most_episodes=20)
    assert len(sheet.episodes) == 20
    assert sum(int(i) % 10 == 0 for i in sheet.episodes) == 2
    assert len(contact_sheet(rollouts(7), most_episodes=20).episodes) == 7


def test_an_upright_frame_stays_upright():
    picture = np.zeros((1, 40, 40, 3), np.uint8)
    picture[:, :20] = (255, 0, 0)
    sheet = contact_sheet(
        from_arrays([np.zeros((1, 1))], [True], images={"front": [picture]}), thumbnail_height=40
    )
    column = np.asarray(sheet.picture)[:, 200]
    red = np.flatnonzero((column == (255, 0, 0)).all(axis=1))
    black = np.flatnonzero((column == (0, 0, 0)).all(axis=1))
    assert red.max() < black.min()


def test_a_frame_that_cannot_be_decoded_is_crossed_out_and_named():
    class Broken:
        num_frames, height, width, codec = 5, 8, 8, "raw"

        def __iter__(self):
            return self.at(range(5))

        def at(self, frame_indices):
            for index in frame_indices:
                if index == 2:
                    raise RolloutError("x.mp4: frame 2 is missing")
                yield np.zeros((8, 8, 3), np.uint8)

        def fingerprint(self):
            return "0" * 32

    whole = rollouts(1)
    episode = type(whole[0])(
        "0", num_frames=5, outcome=whole[0].outcome, goal_frame=4, cameras={"front": Broken()}
    )
    sheet = contact_sheet(type(whole)([episode]))
    assert sheet.problems == ("episode 0, front: x.mp4: frame 2 is missing",)


def test_nothing_to_draw():
    with pytest.raises(RolloutError, match="nothing to draw"):
        contact_sheet(from_arrays([np.zeros((2, 1))], [True]))


@pytest.mark.parametrize("place", [3, 30, 57])
def test_names_that_differ_anywhere_are_drawn_differently(place: int):
    pictures = [np.zeros((1, 8, 8, 3), np.uint8)]
    first = "rollout_of_a_policy_that_somebody_recorded_on_one_of_the_days"
    drawn = []
    for name in (first, first[:place] + "X" + first[place + 1 :]):
        one = from_arrays([np.zeros((1, 1))], [True], images={"front": pictures}, ids=[name])
        drawn.append(np.asarray(contact_sheet(one).picture))
    assert drawn[0].shape != drawn[1].shape or (drawn[0] != drawn[1]).any()

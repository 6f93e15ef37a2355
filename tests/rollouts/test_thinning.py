"""One frame in so many: which ones, what lies between, and that every frame keeps its place."""

import numpy as np
import pytest

from goalward.errors import GoalwardError, RolloutError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.frames import ArrayFrames
from goalward.rollouts.thinning import (
    ThinnedFrames,
    camera_looked_at,
    filled_between,
    frames_looked_at,
    is_looked_at,
    looked_at_every,
)

PICTURES = ArrayFrames(np.arange(9, dtype=np.uint8)[:, None, None, None].repeat(3, axis=3))


@pytest.mark.parametrize(
    ("num_frames", "goal", "every", "frames"),
    [
        (7, None, 3, [0, 3, 6]),
        (8, None, 3, [0, 3, 6, 7]),
        (8, 4, 3, [0, 3, 4, 6, 7]),
        (8, 7, 3, [0, 3, 6, 7]),
        (8, 0, 100, [0, 7]),
        (1, None, 5, [0]),
        (4, None, 1, [0, 1, 2, 3]),
    ],
)
def test_the_first_every_nth_the_goal_and_the_last(num_frames, goal, every, frames):
    outcome = Outcome.TIME_OUT if goal is None else Outcome.SUCCESS
    episode = Episode("0", num_frames, outcome, goal, every=every)
    assert frames_looked_at(episode).tolist() == frames


def test_a_view_knows_which_frames_were_looked_at():
    rollouts = looked_at_every(
        Rollouts([Episode(name, n, Outcome.TIME_OUT) for name, n in (("a", 4), ("b", 6))]), 4
    )
    assert is_looked_at(rollouts).astype(int).tolist() == [1, 0, 0, 1, 1, 0, 0, 0, 1, 1]
    assert is_looked_at(rollouts[[1]]).astype(int).tolist() == [1, 0, 0, 0, 1, 1]
    assert rollouts.lengths.tolist() == [4, 6]
    assert looked_at_every(rollouts, 4) is rollouts
    with pytest.raises(GoalwardError, match="every=0: must be at least 1"):
        looked_at_every(rollouts, 0)
    with pytest.raises(RolloutError, match="episode a: every must be at least 1, got -1"):
        Episode("a", 4, Outcome.TIME_OUT, every=-1)


def test_between_two_frames_is_the_straight_line():
    """In every row before the last two axes, and in the precision of what is known."""
    known = np.array([[[0.0, 10.0], [4.0, 2.0]], [[1.0, 1.0], [1.0, 3.0]]], dtype=np.float16)
    found = filled_between(known, np.array([0, 4]), 5)
    assert found.dtype == np.float16
    assert found[0].tolist() == [[0, 10], [1, 8], [2, 6], [3, 4], [4, 2]]
    assert found[1, :, 1].tolist() == [1, 1.5, 2, 2.5, 3]


def test_never_is_on_no_line():
    known = np.array([[2.0], [np.inf], [np.inf], [4.0]])
    found = filled_between(known, np.array([0, 4, 6, 8]), 9)[:, 0]
    assert found.tolist() == [2, 2, 2, *([np.inf] * 5), 4]


def test_one_frame_alone():
    assert filled_between(np.array([[3.0]]), np.array([0]), 1).tolist() == [[3.0]]


def test_thinned_frames_are_those_of_the_recording():
    thinned = ThinnedFrames(PICTURES, (0, 3, 8))
    assert (thinned.num_frames, thinned.height, thinned.width, thinned.codec) == (3, 1, 1, "raw")
    assert [int(frame[0, 0, 0]) for frame in thinned] == [0, 3, 8]
    assert [int(frame[0, 0, 0]) for frame in thinned.at([2, 0])] == [8, 0]
    with pytest.raises(RolloutError, match="no frame 3; frames are 0 to 2"):
        list(thinned.at([3]))


def test_what_was_computed_of_other_frames_is_not_taken_for_these():
    """The name under which embeddings are kept: by the recording and by which of its frames."""
    chosen = ThinnedFrames(PICTURES, (0, 3, 8))
    assert chosen.fingerprint() == ThinnedFrames(PICTURES, (0, 3, 8)).fingerprint()
    darker = ArrayFrames(PICTURES.frames // 2)
    others = [PICTURES, ThinnedFrames(PICTURES, (0, 4, 8)), ThinnedFrames(darker, (0, 3, 8))]
    assert chosen.fingerprint() not in [other.fingerprint() for other in others]


def test_all_frames_are_the_camera_itself():
    whole = Episode("0", 9, Outcome.TIME_OUT, cameras={"front": PICTURES})
    assert camera_looked_at(whole, "front") is PICTURES
    (thinned,) = looked_at_every(Rollouts([whole]), 4)
    assert camera_looked_at(thinned, "front").num_frames == 3
    # The report plays all of them.
    assert thinned.cameras["front"] is PICTURES

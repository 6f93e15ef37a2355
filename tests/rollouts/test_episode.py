import numpy as np
import pytest

from goalward import Episode, Outcome, RolloutError
from goalward.rollouts.frames import ArrayFrames


def success(**changes):
    fields = {"id": "7", "num_frames": 4, "outcome": Outcome.SUCCESS, "goal_frame": 3} | changes
    return Episode(**fields)


@pytest.mark.parametrize("outcome", Outcome)
def test_an_outcome_by_name_is_that_outcome(outcome):
    goal_frame = 3 if outcome is Outcome.SUCCESS else None
    assert success(outcome=str(outcome), goal_frame=goal_frame).outcome is outcome


def test_a_goal_before_the_last_frame_is_kept():
    assert success(goal_frame=1).goal_frame == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_frames": 0}, "episode 7: has no frames"),
        ({"goal_frame": 4}, "goal frame between 0 and 3, got 4"),
        ({"goal_frame": None}, "goal frame between 0 and 3, got None"),
        ({"outcome": Outcome.FAILURE}, "a failure episode has no goal frame, got 3"),
        ({"outcome": "failure"}, "a failure episode has no goal frame, got 3"),
        ({"outcome": "won"}, "episode 7: no outcome 'won'; outcomes: success, time_out, failure"),
        ({"outcome": True}, "episode 7: no outcome True; outcomes"),
        ({"fps": 0.0}, "fps must be above 0"),
        ({"fps": float("nan")}, "fps must be above 0"),
        ({"proprioception": np.zeros((3, 2), np.float32)}, r"shape \(3, 2\), wanted \(4, size\)"),
        (
            {"proprioception": np.array([[0], [1], [np.nan], [3]], np.float32)},
            "NaN or infinity at frame 2",
        ),
        (
            {"cameras": {"front": ArrayFrames(np.zeros((5, 2, 2, 3), np.uint8))}},
            "has 4 frames, its camera front 5",
        ),
    ],
)
def test_impossible_episodes_are_refused(changes, message):
    with pytest.raises(RolloutError, match=message):
        success(**changes)


def test_an_episode_cannot_be_changed():
    episode = success(cameras={"front": ArrayFrames(np.zeros((4, 2, 2, 3), np.uint8))})
    with pytest.raises(AttributeError):
        episode.num_frames = 9
    with pytest.raises(TypeError):
        episode.cameras["wrist"] = episode.cameras["front"]


def test_frames_by_full_or_short_camera_name():
    pictures = np.arange(4 * 12, dtype=np.uint8).reshape(4, 2, 2, 3)
    episode = success(cameras={"observation.images.front": ArrayFrames(pictures)})
    assert np.array_equal(episode.frame("front", 2), pictures[2])
    assert np.array_equal(np.stack(list(episode.frames("observation.images.front"))), pictures)
    assert [f[0, 0, 0] for f in episode.frames_at("front", [3, 1, 1])] == [36, 12, 12]


def test_unknown_camera_and_frame():
    episode = success(cameras={"front": ArrayFrames(np.zeros((4, 2, 2, 3), np.uint8))})
    with pytest.raises(RolloutError, match="episode 7: no camera top; cameras: front"):
        episode.frames("top")
    with pytest.raises(RolloutError, match="no frame 4; frames are 0 to 3"):
        episode.frame("front", 4)
    with pytest.raises(RolloutError, match="no frame -1"):
        episode.frame("front", -1)


def test_an_ambiguous_camera_name_is_an_error():
    frames = ArrayFrames(np.zeros((4, 2, 2, 3), np.uint8))
    episode = success(cameras={"left.rgb": frames, "right.rgb": frames})
    with pytest.raises(RolloutError, match="rgb is ambiguous"):
        episode.frames("rgb")

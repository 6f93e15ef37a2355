"""Videos with the curve under them, decoded again: size, frames, the cursor."""

import av
import numpy as np
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

from goalward.errors import GoalwardError
from goalward.exports.curve_strip import STRIP_HEIGHT, cursor_column
from goalward.exports.curve_video import common_sizes, resized, write_curve_videos


def decoded(path):
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(stream)]
        return frames, float(stream.average_rate)


def reddest_column(picture):
    """Where the cursor is: its colour is nowhere else in the plot."""
    plot = picture[-STRIP_HEIGHT + 40 : -30].astype(int)
    return int((plot[:, :, 0] - plot[:, :, 1]).clip(0).sum(axis=0).argmax())


def written(tmp_path, *episodes, **options):
    run, rollouts = drawn_run(episodes, {"td": [countdown(e.num_frames) for e in episodes]})
    return write_curve_videos(run, rollouts, tmp_path, **options)


def test_two_small_cameras_stand_side_by_side_over_the_curve(tmp_path):
    shapes = {"base": (128, 128), "wrist": (128, 128)}
    (path,) = written(tmp_path, drawn_episode("a", 20, shapes=shapes, fps=12.5))
    assert path.name == "episode_a.mp4"
    frames, fps = decoded(path)
    assert (len(frames), fps) == (20, 12.5)
    assert {frame.shape for frame in frames} == {(256 + STRIP_HEIGHT, 256 + 4 + 256, 3)}
    # Frame i has the brightness i in both cameras.
    for i, frame in enumerate(frames):
        assert frame[20:230, 20:230].mean() == pytest.approx(i, abs=3)
        assert frame[20:230, 290:500].mean() == pytest.approx(i, abs=3)


def test_the_cursor_moves_with_the_video(tmp_path):
    (path,) = written(tmp_path, drawn_episode("a", 30, shapes={"base": (60, 120)}))
    frames, fps = decoded(path)
    assert fps == 10
    width = frames[0].shape[1]
    assert frames[0].shape == (240 + STRIP_HEIGHT, 480, 3)
    expected = [cursor_column(frame, 30, width) for frame in range(30)]
    assert (expected[0], expected[-1]) == (45, 465)
    # Chroma has half the pixels: a column more or less.
    assert np.abs(np.subtract([reddest_column(frame) for frame in frames], expected)).max() <= 1


def test_the_point_on_the_cursor_goes_down_to_the_goal(tmp_path):
    (path,) = written(tmp_path, drawn_episode("a", 40, shapes={"base": (240, 480)}))
    frames, _ = decoded(path)

    def height(frame):
        column = cursor_column(frame, 40, 480)
        # Beside the cursor, where only the point is.
        beside = frames[frame][-STRIP_HEIGHT:, column - 2].astype(int)
        return int((beside[:, 0] - beside[:, 1]).argmax())

    heights = [height(frame) for frame in (1, 20, 38)]
    assert heights == sorted(heights)
    assert heights[-1] - heights[0] > 40


def test_without_frames_there_is_the_curve_alone(tmp_path):
    (path,) = written(tmp_path, drawn_episode("a", 7))
    frames, fps = decoded(path)
    assert (len(frames), fps, frames[0].shape) == (7, 10, (STRIP_HEIGHT, 480, 3))
    run, _ = drawn_run([drawn_episode("a", 7)], {"td": [countdown(7)]})
    (path,) = write_curve_videos(run, None, tmp_path / "other")
    assert len(decoded(path)[0]) == 7


def test_an_episode_of_one_frame_and_one_seed(tmp_path):
    shown = drawn_episode("a", 1, shapes={"base": (33, 41)})
    run, rollouts = drawn_run([shown], {"td": [countdown(1, seeds=1)]})
    (path,) = write_curve_videos(run, rollouts, tmp_path)
    frames, _ = decoded(path)
    assert len(frames) == 1
    assert reddest_column(frames[0]) in (45, 46)


def test_a_name_that_is_no_file_name_becomes_the_place_in_the_run(tmp_path):
    names = ["../../x", "</script>", "\U0001f600" * 300]
    episodes = [drawn_episode(name, 3, shapes={"base": (16, 16)}, task="a\nb") for name in names]
    paths = written(tmp_path / "out", *episodes, episodes=[names[2], names[0]])
    assert [path.name for path in paths] == ["episode_at_0.mp4", "episode_at_2.mp4"]
    assert {path.name for path in tmp_path.iterdir()} == {"out"}
    with pytest.raises(GoalwardError, match="no episode 9"):
        written(tmp_path, *episodes, episodes=["9"])


def test_one_episode_goes_into_the_file_that_is_named(tmp_path):
    episodes = [drawn_episode(name, 3, shapes={"base": (16, 16)}) for name in "ab"]
    (path,) = written(tmp_path / "mine.mp4", *episodes, episodes=["b"])
    assert path == tmp_path / "mine.mp4"
    assert path.is_file()
    with pytest.raises(GoalwardError, match="one file holds one episode, but there are 2"):
        written(tmp_path / "both.mp4", *episodes)
    with pytest.raises(GoalwardError, match="mine.mp4.x: cannot be written|mine.mp4/x: "):
        written(tmp_path / "mine.mp4" / "x", *episodes)


def test_the_curve_is_that_of_the_method(tmp_path):
    shown = drawn_episode("a", 20, shapes={"base": (240, 480)})
    run, rollouts = drawn_run([shown], {"td": [countdown(20)], "mc": [np.full((2, 20), np.inf)]})
    (first,) = write_curve_videos(run, rollouts, tmp_path / "td")
    (other,) = write_curve_videos(run, rollouts, tmp_path / "mc", method="mc")
    assert np.abs(np.subtract(decoded(first)[0], decoded(other)[0], dtype=int)).max() > 100
    with pytest.raises(GoalwardError, match="no method 'no'"):
        write_curve_videos(run, rollouts, tmp_path, method="no")


def test_progress_counts_frames_to_the_last(tmp_path):
    seen = []
    episodes = [drawn_episode(name, 3) for name in "ab"]
    written(tmp_path, *episodes, on_progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, 6) for done in range(1, 7)]


def test_the_same_run_gives_the_same_bytes(tmp_path):
    shown = drawn_episode("a", 12, shapes={"base": (48, 64), "wrist": (64, 48)})
    (first,), (second,) = (written(tmp_path / name, shown) for name in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()


def test_cameras_of_all_sizes_get_one_height():
    assert common_sizes([(100, 100)]) == [(300, 300)]
    assert common_sizes([(240, 320), (120, 160)]) == [(240, 320), (240, 320)]
    assert common_sizes([(1080, 1920)]) == [(480, 853)]
    # Three wide ones: no wider than a screen. Many: no lower than 240 while players can show it.
    assert [height for height, _ in common_sizes([(480, 848)] * 3)] == [362] * 3
    assert [height for height, _ in common_sizes([(480, 640)] * 8)] == [240] * 8
    assert common_sizes([(100, 10_000)]) == [(40, 4000)]


def test_whole_factors_repeat_pixels_and_others_are_smooth():
    picture = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    doubled = resized(picture, 4, 4)
    assert (doubled[::2, ::2] == picture).all()
    assert (doubled[1::2, 1::2] == picture).all()
    assert resized(picture, 2, 2) is picture
    assert resized(picture, 3, 3).shape == (3, 3, 3)

"""Videos with the curve under them, decoded again: size, frames, the cursor."""

from dataclasses import replace

import av
import numpy as np
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

import goalward
from goalward.errors import GoalwardError
from goalward.exports import curve_strip as curve_strip_module
from goalward.exports.curve_strip import STRIP_HEIGHT, cursor_column, curve_strip
from goalward.exports.curve_video import common_sizes, export_curve_videos, resized
from goalward.looks import METHOD_COLOURS, channels
from goalward.runs.curves import Curves


def decoded(path):
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(stream)]
        return frames, float(stream.average_rate)


def reddest_column(picture):
    """Where the cursor is: its colour is nowhere else in the plot."""
    plot = picture[-STRIP_HEIGHT + 40 : -30].astype(int)
    return int((plot[:, :, 0] - plot[:, :, 1]).clip(0).sum(axis=0).argmax())


def export(made, out, **options):
    """The videos of a run whose rollouts are in memory, as one that was just made has them."""
    run, rollouts = made
    path = goalward.export(replace(run, rollouts=rollouts), "mp4", out=out, **options).path
    return [path] if path.is_file() else sorted(path.iterdir())


def written(out, *episodes, **options):
    steps = {"td": [countdown(e.num_frames) for e in episodes]}
    return export(drawn_run(episodes, steps), out, **options)


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


def test_the_thick_curve_is_the_value_and_the_thin_one_hindsight():
    """At the goal, and in hindsight never: the one lies at the bottom, the other at the top."""
    never, there = np.ones((1, 40)), -np.ones((1, 40))
    look = {"colour": "#000000", "width": 480, "ceiling": 60.0, "caption": ""}
    strip = curve_strip(Curves("td", there, never, 0.5), (), **look)
    other = curve_strip(Curves("td", never, there, 0.5), (), **look)

    def darkness(picture, rows):
        return float((255 - picture[rows, 100:400].astype(float)).mean(axis=(1, 2)).max())

    top, bottom = slice(30, 45), slice(STRIP_HEIGHT - 35, STRIP_HEIGHT - 20)
    assert darkness(strip.static, bottom) > 2 * darkness(strip.static, top) > 50
    assert darkness(other.static, top) > 2 * darkness(other.static, bottom) > 50
    # The words over it, and the point on the cursor, say the same.
    header = slice(0, 30)
    assert darkness(strip.at(5), header) > 0
    assert (strip.at(5)[header] != other.at(5)[header]).any()
    red = [
        int((at.astype(int)[:, cursor_column(5, 40, 480) - 2] @ [1, -1, 0]).argmax())
        for at in (strip.at(5), other.at(5))
    ]
    assert red[0] > 140 > 50 > red[1]


def test_the_words_over_the_curve_are_of_the_value(monkeypatch):
    told = []
    monkeypatch.setattr(
        curve_strip_module, "steps_words", lambda steps, _: told.append(steps) or ""
    )
    curve = Curves("td", np.full((1, 4), 0.5), np.zeros((1, 4)), 0.5)
    look = {"colour": "#000000", "width": 480, "ceiling": 60.0, "caption": ""}
    curve_strip(curve, (), **look).at(2)
    # Two steps to go, where hindsight says one.
    assert told == [2.0]


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


def test_an_episode_of_one_frame_and_one_seed(tmp_path):
    shown = drawn_episode("a", 1, shapes={"base": (33, 41)})
    (path,) = export(drawn_run([shown], {"td": [countdown(1, seeds=1)]}), tmp_path)
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
    made = drawn_run([shown], {"td": [countdown(20)], "mc": [np.full((2, 20), np.inf)]})
    (first,) = export(made, tmp_path / "td")
    (other,) = export(made, tmp_path / "mc", method="mc")
    assert np.abs(np.subtract(decoded(first)[0], decoded(other)[0], dtype=int)).max() > 100
    with pytest.raises(GoalwardError, match="no method 'no'"):
        export(made, tmp_path, method="no")


@pytest.mark.parametrize("method", ["td", "mc"])
def test_the_curve_has_the_colour_of_the_method(tmp_path, method):
    shown = drawn_episode("a", 3, shapes={"base": (240, 480)})
    level = np.full((1, 3), 0.3)
    (path,) = export(drawn_run([shown], {"td": [level], "mc": [level]}), tmp_path, method=method)
    # The last frame, with the cursor at the right: across the rest of it lies the curve.
    plot = decoded(path)[0][-1][-STRIP_HEIGHT + 40 : -30, 100:300].astype(int)
    strength = (plot.max(axis=2) - plot.min(axis=2)).mean(axis=1)
    taken = 255 - plot[strength.argmax()].mean(axis=0)

    def likeness(colour):
        """1 where the line takes from white what the colour does: it is thin, and so half white."""
        ink = 255 - np.array(channels(colour))
        return float(taken @ ink / np.linalg.norm(taken) / np.linalg.norm(ink))

    found = {name: likeness(colour) for name, colour in METHOD_COLOURS.items()}
    assert found[method] > 0.98
    assert max(found, key=found.__getitem__) == method


def test_progress_counts_frames_to_the_last(tmp_path):
    seen = []
    run, rollouts = drawn_run(
        [drawn_episode(name, 3) for name in "ab"], {"td": [countdown(3), countdown(3)]}
    )
    export_curve_videos(
        run, rollouts, "td", [0, 1], out=tmp_path, on_progress=lambda *now: seen.append(now)
    )
    assert seen == [(so_far, 6) for so_far in range(1, 7)]


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

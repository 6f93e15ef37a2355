"""The figure of an episode: frames, curves, marks."""

import numpy as np
import pytest

from goalward.report.episode_figure import KnownValue, Moment, episode_figure

PICTURE = np.full((16, 16, 3), 90, dtype=np.uint8)
CURVE = np.linspace(0.9, -1, 31)[None] + np.array([[0.0], [0.1]])


def moments(*frames, num_cameras=2):
    return [Moment(frame, f"at {frame}", (PICTURE,) * num_cameras) for frame in frames]


def test_frames_stand_in_columns_over_one_curve():
    figure = episode_figure("a $5 can", moments(0, 12, 30), {"liveness": CURVE, "td": CURVE})
    *pictures, _ = sorted(figure.axes, key=lambda axes: bool(axes.lines))
    assert len(pictures) == 6
    titles = [axes.get_title() for axes in pictures if axes.get_title()]
    assert titles == ["1  at 0\nframe 0", "2  at 12\nframe 12", "3  at 30\nframe 30"]
    assert figure.get_suptitle() == r"a \$5 can"


def test_a_line_is_the_mean_over_seeds_and_marks_lie_where_frames_do():
    figure = episode_figure("", moments(3, 20), {"liveness": CURVE})
    (axes,) = [each for each in figure.axes if each.lines]
    curve = axes.lines[0]
    assert np.allclose(curve.get_ydata(), CURVE.mean(axis=0))
    marks = sorted(line.get_xdata()[0] for line in axes.lines[1:])
    assert marks == [3, 20]


def test_the_truth_stands_as_points_with_two_standard_errors():
    known = [KnownValue(10, 0.25, 0.1)]
    figure = episode_figure("", moments(0, 30), {"liveness": CURVE}, truth=known)
    (axes,) = [each for each in figure.axes if each.containers]
    points, _, (bars,) = axes.containers[0]
    assert (points.get_xdata()[0], points.get_ydata()[0]) == (10, 0.25)
    assert np.allclose(bars.get_segments()[0][:, 1], [0.05, 0.45])


def test_nothing_to_draw_is_an_error():
    with pytest.raises(ValueError, match="needs moments and curves"):
        episode_figure("", [], {"liveness": CURVE})

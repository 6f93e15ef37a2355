"""The figure of an episode: frames, curves, marks, and where they stand."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from goalward.report.figures.curve import KnownValue, steps_ticks
from goalward.report.figures.episode import Moment, episode_figure
from goalward.report.figures.text import broken, clean, fitted_size, shortened, text_width
from goalward.runs.curves import Curves
from goalward.values.events import Event, EventKind

PICTURE = np.full((16, 16, 3), 90, dtype=np.uint8)
CURVE = np.linspace(0.8, -1, 31)[None] + np.array([[0.0], [0.1]])
LIVENESS = Curves("liveness", CURVE, CURVE, discount=0.97)


def moments(*frames, num_cameras=2, picture=PICTURE):
    return [Moment(frame, f"at {frame}", (picture,) * num_cameras) for frame in frames]


def pictures_of(figure):
    return [axes for axes in figure.axes if axes.images]


def curve_of(figure):
    (axes,) = [axes for axes in figure.axes if axes.lines]
    return axes


def texts_of(figure):
    return [text.get_text() for text in figure.texts]


def legend_of(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_frames_stand_in_columns_each_with_its_number_and_label():
    figure = episode_figure(
        "a $5 can", moments(0, 12, 30), [LIVENESS, Curves("td", CURVE, CURVE, 0.97)]
    )
    lefts = [round(axes.get_position().x0, 6) for axes in pictures_of(figure)]
    assert len(lefts) == 6
    assert len(set(lefts)) == 3
    texts = texts_of(figure)
    assert texts[0] == "a $5 can"
    for expected in ("at 0", "frame 0", "at 12", "frame 12", "at 30", "frame 30"):
        assert texts.count(expected) == 1
    # Once on the frame, once over the curve.
    assert [texts.count(number) for number in ("1", "2", "3", "4")] == [2, 2, 2, 0]


def test_two_square_cameras_have_the_curve_in_the_last_column_and_one_has_it_below():
    beside = episode_figure("", moments(0, 6, 12, 18, 24, 30), [LIVENESS])
    right = max(axes.get_position().x1 for axes in pictures_of(beside))
    assert curve_of(beside).get_position().x0 > right
    assert not beside.artists
    below = episode_figure("", moments(0, 6, 12, 18, 24, 30, num_cameras=1), [LIVENESS])
    lowest = min(axes.get_position().y0 for axes in pictures_of(below))
    assert curve_of(below).get_position().y1 < lowest
    # A line leads from each frame to its number.
    assert len(below.artists) == 6


def test_where_the_curve_stands_can_be_said():
    figure = episode_figure("", moments(0, 30), [LIVENESS], curve_at="below")
    lowest = min(axes.get_position().y0 for axes in pictures_of(figure))
    assert curve_of(figure).get_position().y1 < lowest


def test_without_cameras_there_is_the_curve_alone():
    figure = episode_figure("", moments(0, 30, num_cameras=0), [LIVENESS])
    assert pictures_of(figure) == []
    assert texts_of(figure).count("1") == 1


def test_the_first_method_is_thick_with_a_band_and_the_others_are_thin():
    other = Curves("td", CURVE - 0.1, CURVE, 0.97)
    figure = episode_figure("", moments(3, 20), [Curves("liveness", CURVE, -CURVE, 0.97), other])
    axes = curve_of(figure)
    first, in_hindsight, other = axes.lines[:3]
    assert np.allclose(first.get_ydata(), CURVE.mean(axis=0))
    assert np.allclose(in_hindsight.get_ydata(), -CURVE.mean(axis=0))
    assert np.allclose(other.get_ydata(), CURVE.mean(axis=0) - 0.1)
    assert first.get_linewidth() > 2 * max(other.get_linewidth(), in_hindsight.get_linewidth())
    # The numbers stand on the thick line.
    (mark,) = [line for line in axes.lines if list(line.get_xdata()) == [20]]
    assert mark.get_ydata()[0] == pytest.approx(CURVE.mean(axis=0)[20])
    (band,) = axes.collections
    deviation = 0.1 / np.sqrt(2)
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx(0.85 + deviation)
    # Nothing is nearer than the goal.
    assert heights.min() == -1.0
    assert legend_of(figure) == ["liveness ± s.d.", "in hindsight", "td"]


def test_one_seed_has_no_band():
    figure = episode_figure("", moments(3, 20), [Curves("liveness", CURVE[:1], CURVE[:1], 0.97)])
    assert len(curve_of(figure).collections) == 0
    assert legend_of(figure) == ["liveness", "in hindsight"]


def test_an_event_that_lasts_is_shaded_from_start_to_end():
    setback = Event(EventKind.SETBACK, 12, 10, 15, 20.0, 60.0, 1.0)
    goal = Event(EventKind.GOAL, 30, 30, 30, 0.0, 0.0, 1.0)
    figure = episode_figure("", moments(0, 30), [LIVENESS], events=[setback, goal])
    (span,) = curve_of(figure).patches
    assert (span.get_x(), span.get_x() + span.get_width()) == (10, 15)
    assert legend_of(figure) == ["liveness ± s.d.", "in hindsight", "setback"]


def test_the_right_axis_counts_steps():
    figure = episode_figure("", moments(0, 30), [LIVENESS])
    (right,) = curve_of(figure).child_axes
    labels = [label.get_text() for label in right.get_yticklabels()]
    assert labels == ["0", "5", "10", "20", "50", "never"]
    assert right.get_yticks()[3] == pytest.approx(1 - 2 * 0.97**20)
    assert right.get_yticks()[-1] == 1.0


@pytest.mark.parametrize("discount", [0.5, 0.9, 0.99, 0.999, 0.99999])
def test_ticks_of_steps_never_touch(discount):
    ticks = steps_ticks(discount, 0.15)
    values = [1 - 2 * discount**k for k in ticks] + [1.0]
    assert values == pytest.approx([*ticks.values(), 1.0])
    assert values[0] == -1.0
    assert min(np.diff(values)) >= 0.15 - 1e-9


def test_the_truth_stands_as_points_with_two_standard_errors():
    known = [KnownValue(10, 0.25, 0.1)]
    figure = episode_figure("", moments(0, 30), [LIVENESS], truth=known)
    points, _, (bars,) = curve_of(figure).containers[0]
    assert (points.get_xdata()[0], points.get_ydata()[0]) == (10, 0.25)
    assert np.allclose(bars.get_segments()[0][:, 1], [0.05, 0.45])
    assert legend_of(figure) == ["liveness ± s.d.", "in hindsight", "truth ± 2 s.e."]


@pytest.mark.parametrize(
    ("num_cameras", "shape", "frames"),
    [
        (0, (16, 16), (0, 2, 4, 6, 8, 30)),
        (1, (16, 16), (0,)),
        (1, (9, 16), tuple(range(0, 24, 2))),
        (2, (16, 16), (0, 1)),
        (2, (16, 16), (0, 2, 4, 6, 8, 30)),
        (2, (40, 10), tuple(range(0, 24, 2))),
        (3, (40, 10), (0,)),
        (3, (9, 16), (0, 2, 4, 6, 8, 30)),
        (3, (16, 16), tuple(range(0, 24, 2))),
    ],
)
def test_no_two_texts_overlap_and_all_lie_on_the_page(num_cameras, shape, frames):
    picture = np.zeros((*shape, 3), dtype=np.uint8)
    named = [
        Moment(frame, "stall 1000 frames", (picture,) * num_cameras, EventKind.STALL)
        for frame in frames
    ]
    names = [f"observation.images.the_long_name_of_camera_{i}" for i in range(num_cameras)]
    methods = ("liveness", "liveness-nb", "td", "mc", "mc-dist", "a name that is long and longer")
    figure = episode_figure(
        "episode 3 (time-out): " + "pick up everything " * 30,
        named,
        [Curves(method, CURVE, CURVE, 0.97) for method in methods],
        events=[Event(kind, 5, 4, 9, 20.0, 60.0, 1.0) for kind in EventKind],
        truth=[KnownValue(10, 0.25, 0.1)],
        cameras=names,
    )
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    axes = curve_of(figure)
    (right,) = axes.child_axes
    texts = [*figure.texts, *figure.legends[0].get_texts(), axes.xaxis.label, axes.yaxis.label]
    texts += [right.yaxis.label, *axes.get_yticklabels(), *right.get_yticklabels()]
    low, high = axes.get_xlim()
    # Ticks beyond the ends of an axis exist and are not drawn.
    texts += [tick for tick in axes.get_xticklabels() if low <= tick.get_position()[0] <= high]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text()]
    width, height = canvas.get_width_height()
    for name, box in boxes:
        assert min(box.x0, box.y0, width - box.x1, height - box.y1) >= -1, name
    for i, (name, box) in enumerate(boxes):
        for other_name, other in boxes[i + 1 :]:
            across = min(box.x1, other.x1) - max(box.x0, other.x0)
            down = min(box.y1, other.y1) - max(box.y0, other.y0)
            assert min(across, down) <= 1.0, f"{name!r} and {other_name!r}"


def test_nothing_to_draw_is_an_error():
    with pytest.raises(ValueError, match="needs moments and curves"):
        episode_figure("", [], [LIVENESS])


def test_text_from_files_is_cleaned_and_cut():
    assert clean("two\nlines \x00") == "two lines \ufffd"
    assert clean("\ud800") == "\ufffd"
    assert len(clean("x" * 10_000_000)) == 1000
    long = "word " * 100
    assert len(broken(long, 3.0, 8.0)) == 2
    assert broken(long, 3.0, 8.0)[-1].endswith("…")
    assert all(text_width(line, 8.0) <= 3.0 for line in broken(long, 3.0, 8.0))
    assert broken("", 3.0, 8.0) == []
    assert text_width(shortened("W" * 50, 1.0, 8.0), 8.0) <= 1.0
    assert fitted_size("a", 1.0, 8.0) == 8.0
    for width in np.linspace(0.5, 1.2, 15):
        name = "robot0_eye_in_hand"
        assert shortened(name, width, fitted_size(name, width, 8.0)) == name

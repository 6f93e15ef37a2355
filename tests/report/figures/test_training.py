"""The figure of losses: which lines there are, and what they say."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex

from goalward.looks import LOSS_COLOURS
from goalward.report.figures.scores import save_figure
from goalward.report.figures.training import HELD_OUT, TRAINING, training_figure
from goalward.values.training_log import LossCurve, TrainingLog


def curve(stage="mc", *, loss, held_out=None, seed=0):
    return LossCurve(
        stage=stage,
        seed=seed,
        task="",
        subset="",
        fold=None,
        num_episodes=8,
        steps=tuple(range(10, 10 * len(loss) + 1, 10)),
        loss=tuple(loss),
        held_out_loss=None if held_out is None else tuple(held_out),
    )


def panels(figure):
    return [axes for axes in figure.axes if axes.get_visible()]


def means(axes, kind):
    """Steps and losses of the thick line of a kind."""
    (line,) = [
        line
        for line in axes.lines
        if line.get_color() == LOSS_COLOURS[kind] and line.get_linestyle() != "None"
    ]
    return list(line.get_xdata()), list(line.get_ydata())


def networks(axes, kind):
    """Losses of the thin lines of a kind."""
    return [
        segment[:, 1].tolist()
        for found in axes.collections
        if isinstance(found, LineCollection) and to_hex(found.get_color()[0]) == LOSS_COLOURS[kind]
        for segment in found.get_segments()
    ]


def test_a_panel_per_stage_a_thin_line_per_network_and_a_thick_one_for_the_mean():
    log = TrainingLog(
        (
            curve("sparse", loss=[4.0, 2.0, 1.0], held_out=[5.0, 3.0, 4.0]),
            curve("sparse", loss=[6.0, 4.0, 3.0], held_out=[5.0, 4.0, 2.0], seed=1),
            curve("mc", loss=[1.0, 0.5]),
        )
    )
    figure = training_figure(log)
    sparse, mc = panels(figure)
    assert [axes.get_title() for axes in (sparse, mc)] == ["sparse", "mc"]
    assert networks(sparse, TRAINING) == [[4.0, 2.0, 1.0], [6.0, 4.0, 3.0]]
    assert networks(sparse, HELD_OUT) == [[5.0, 3.0, 4.0], [5.0, 4.0, 2.0]]
    assert means(sparse, TRAINING) == ([10, 20, 30], [5.0, 3.0, 2.0])
    assert means(sparse, HELD_OUT) == ([10, 20, 30], [5.0, 3.5, 3.0])
    assert networks(mc, HELD_OUT) == []
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["training", "held out"]


def test_points_say_which_weights_were_kept():
    log = TrainingLog(
        (
            curve(loss=[4.0, 2.0, 1.0], held_out=[5.0, 3.0, 4.0]),
            curve(loss=[4.0, 2.0, 1.0], held_out=[5.0, 3.0, 2.0], seed=1),
        )
    )
    (axes,) = panels(training_figure(log))
    points = [line for line in axes.lines if line.get_marker() == "o"]
    assert [(int(p.get_xdata()[0]), float(p.get_ydata()[0])) for p in points] == [(20, 3), (30, 2)]


def test_without_held_out_episodes_there_is_no_word_of_them():
    figure = training_figure(TrainingLog((curve(loss=[2.0, 1.0]),)))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["training"]


def test_networks_that_stopped_earlier_count_where_they_were():
    log = TrainingLog((curve(loss=[4.0, 2.0, 1.0]), curve(loss=[6.0], seed=1)))
    (axes,) = panels(training_figure(log))
    assert means(axes, TRAINING) == ([10, 20, 30], [5.0, 2.0, 1.0])


@pytest.mark.parametrize(
    ("loss", "scale"),
    [([1.0, 0.5, 0.1], "linear"), ([1.0, 0.1, 0.01], "log"), ([1.0, 0.01, 0.0], "linear")],
)
def test_losses_that_fall_far_are_shown_on_a_log_scale(loss, scale):
    (axes,) = panels(training_figure(TrainingLog((curve(loss=loss),))))
    assert axes.get_yscale() == scale
    FigureCanvasAgg(axes.get_figure()).draw()
    low, high = axes.get_ylim()
    assert low <= min(loss)
    assert high >= max(loss)


def test_one_step_is_a_point():
    (axes,) = panels(training_figure(TrainingLog((curve(loss=[1.0]),))))
    assert axes.lines[0].get_marker() == "o"


def test_any_log_can_be_drawn(tmp_path):
    names = [f"stage {number}" for number in range(7)]
    logs = {
        "none": TrainingLog(()),
        "many": TrainingLog(tuple(curve(name, loss=[1.0, 0.5]) for name in names)),
        "never learned": TrainingLog((curve(loss=[1.0, np.inf, np.nan]),)),
    }
    for name, log in logs.items():
        assert len(save_figure(training_figure(log), tmp_path / name)) == 2
    assert len(panels(training_figure(logs["many"]))) == 7

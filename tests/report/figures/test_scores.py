"""Figures: what is drawn, that nothing overlaps, that files are whole and always the same."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from PIL import Image

from goalward.looks import METHOD_COLOURS, looks_of
from goalward.metrics.score import Interval, Score
from goalward.metrics.scores.calibration import calibration
from goalward.metrics.scores.card import CardRow
from goalward.metrics.scores.table import SCORES, scores_shown
from goalward.metrics.uncertainty.intervals import over_seeds
from goalward.metrics.uncertainty.significance import method_tests
from goalward.report.figures.scores import (
    SizePoint,
    metric_bars,
    reliability_figure,
    save_figure,
    success_failure_scatter,
)

PAPER = scores_shown("paper")
METHODS = ("liveness", "liveness-nb", "td", "mc", "mc-dist", "survival")


def row(*values):
    scores = tuple(
        Score(value) if value is not None else Score(None, "no episode succeeded")
        for value in values
    )
    return CardRow(scores, over_seeds(scores), Interval(0.0, 1.0))


def random_cards(names, metrics, seed=0):
    rng = np.random.default_rng(seed)
    scale = {metric: 40.0 if SCORES[metric].unit == "steps" else 1.0 for metric in metrics}
    return {n: {m: row(*(scale[m] * rng.random(3)).tolist()) for m in metrics} for n in names}


def bars_of(axes):
    return [patch for patch in axes.patches if patch.get_height() != 0]


def all_axes(figure):
    return [axes for axes in figure.get_axes() if axes.get_visible()]


def drawn_tick_labels(axes):
    """Those within the axes; matplotlib keeps some beyond."""
    low, high = axes.get_xlim()
    ticks = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
    return [label for tick, label in ticks if low <= tick <= high and label.get_text()]


def assert_no_overlap(figure):
    """Neither names of groups nor letters nor legends lie on each other, nor outside."""
    FigureCanvasAgg(figure).draw()
    texts = [label for axes in all_axes(figure) for label in drawn_tick_labels(axes)]
    texts += [t for axes in all_axes(figure) for t in axes.texts if t.get_text()]
    texts += [t for legend in figure.legends for t in legend.get_texts()]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    for (one, a), (other, b) in combinations(boxes, 2):
        assert not a.overlaps(b), (one, other)
    for text, box in boxes:
        assert figure.bbox.contains(box.x0 + 1, box.y0 + 1), text
        assert figure.bbox.contains(box.x1 - 1, box.y1 - 1), text


def test_a_bar_per_method_and_metric_with_its_deviation_and_letter():
    cards = {
        "liveness": {"success": row(0.9, 0.92, 0.94), "failure": row(0.5, 0.5, 0.53)},
        "td": {"success": row(0.5, 0.52, 0.54), "failure": row(None, None, None)},
    }
    scores = {name: [s.value for s in card["success"].by_seed] for name, card in cards.items()}
    kinds = {name: SCORES[name] for name in ("success", "failure")}
    figure = metric_bars(cards, kinds, {"success": method_tests(scores)})
    (axes,) = all_axes(figure)
    assert [bar.get_height() for bar in bars_of(axes)] == pytest.approx([0.92, 0.52, 0.51])
    assert [to_hex(bar.get_facecolor()) for bar in bars_of(axes)] == [
        METHOD_COLOURS["liveness"],
        METHOD_COLOURS["td"],
        METHOD_COLOURS["liveness"],
    ]
    ends = [line.get_segments()[0][:, 1].tolist() for line in axes.collections]
    assert ends[0] == pytest.approx([0.90, 0.94])
    assert [text.get_text() for text in axes.texts] == ["a", "b", "", "n.d."]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["success", "failure"]
    assert_no_overlap(figure)


@pytest.mark.parametrize("names", [METHODS[:1], METHODS[:5], METHODS])
@pytest.mark.parametrize("kinds", [PAPER, SCORES])
def test_bars_never_overlap(names, kinds):
    cards = random_cards(names, kinds)
    tests = {}
    if len(names) > 1:
        for metric in kinds:
            scores = {n: [s.value for s in c[metric].by_seed] for n, c in cards.items()}
            tests[metric] = method_tests(scores)
    figure = metric_bars(cards, kinds, tests)
    assert sum(len(bars_of(axes)) for axes in all_axes(figure)) == len(names) * len(kinds)
    assert figure.get_figwidth() <= 7.2
    assert_no_overlap(figure)


def test_steps_stand_apart_from_scores():
    kinds = {name: SCORES[name] for name in ("setback_in_other", "success")}
    figure = metric_bars(random_cards(["td"], kinds), kinds)
    assert [axes.get_ylabel() for axes in all_axes(figure)] == ["score", "steps"]


def test_encoders_have_colours_that_no_method_has():
    cards = random_cards(["siglip2", "clip", "dinov2"], PAPER)
    (axes,) = all_axes(metric_bars(cards, PAPER))
    colours = [to_hex(bar.get_facecolor()) for bar in bars_of(axes)[:3]]
    assert len(set(colours)) == 3
    assert not set(colours) & set(METHOD_COLOURS.values())


def test_every_name_has_a_look_of_its_own():
    names = [*METHOD_COLOURS, *(f"mine {i}" for i in range(12))]
    assert len(set(looks_of(names).values())) == len(names)


def test_success_against_failure():
    points = [
        SizePoint("td", 50, row(0.5, 0.6).over_seeds, row(0.8, 0.9).over_seeds),
        SizePoint("td", 200, row(0.7, 0.8).over_seeds, row(0.9, 0.9).over_seeds),
        SizePoint("mc", 50, row(0.4).over_seeds, row(0.95).over_seeds),
        SizePoint("mc", 200, row(None).over_seeds, row(0.95).over_seeds),
    ]
    figure = success_failure_scatter(points)
    (axes,) = all_axes(figure)
    marked = [line for line in axes.lines if line.get_marker() in ("o", "s")]
    placed = [(line.get_marker(), *map(float, line.get_xydata()[0])) for line in marked]
    assert placed == [
        ("o", pytest.approx(0.85), pytest.approx(0.55)),
        ("s", pytest.approx(0.9), pytest.approx(0.75)),
        ("o", pytest.approx(0.95), pytest.approx(0.4)),
    ]
    assert to_hex(marked[0].get_color()) == METHOD_COLOURS["td"]
    texts = [[text.get_text() for text in legend.get_texts()] for legend in figure.legends]
    assert texts == [["td", "mc"], ["50", "200"]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("failure metric", "success metric")
    assert_no_overlap(figure)


def test_reliability_has_a_panel_per_method():
    rng = np.random.default_rng(0)
    predicted = rng.random(400)
    observed = (rng.random(400) < predicted).astype(float)
    found = calibration(predicted, observed, np.repeat(np.arange(20), 20))
    nothing = calibration(np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64))
    figure = reliability_figure({"td": found, "mc": nothing, "liveness": found, "mine": found})
    panels = all_axes(figure)
    error = f"calibration error {found.expected_error}"
    titles = [axes.get_title().split("\n") for axes in panels]
    assert titles == [["td", error], ["mc", "not defined"], ["liveness", error], ["mine", error]]
    assert [len(axes.patches) for axes in panels] == [10, 0, 10, 10]
    curve = panels[0].lines[-1].get_xydata()
    assert curve[:, 1].tolist() == pytest.approx([b.observed for b in found.bins])


def test_files_are_the_same_every_time(tmp_path):
    cards = random_cards(METHODS, PAPER)
    first = save_figure(metric_bars(cards, PAPER), tmp_path / "size 1.5")
    second = save_figure(metric_bars(cards, PAPER), tmp_path / "again")
    assert [path.name for path in first] == ["size 1.5.png", "size 1.5.svg"]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
    with Image.open(first[0]) as picture:
        assert picture.size[0] >= 700
        assert picture.getpixel((1, 1))[:3] == (255, 255, 255)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "again.png",
        "again.svg",
        "size 1.5.png",
        "size 1.5.svg",
    ]


def test_names_in_any_alphabet_and_with_signs(tmp_path):
    cards = random_cards(["$x_1$", "_y", "折叠毛巾", "long " * 20], PAPER)
    figure = metric_bars(cards, PAPER)
    save_figure(figure, tmp_path / "names")
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == [r"\$x_1\$", " _y", "折叠毛巾", "long long long long lon…"]

"""Methods against the truth on paper: literal tables, what the figure draws, what the words say."""

import csv
import io
import math
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import goalward
from goalward.metrics.score import Interval, Score
from goalward.metrics.truth.card import truth_card
from goalward.metrics.truth.clock_end import ClockEndTruth
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.metrics.truth.known_frames import known_frames
from goalward.report.figures.truth import truth_figure
from goalward.report.words.rendering import spans_markdown
from goalward.report.words.truth import truth_paragraphs
from goalward.report.words.truth_table import chance_table, truth_csv, value_table
from goalward.values.made_chances import chances_of_values
from goalward.values.table import ValueTable

INF = math.inf
DISCOUNT = 0.5
CAP = 8


def card_of(steps_by_method, num_episodes=12, num_seeds=2, branches=None):
    """One frame each of episodes that succeed (K = 1, 1, 3, 3) or time out (K = 3 or never).

    `steps_by_method` maps a method to the steps it predicts for successes and for the others.
    """
    success = [i % 2 == 0 for i in range(num_episodes)]
    arrays = [np.zeros((4, 1), np.float32)] * num_episodes
    rollouts = goalward.from_arrays(arrays, success=success)
    rows = [[1, 1, 3, 3] if good else [3, 3, INF, INF] for good in success]
    truth = FrameTruth(
        rollouts.ids, np.zeros(num_episodes, dtype=np.int64), np.array(rows, dtype=float), CAP
    )
    if branches is not None:
        truth = FrameTruth(
            truth.episode_ids, truth.frame_indices, truth.steps[:, :branches], truth.cap
        )
    steps = np.zeros((len(steps_by_method), num_seeds, 4 * num_episodes), dtype=np.float32)
    for m, pair in enumerate(steps_by_method.values()):
        for episode, good in enumerate(success):
            # A little apart, so that episodes and seeds vary.
            nudge = 0.001 * episode + 0.0005 * np.arange(num_seeds)
            steps[m, :, 4 * episode] = pair[0 if good else 1] + nudge
    values = ValueTable(
        methods=tuple(steps_by_method),
        seeds=tuple(range(num_seeds)),
        episode_ids=rollouts.ids,
        episode_tasks=("",) * num_episodes,
        episode_ends=4 * np.arange(1, num_episodes + 1),
        raw_value=np.zeros_like(steps),
        steps_to_goal=steps,
    )
    known = known_frames(truth, rollouts, np.ones(num_episodes, dtype=bool))
    chances = chances_of_values(values, np.arange(13))
    return truth_card(values, chances, known, discount=DISCOUNT, standard_horizon=2)


# True values 3/8 and 7/8; 1 - 2 * (1/2)^k of k = 2: 1/2, of k = 4: 7/8, of k = 1: 0.
TWO = {"td": (2, 4), "mc_2": (1, 1)}


def test_value_table_by_the_letter():
    text = value_table(card_of(TWO)).markdown()
    head, _, td, mc, perfect, _, notes = text.splitlines()[:7]
    assert head == (
        "| method | bias | MAE ↓ | bias, success | MAE, success ↓ | bias, time-out "
        "| MAE, time-out ↓ | RMSE less noise | Spearman | Pearson |"
    )
    assert td.startswith("| td | 0.064 ± 0.0")
    assert "| **0.064 ± 0.0" in td
    assert mc.startswith("| mc\\_2 | −0.6")  # noqa: RUF001
    # Of four numbers half a unit apart: a standard error of 0.25 / sqrt(3); sqrt(2 / pi) of it.
    noise = math.sqrt(2 / math.pi) * (0.375 / math.sqrt(3) + 0.125 / math.sqrt(3)) / 2
    assert perfect.startswith(f"| perfect | 0.000 | {noise:.3f} | 0.000 |")
    assert notes.startswith("12 frames of 12 episodes, discount 0.5. A bias above 0 is too pess")
    assert "a mean over 4 futures" in notes
    assert "Methods without a common letter" in notes


def test_letters_tell_methods_apart():
    cells = dict(value_table(card_of(TWO)).rows)
    assert (cells["td"][1].mark, cells["mc_2"][1].mark) == ("a", "b")
    assert cells["td"][1].is_best
    assert not cells["mc_2"][1].is_best


def test_latex_has_a_row_per_method_and_one_for_perfection():
    text = value_table(card_of(TWO)).latex()
    assert r"mc\_2 & $" in text
    assert text.count(r" \\") == 4


def test_chances_are_biased_the_other_way():
    table = chance_table(card_of(TWO))
    assert table.columns[2:4] == ("bias, 2 steps", "MAE, 2 steps ↓")
    cells = dict(table.rows)
    # Within 2 steps: half of the futures of successes, none of the others; mc_2 says all, td says
    # none but the first frame by the first seed, as its steps lie a little above 2.
    assert cells["mc_2"][2].mean == pytest.approx(0.75)
    assert cells["td"][2].mean == pytest.approx(-0.25 + 1 / 24)
    assert "too optimistic" in table.markdown()


def test_csv_has_every_figure_once():
    rows = list(csv.DictReader(io.StringIO(truth_csv(card_of(TWO)))))
    keys = [(row["method"], row["frames_of"], row["quantity"]) for row in rows]
    assert len(set(keys)) == len(keys)
    # Value, three horizons of two errors each, two correlations, the root; two methods, and noise.
    # Then the Brier scores of both, and that of the base rate.
    assert len(rows) == 3 * (2 * (2 + 2 * 4 + 2 + 1) + 1) + 3
    found = next(row for row in rows if row["quantity"] == "value_bias")
    assert found["method"] == "td"
    assert float(found["low"]) < float(found["mean"]) < float(found["high"])


def said(card):
    return "\n".join(spans_markdown(one.words) for one in truth_paragraphs(card))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("num_methods", [1, 2, 5])
def test_a_point_per_frame_and_a_panel_per_method(num_methods):
    card = card_of({f"method {i}": (i, 4) for i in range(num_methods)})
    figure = truth_figure(card)
    FigureCanvasAgg(figure).draw()
    panels = [axes for axes in figure.get_axes() if axes.get_visible()]
    assert len(panels) == num_methods
    points = [line for line in panels[0].lines if line.get_marker() == "o"]
    true = np.concatenate([line.get_ydata() for line in points])
    assert sorted(true) == pytest.approx([0.375] * 6 + [0.875] * 6)
    assert len(points[0].get_xdata()) == 6
    assert "bias " in panels[0].get_title()


def test_words_name_the_closest_and_those_it_beats():
    text = said(card_of({**TWO, "mc": (2, 4.001)}))
    assert text.startswith(
        "A simulator was put back into 12 frames of 12 held-out episodes, and the policy ran on "
        "from each 4 times, for up to 8 steps."
    )
    assert "`td` is **closest to the truth**" in text
    assert "a perfect prediction would show 0.12" in text
    assert "It is nearer than `mc` (0.06), `mc_2` (0.62) (paired tests" in text
    assert "The values of `td` are too pessimistic on average (+0.06" in text
    assert "From frames of timed-out episodes 50 % (40 % to 60 %) of the futures" in text


def test_chances_against_who_does_not_look():
    """A quarter of the futures is there within 2 steps; mc_2 always says so, td hardly ever.

    td says a half of the first episode, of whose futures a half is there, and never else: over 12
    episodes (1/4 + 5 * 1/2) / 12. mc_2: 3/4.
    """
    card = card_of(TWO)
    assert card.base_rate_brier.value == pytest.approx(3 / 16)
    text = said(card)
    assert "within 2 steps, against what these futures came to (Brier score, less is" in text
    assert "`td` 0.229, `mc_2` 0.750; always saying the share that succeeds 0.188." in text
    table = chance_table(card)
    assert table.columns[-2] == "Brier, 2 steps"
    assert dict(table.rows)["td"][-2].mean == pytest.approx(0.22916667)
    assert "always saying the share of them that succeed has 0.188." in table.markdown()
    rows = list(csv.DictReader(io.StringIO(truth_csv(card))))
    found = {row["method"]: row["mean"] for row in rows if row["quantity"] == "brier"}
    assert found == {"base rate": "0.1875", "td": "0.229167", "mc_2": "0.75"}


def test_where_the_clock_ran_out_words_table_and_csv_have_one_number():
    card = card_of(TWO)
    late = ClockEndTruth(24, Score(0.5), Interval(0.4, 0.6), {"td": Score(0.62), "mc_2": Score(0)})
    card = replace(card, clock_end=late)
    assert (
        "Of 24 episodes that timed out, put back to where the clock ran out and given it again, "
        "50 % (40 % to 60 %) of the futures reach the goal. Expected: `td` 62 %, `mc_2` 0 %."
    ) in said(card)
    assert "From frames of timed-out" not in said(card)
    table = chance_table(card)
    assert table.columns[-1] == "share at the clock's end"
    cells = {name: row[-1].mean for name, row in table.rows}
    assert cells == {"td": 0.62, "mc_2": 0, "perfect": 0.5}
    rows = list(csv.DictReader(io.StringIO(truth_csv(card))))
    found = {row["method"]: row["mean"] for row in rows if row["quantity"] == "share_at_goal"}
    assert found == {"perfect": "0.5", "td": "0.62", "mc_2": "0"}


def test_words_do_not_claim_what_is_not_known():
    """Two methods whose errors are as large, turned over from episode to episode."""
    card = card_of({"td": (2, INF), "mc": (3, 4)}, num_episodes=2)
    text = said(card)
    assert "nearer than" not in text
    assert "not told apart from" in text
    alone = said(card_of({"td": (2, 4)}))
    assert "The values of `td` are off by 0.06" in alone
    assert "closest" not in alone


def test_a_single_future_leaves_the_noise_unknown():
    card = card_of(TWO, branches=1)
    assert "perfect prediction" not in said(card)
    assert "not defined: a frame has one future only" in value_table(card).markdown()


def test_one_episode_has_neither_intervals_nor_tests():
    card = card_of(TWO, num_episodes=1)
    text = said(card)
    assert "no interval: an interval over episodes needs at least two" in text
    assert "Whether it really is nearer than the others is not known" in text
    value_table(card).markdown()

"""Losses as a page draws them: the mean of all networks, some of their lines, what was kept."""

import json

import pytest

from goalward.report.pages.training import MOST_LINES, training_stages
from goalward.values.training_log import LossCurve, TrainingLog


def curve(stage, seed, steps, loss, held_out=None):
    return LossCurve(stage, seed, "", "", None, 8, steps, loss, held_out)


def test_stages_have_the_mean_of_their_networks_and_a_line_for_each():
    log = TrainingLog(
        (
            curve("sparse", 0, (10, 20), (0.8, 0.4), (0.6, 0.9)),
            curve("sparse", 1, (10, 20), (0.4, 0.2), (0.8, 0.7)),
            curve("mc", 0, (10, 20), (3.0, 1.0)),
        )
    )
    sparse, mc = training_stages(log)
    assert (sparse["name"], sparse["num_networks"]) == ("sparse", 2)
    training, held_out = sparse["losses"]
    assert (training["kind"], held_out["kind"]) == ("training", "held out")
    assert (training["steps"], training["mean"]) == ([10, 20], [0.6, 0.3])
    assert training["networks"] == [((10, 20), [0.8, 0.4]), ((10, 20), [0.4, 0.2])]
    assert training["colours"]["light"] != held_out["colours"]["light"]
    assert held_out["mean"] == [0.7, 0.8]
    assert sparse["kept"] == [(10, 0.6), (20, 0.7)]
    assert (mc["name"], len(mc["losses"]), mc["kept"]) == ("mc", 1, [])


def test_networks_that_were_looked_at_at_other_steps_count_where_they_were():
    log = TrainingLog((curve("mc", 0, (10, 30), (0.8, 0.4)), curve("mc", 1, (20, 30), (0.5, 0.2))))
    (losses,) = training_stages(log)[0]["losses"]
    assert losses["steps"] == [10, 20, 30]
    assert losses["mean"] == [0.8, 0.5, pytest.approx(0.3)]
    assert losses["networks"] == [((10, 30), [0.8, 0.4]), ((20, 30), [0.5, 0.2])]


def test_a_network_that_went_astray_does_not_take_the_page_along():
    log = TrainingLog(
        (
            curve("mc", 0, (10, 20), (1.0, float("inf"))),
            curve("mc", 1, (10, 20), (3.0, float("nan"))),
        )
    )
    stages = training_stages(log)
    assert stages[0]["losses"][0]["mean"] == [2.0, None]
    assert json.dumps(stages, allow_nan=False)


def test_of_many_networks_some_are_drawn_and_all_are_counted():
    log = TrainingLog(tuple(curve("mc", seed, (10,), (float(seed),)) for seed in range(1000)))
    stage = training_stages(log)[0]
    (losses,) = stage["losses"]
    assert len(losses["networks"]) == MOST_LINES
    assert [losses["networks"][i][1] for i in (0, -1)] == [[0.0], [999.0]]
    assert losses["mean"] == [499.5]
    assert stage["num_networks"] == 1000


def test_a_log_without_networks_has_no_stages():
    assert training_stages(TrainingLog(())) == []

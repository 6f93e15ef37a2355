"""Grids of runs: each cell is the run it says, and a kill in the middle changes nothing."""

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

import goalward
from goalward.experiments.grid import Grid, chances_file, run_grid
from goalward.experiments.results import (
    ResultRow,
    Results,
    differences_between,
    read_results,
)
from goalward.metrics.score import Score
from goalward.metrics.scores.paper_metrics import paper_metrics
from goalward.metrics.scores.table import scores_by_seed
from goalward.training.progress import Pace
from goalward.values.chances import read_chances
from goalward.values.fit import fit
from goalward.values.fitted import load

SMALL = {"width": 8, "num_layers": 2, "num_steps": 12, "batch_size": 16, "learning_rate": 1e-3}
GRID = Grid(
    methods=("liveness", "mc"),
    seeds=(0, 3),
    sizes=(4, 8),
    encoders=("one", "two"),
    standard_horizon=6,
    preset="default",
    overrides=SMALL,
)
EVERY_BATCH = Pace(report_s=0.0, save_s=0.0)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Networks this small are slower on two threads, and results must not depend on them."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def features_of(encoder):
    """Training and test episodes; features of the two encoders differ."""
    rng = np.random.default_rng(len(encoder) + ord(encoder[0]))
    sides = []
    for num_episodes in (12, 6):
        lengths = rng.integers(6, 12, num_episodes)
        features = [rng.normal(size=(n, 3)).astype(np.float32) for n in lengths]
        success = [index % 2 == 0 for index in range(num_episodes)]
        sides.append(goalward.from_arrays(features, success=success))
    return sides[0], sides[1]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A grid that ran without a break: its folder and its results."""
    folder = tmp_path_factory.mktemp("grid")
    return folder, run_grid(GRID, features_of, folder, device="cpu", pace=EVERY_BATCH)


def test_every_cell_is_there_once(finished):
    _, results = finished
    cells = {(r.encoder, r.size, r.method, r.seed, r.metric) for r in results.rows}
    assert len(results.rows) == len(cells) == 2 * 2 * 2 * 2 * len(scores_by_seed())
    assert results.encoders == ("one", "two")
    assert results.sizes == (4, 8)
    assert results.methods == ("liveness", "mc")


def test_a_cell_is_the_run_it_says(finished):
    """Methods and sizes beside it leave a run as it is: a fit of that subset alone scores alike."""
    folder, results = finished
    train, test = features_of("two")
    sample = train.balanced(8)
    positions = [train.ids.index(episode_id) for episode_id in sample.ids]
    alone = fit(train, "mc", seeds=[3], subsets={"8": positions}, device="cpu", **SMALL)
    values = alone.predict(test, subset="8", device="cpu").raw_values("mc")[0]
    together = load(folder / "networks" / "two").predict(test, subset="8", device="cpu")
    np.testing.assert_allclose(together.raw_values("mc")[1], values, atol=1e-6)

    steps = alone.predict(test, subset="8", device="cpu").steps("mc")[0].astype(np.float64)
    scores = paper_metrics(steps, test.endings, 6)
    found = {
        row.metric: row.score.value
        for row in results.rows
        if (row.encoder, row.size, row.method, row.seed) == ("two", 8, "mc", 3)
    }
    assert found["success"] == scores.success.value
    assert found["failure"] == scores.failure.value
    assert found["composite"] == scores.composite.value


def test_a_cell_equals_a_fit_of_the_sample_as_a_data_set_of_its_own(finished):
    folder, _ = finished
    train, test = features_of("one")
    sample = train.balanced(4)
    # What follows from the longest episode must be the same as for all of them.
    horizon = int(train.lengths.max()) - 1
    numbers = {"discount": 1 - 1.75 / horizon, "mc_normaliser": 2.0 * horizon}
    alone = fit(
        sample,
        GRID.methods,
        seeds=GRID.seeds,
        subsets={"4": range(4)},
        device="cpu",
        **SMALL,
        **numbers,
    )
    expected = alone.predict(test, subset="4", device="cpu")
    found = load(folder / "networks" / "one").predict(test, subset="4", device="cpu")
    np.testing.assert_allclose(found.raw_value, expected.raw_value, atol=1e-6)


def test_chances_are_what_the_networks_say(tmp_path):
    """Not the share of seeds that agree, which knows three numbers with two seeds."""
    grid = replace(GRID, methods=("survival",), sizes=(8,), encoders=("one",))
    run_grid(grid, features_of, tmp_path, device="cpu")
    chances = read_chances(chances_file(tmp_path, "one", 8))
    assert chances.says_chances("survival")
    _, test = features_of("one")
    fitted = load(tmp_path / "networks" / "one")
    expected = fitted.chance_table(test, chances.num_steps, subset="8", device="cpu")
    np.testing.assert_array_equal(chances.within, expected.within)
    assert GRID.standard_horizon in chances.num_steps


KILLED = """
import os, signal, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
sys.path.insert(0, {tests!r})
import test_grid

calls = 0
def kill_in_the_second(encoder, progress):
    global calls
    calls += encoder == "two"
    if calls == 4:
        os.kill(os.getpid(), signal.SIGKILL)

test_grid.run_grid(
    test_grid.GRID, test_grid.features_of, Path({folder!r}), device="cpu",
    on_progress=kill_in_the_second, pace=test_grid.EVERY_BATCH,
)
"""


def test_goes_on_after_a_kill_with_identical_results(finished, tmp_path):
    whole, _ = finished
    code = KILLED.format(tests=str(Path(__file__).parent), folder=str(tmp_path))
    killed = subprocess.run([sys.executable, "-c", code], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert read_results(tmp_path / "results.parquet").encoders == ("one",)
    assert (tmp_path / "networks" / "two" / "progress.safetensors").is_file()

    heard: dict[str, list] = {"one": [], "two": []}
    run_grid(
        GRID,
        features_of,
        tmp_path,
        device="cpu",
        on_progress=lambda encoder, progress: heard[encoder].append(progress),
        pace=EVERY_BATCH,
    )
    assert heard["one"] == [None]
    assert 0 < heard["two"][0].steps < heard["two"][0].total_steps
    assert heard["two"][0].steps > SMALL["num_steps"]
    assert (tmp_path / "results.parquet").read_bytes() == (whole / "results.parquet").read_bytes()
    again, before = (f / "networks/two/nets-0.safetensors" for f in (tmp_path, whole))
    assert again.read_bytes() == before.read_bytes()
    assert not (tmp_path / "networks" / "two" / "progress.safetensors").exists()


def with_a_number_changed(rollouts):
    features = rollouts.features.copy()
    features[-1, -1] += 1e-3
    return rollouts.with_features(features)


def with_a_label_changed(rollouts):
    *others, last = rollouts
    assert last.goal_frame is None
    last = replace(last, outcome=goalward.Outcome.FAILURE)
    return goalward.Rollouts([*others, last], features=rollouts.features)


@pytest.mark.parametrize(
    ("change", "grid"),
    [
        (lambda train, test: (with_a_number_changed(train), test), GRID),
        (lambda train, test: (train, with_a_number_changed(test)), GRID),
        (lambda train, test: (with_a_label_changed(train), test), GRID),
        (lambda train, test: (train, test), replace(GRID, standard_horizon=7)),
        (lambda train, test: (train, test), replace(GRID, seeds=(0, 4))),
        (lambda train, test: (train, test), replace(GRID, sizes=(4, 6))),
        (lambda train, test: (train, test), replace(GRID, overrides={**SMALL, "width": 9})),
    ],
)
def test_other_inputs_are_noticed(change, grid):
    train, test = features_of("one")
    assert grid.digest(*change(train, test)) != GRID.digest(train, test)


def test_the_same_inputs_are_known_again():
    again = replace(GRID, overrides=dict(reversed(SMALL.items())))
    assert again.digest(*features_of("one")) == GRID.digest(*features_of("one"))


def test_only_what_changed_is_done_again(finished, tmp_path):
    _, results = finished
    results.write(tmp_path / "results.parquet")
    heard: dict[str, list] = {"one": [], "two": []}

    def changed(encoder):
        train, test = features_of(encoder)
        return (train, with_a_number_changed(test)) if encoder == "two" else (train, test)

    again = run_grid(
        GRID,
        changed,
        tmp_path,
        device="cpu",
        on_progress=lambda encoder, progress: heard[encoder].append(progress),
    )
    assert heard["one"] == [None]
    assert None not in heard["two"]
    assert again.of("one") == results.of("one")
    assert again.of("two").inputs != results.of("two").inputs
    assert read_results(tmp_path / "results.parquet") == again


def test_a_score_that_is_not_defined_is_null_with_its_reason(tmp_path):
    train, test = features_of("one")
    losses = test.where(outcome=goalward.Outcome.TIME_OUT)
    grid = replace(GRID, encoders=("one",), sizes=(4,), methods=("mc",), seeds=(0,))
    run_grid(grid, lambda _: (train, losses), tmp_path, device="cpu")
    table = pq.read_table(tmp_path / "results.parquet")
    assert table.column_names == ["encoder", "size", "method", "seed", "metric", "value", "reason"]
    by_metric = {row["metric"]: row for row in table.to_pylist()}
    assert by_metric["success"]["value"] is None
    assert by_metric["success"]["reason"] == "no episode succeeded"
    assert 0 <= by_metric["failure"]["value"] <= 1
    assert by_metric["failure"]["reason"] == ""


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"methods": ("live",)}, "no method 'live'; methods: liveness"),
        ({"methods": ()}, "methods must be one or more"),
        ({"seeds": (1, 1)}, "seeds must be one or more, all different"),
        ({"sizes": (5,)}, "half of the training episodes are successes: 5 is no even number"),
        ({"preset": "cups"}, "no preset 'cups'"),
        ({"overrides": {"widht": 8}}, "no hyper-parameter widht"),
        ({"standard_horizon": 0}, "standard_horizon must be at least 1"),
    ],
)
def test_wrong_grids_say_what_is_right(wrong, message):
    with pytest.raises(goalward.GoalwardError, match=message):
        replace(GRID, **wrong)


def test_too_few_episodes_for_a_size(tmp_path):
    with pytest.raises(goalward.GoalwardError, match="a balanced sample of 14 needs 7 successes"):
        run_grid(replace(GRID, sizes=(14,)), features_of, tmp_path, device="cpu")


def results_of(**scores):
    return Results(
        tuple(
            ResultRow(
                "e",
                4,
                name,
                seed,
                "success",
                Score(value) if value is not None else Score(None, "nothing there"),
            )
            for name, values in scores.items()
            for seed, value in enumerate(values)
        )
    )


def test_cards_are_over_seeds():
    card = results_of(td=[0.5, 0.6, 0.7]).cards("e", 4)["td"]["success"]
    assert card.over_seeds.mean.value == pytest.approx(0.6)
    assert card.over_seeds.standard_deviation.value == pytest.approx(0.1)
    assert results_of(td=[0.5]).encoder_cards("td", 4)["e"]["success"].by_seed == (Score(0.5),)


def test_only_scores_that_every_seed_has_are_tested():
    results = results_of(
        liveness=[0.9, 0.91, 0.92], td=[0.1, 0.11, 0.12], mc=[0.5, None, 0.5], inf=[np.inf] * 3
    )
    tests = differences_between(results.cards("e", 4), ["success"])
    assert tests["success"].names == ("liveness", "td")
    assert tests["success"].pair("td", "liveness").differs
    assert differences_between(results_of(a=[0.1], b=[0.2]).cards("e", 4), ["success"]) == {}


def test_files_that_hold_no_results(tmp_path):
    path = tmp_path / "results.parquet"
    path.write_text("text")
    with pytest.raises(goalward.GoalwardError, match="results.parquet: cannot be read"):
        read_results(path)

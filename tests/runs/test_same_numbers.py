"""What came out of version 0.1.0 comes out now: values, scores, events and exports.

`stored_run_0_1_0` is what version 0.1.0 left of

    goalward evaluate demo --cameras '' --out run --methods liveness,td,mc-dist,survival \\
        --seeds 2 --folds 2 --set width=16 --set num_layers=2 --set num_steps=200 \\
        --set batch_size=128

and of its exports.
"""

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import goalward
from goalward.config import EvaluationConfig
from goalward.metrics.evaluation_scores import steps_of_chances
from goalward.metrics.scores.table import SCORES
from goalward.metrics.truth.frame_truth import read_truth
from goalward.rollouts.embedded import located
from goalward.run_folder import RunFolder
from goalward.runs.folder.stored import read_episodes, write_run
from goalward.runs.results import common_discount, judge
from goalward.runs.run import Run
from goalward.runs.settings import RunData, RunEpisode, RunSettings
from goalward.values.hindsight import HindsightChoice, with_hindsight
from goalward.values.made_chances import chances_of_values
from goalward.values.table import ValueTable

STORED = Path(__file__).parent / "stored_run_0_1_0"
METHODS = ("liveness", "td", "mc-dist", "survival")
TINY = {"width": 16, "num_layers": 2, "num_steps": 200, "batch_size": 128}
OPTIONS = {"methods": METHODS, "seeds": 2, "folds": 2, "reading": {"cameras": ()}, **TINY}


@pytest.fixture(scope="module")
def old_scores():
    return json.loads((STORED / "scores.json").read_text())


def old_values() -> ValueTable:
    """The table of values as version 0.1.0 wrote it, where a raw value was called value."""
    table = pq.read_table(STORED / "values.parquet")
    shape = (len(METHODS), 2, table.num_rows // (len(METHODS) * 2))
    episodes = read_episodes(STORED / "episodes.csv")
    return ValueTable(
        methods=METHODS,
        seeds=(0, 1),
        episode_ids=tuple(episode.id for episode in episodes),
        episode_tasks=tuple(episode.task for episode in episodes),
        episode_ends=np.cumsum([episode.num_frames for episode in episodes]),
        raw_value=table["value"].to_numpy().reshape(shape),
        steps_to_goal=table["steps_to_goal"].to_numpy().reshape(shape),
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    """A run of the stored values, judged now."""
    rollouts = goalward.read("demo")
    config = EvaluationConfig(policy="demo", methods=METHODS, seeds=2, folds=2, overrides=TINY)
    values = old_values()
    discount = common_discount(config, int(rollouts.lengths.max()) - 1)
    values = with_hindsight(values, rollouts.endings, discount, decay=0.98)
    truth = read_truth(located("demo") / "truth.parquet")
    everything = np.ones(len(rollouts), dtype=bool)
    chosen = HindsightChoice(reason="none")
    # Version 0.1.0 took the share of seeds that agree for a chance.
    chances = chances_of_values(values, steps_of_chances(rollouts.endings, None))
    results, events = judge(
        values, chances, rollouts, everything, config, hindsight=chosen, truth=truth
    )
    episodes = tuple(
        RunEpisode(e.id, e.task, e.outcome, e.num_frames, e.goal_frame, "fold") for e in rollouts
    )
    found = Run(
        folder=RunFolder(tmp_path_factory.mktemp("run")),
        settings=RunSettings(config, RunData(path="demo")),
        episodes=episodes,
        values=values,
        chances=chances,
        events=dict(zip(rollouts.ids, events, strict=True)),
        results=results,
    )
    write_run(found)
    return goalward.open_run(found.folder.path)


def test_scores(run, old_scores):
    for method in METHODS:
        card, old = run.scores.cards[method], old_scores["methods"][method]
        for name, row in card.items():
            if SCORES[name].of_chances:
                continue
            by_seed = [score.value for score in row.by_seed]
            assert by_seed == pytest.approx(old[name]["by_seed"], abs=1e-9)
            assert row.over_seeds.mean.value == pytest.approx(old[name]["mean"], abs=1e-9)
            assert row.interval.low == pytest.approx(old[name]["interval"].get("low"), abs=1e-9)
            assert row.interval.high == pytest.approx(old[name]["interval"].get("high"), abs=1e-9)
        brier = run.scores.calibration[method].brier.value
        assert brier == pytest.approx(old["calibration"]["brier"]["value"], abs=1e-9)
    for metric, tests in run.scores.tests.items():
        for pair in tests.pairs:
            old = old_scores["significance"][metric][f"{pair.first} against {pair.second}"]
            assert pair.adjusted == pytest.approx(old["p_adjusted"], abs=1e-9)
            assert pair.differs == old["differs"]


def test_answers(run, old_scores):
    policy, old = run.scores.policy, old_scores["policy"]
    assert policy.success.value == old["success_rate"]["value"]
    late = [run.episodes[one.episode].id for one in policy.more_time.late]
    assert late == [e["episode"] for e in old["time_outs"]]
    watched = [(run.episodes[w.episode].id, w.frame, w.reason) for w in policy.watch_first]
    assert watched == [(w["episode"], w["frame"], w["reason"]) for w in old["watch_first"]]


def test_truth(run, old_scores):
    old = old_scores["truth"]
    assert run.truth.discount == old["discount"]
    assert list(run.truth.closest()) == old["closest_first"]
    for method, found in run.truth.methods.items():
        for group, closeness in found.by_group.items():
            was, now = old["methods"][method][group]["value"], closeness.value
            assert now.bias.mean.value == pytest.approx(was["bias"]["value"], abs=1e-9)
            # Version 0.1.0 told the mean over seeds and, beside it, how far single seeds are off.
            single = was["absolute"]["value"]
            assert 0.9 * single < now.absolute.mean.value < single + 1e-9


def test_events(run):
    """Version 0.1.0 knew no hindsight: its events are of values, as they are now."""
    assert run.folder.events.read_bytes() == (STORED / "events.csv").read_bytes()


def numbers(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


def test_export_as_csv(run):
    path = run.export("csv")
    was, now = numbers(STORED / "exports" / "frames.csv"), numbers(path)
    kept = [now[0].index(name) for name in was[0]]
    assert [[row[column] for column in kept] for row in now] == was
    beside = path.with_name("frames_events.csv")
    assert numbers(beside) == numbers(STORED / "exports" / "frames_events.csv")


@pytest.mark.parametrize(
    ("target", "n", "file", "old"),
    [
        ("lerobot-progress", None, "", "sarm_progress.parquet"),
        ("rlinf-advantages", 10, "", "advantages.parquet"),
        ("evo-rl", 50, "data/chunk-000/file-000.parquet", "evo_rl.parquet"),
    ],
)
def test_exports_for_trainers(run, target, n, file, old):
    was = pq.read_table(STORED / "exports" / old)
    now = pq.read_table(run.export(target, n=n) / file).select(was.column_names)
    assert now.num_rows == was.num_rows
    for name in was.column_names:
        assert now[name].to_pylist() == pytest.approx(was[name].to_pylist(), abs=1e-9, nan_ok=True)


@pytest.mark.usefixtures("one_thread")
def test_values_of_a_new_training(tmp_path):
    """Bit for bit on the machine that stored them; others round differently."""
    run = goalward.evaluate("demo", tmp_path, device="cpu", report=False, **OPTIONS)
    np.testing.assert_allclose(run.values.raw_value, old_values().raw_value, atol=1e-3)
    assert [e.fold for e in run.episodes] == [
        e.fold for e in read_episodes(STORED / "episodes.csv")
    ]


def test_an_old_run_is_refused_with_the_command_that_remakes_it(tmp_path, caplog):
    shutil.copytree(STORED, tmp_path / "run")
    again = (
        "run `goalward evaluate demo --cameras '' --out run --methods .*` again, which keeps its"
    )
    with pytest.raises(goalward.GoalwardError, match=f"was written by goalward 0.1.0.*{again}"):
        goalward.open_run(tmp_path / "run")
    caplog.set_level("INFO", "goalward.runs")
    run = goalward.evaluate("demo", tmp_path / "run", device="cpu", report=False, **OPTIONS)
    # Its networks are used as they are: nothing is trained.
    assert "training: there already" in [record.getMessage() for record in caplog.records]
    np.testing.assert_allclose(run.values.raw_value, old_values().raw_value, atol=1e-5)
    assert goalward.open_run(tmp_path / "run").policy == "demo"

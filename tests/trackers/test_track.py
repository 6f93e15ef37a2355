"""Trackers are told the same by their own packages, offline: what they wrote is read back."""

import struct
import sys
import time

import numpy as np
import pytest

import goalward
from goalward.errors import GoalwardError
from goalward.experiments.recipe import find_recipe
from goalward.experiments.results import ResultRow, Results
from goalward.metrics.score import Score
from goalward.trackers.names import TRACKERS
from goalward.trackers.track import import_tracker, track
from goalward.trackers.tracked import tracked_reproduction, tracked_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    ramp = np.linspace(0, 1, 12)[:, None]
    rollouts = goalward.from_arrays([ramp, -ramp] * 8, success=[True, False] * 8)
    return goalward.evaluate(
        rollouts,
        tmp_path_factory.mktemp("tracked") / "run",
        methods=("mc", "td"),
        seeds=2,
        report=False,
        progress=False,
        width=8,
        num_layers=2,
        num_steps=40,
        batch_size=16,
    )


def test_every_score_that_is_defined_and_curves_of_every_stage(run):
    told = tracked_run(run)
    assert told.scores["policy/success_rate"] == 0.5
    for method in ("mc", "td"):
        for name, row in run.scores.cards[method].items():
            assert told.scores.get(f"{method}/{name}") == row.over_seeds.mean.value
    by_name = {curve.name: curve for curve in told.curves}
    losses = [curve.loss for curve in run.training_log().of_stage("mc")]
    assert len(losses) == 2
    assert by_name["training/mc/loss"].values == pytest.approx(np.mean(losses, axis=0))
    assert {path.suffix for path in told.figures} == {".png"}
    assert {path.name for path in told.files} == {"summary.md", "scores.json", "config.toml"}


def test_a_case_study_by_encoder_size_method_and_metric(tmp_path):
    rows = [
        ResultRow("siglip2", 50, "mc", seed, "success", Score(value))
        for seed, value in enumerate((0.5, 0.7))
    ]
    rows.append(ResultRow("siglip2", 50, "mc", 0, "failure", Score(None, "no time-outs")))
    (tmp_path / "comparison_with_paper.md").write_text("ours beside the paper's\n")
    told = tracked_reproduction(find_recipe("square"), Results(tuple(rows)), tmp_path)
    assert told.scores == {"siglip2/50/mc/success": pytest.approx(0.6)}
    assert [path.name for path in told.files] == ["comparison_with_paper.md"]


def stored_records(content):
    """The records of a .wandb file, which is a log as LevelDB has it after 7 bytes of its own."""
    block, place, parts = 1 << 15, 7, []
    while place + 7 <= len(content):
        if block - place % block < 7:
            place += block - place % block
            continue
        size, kind = struct.unpack("<HB", content[place + 4 : place + 7])
        parts.append(content[place + 7 : place + 7 + size])
        place += 7 + size
        # Whole, or the last of several parts.
        if kind in (1, 4):
            yield b"".join(parts)
            parts = []


def whole_log(folder):
    """What wandb keeps of a run; its own process may still write where cores are busy."""
    from wandb.proto import wandb_internal_pb2

    until = time.monotonic() + 60
    while True:
        (stored,) = folder.rglob("run-*.wandb")
        content, kinds = stored.read_bytes(), set()
        for found in stored_records(content):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(found)
            kinds.add(record.WhichOneof("record_type"))
        if {"artifact", "exit"} <= kinds or time.monotonic() > until:
            return content
        time.sleep(0.5)


@pytest.mark.filterwarnings("ignore")
def test_wandb_offline(run, tmp_path, monkeypatch):
    pytest.importorskip("wandb", reason="the extra wandb is not installed")
    from wandb.proto import wandb_internal_pb2

    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("WANDB_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("WANDB_DATA_DIR", str(tmp_path / "data"))
    track(run, "wandb", project="tests")
    history, summary, artefacts, project = [], {}, [], ""
    for content in stored_records(whole_log(tmp_path)):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(content)
        kind = record.WhichOneof("record_type")
        if kind == "history":
            history.append({i.key or "/".join(i.nested_key) for i in record.history.item})
        elif kind == "summary":
            summary |= {
                i.key or "/".join(i.nested_key): i.value_json for i in record.summary.update
            }
        elif kind == "artifact":
            artefacts.append({entry.path for entry in record.artifact.manifest.contents})
        elif kind == "run":
            project = record.run.project
    told = tracked_run(run)
    assert project == "tests"
    assert set().union(*history) >= {curve.name for curve in told.curves}
    assert any(name.startswith("figures/") for keys in history for name in keys)
    for name, value in told.scores.items():
        assert float(summary[name]) == pytest.approx(value)
    assert {"summary.md", "scores.json", "config.toml"} <= set().union(*artefacts)


def test_trackio(run, tmp_path, monkeypatch):
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path))
    trackio = pytest.importorskip(
        "trackio", reason="trackio asks for Pillow below 13, which constraints.txt is not"
    )
    track(run, "trackio", project="tests")
    assert trackio is sys.modules["trackio"]
    assert list(tmp_path.rglob("tests*.db"))


def test_what_is_not_installed_or_not_known_is_told(run, monkeypatch):
    for name in TRACKERS:
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(
            GoalwardError, match=rf"^tracker='{name}' needs the package {name}: pip"
        ):
            import_tracker(name)
    with pytest.raises(
        GoalwardError, match=r"^no tracker 'tensorboard'; there are wandb, trackio$"
    ):
        track(run, "tensorboard")

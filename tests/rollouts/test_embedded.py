"""The rollouts that come with the package: whole, small, balanced, some with their truth."""

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import goalward
from goalward.checksums import noted_checksums, sha256_of
from goalward.metrics.truth.frame_truth import TRUTH_FILE, read_truth
from goalward.metrics.truth.known_frames import known_frames
from goalward.rollouts.embedded import located


def test_the_demo_is_read_by_its_name():
    rollouts = goalward.read("demo", strict=True)
    assert len(rollouts) == 48
    assert int(rollouts.success.sum()) == 24
    assert len(rollouts.camera_names) == 2
    assert rollouts.warnings == ()
    episode = rollouts[0]
    assert episode.proprioception.shape[1] == 8
    for camera in rollouts.camera_names:
        first, last = episode.frame(camera, 0), episode.frame(camera, episode.num_frames - 1)
        assert first.shape == (128, 128, 3)
        # Neither black nor stale.
        assert first.std() > 20
        assert np.abs(first.astype(int) - last.astype(int)).mean() > 2


def test_the_demo_is_small():
    sizes = [path.stat().st_size for path in located("demo").rglob("*") if path.is_file()]
    assert sum(sizes) < 8 * 2**20


def test_something_of_that_name_here_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert located("demo") != Path("demo")
    (tmp_path / "demo").mkdir()
    assert located("demo") == Path("demo")


def test_the_truth_of_a_hundred_frames_is_known():
    truth = read_truth(located("demo") / TRUTH_FILE)
    assert truth.num_frames == 100
    assert truth.num_branches.min() >= 4
    rollouts = goalward.read("demo")
    known = known_frames(truth, rollouts, np.ones(48, dtype=np.bool_))
    assert known.num_frames == 100
    value = truth.true_value(0.97)
    assert ((value.mean >= -1) & (value.mean <= 1)).all()
    # On average a frame of a success is nearer to its goal.
    success = rollouts.success[known.episode]
    assert value.mean[success].mean() < value.mean[~success].mean() - 0.2


def test_what_it_was_made_with_lies_beside():
    folder = located("demo") / "simulation"
    settings = json.loads((folder / "settings.json").read_text())
    assert (settings["task"], settings["policy"], settings["every"]) == ("pick", "retry", 4)
    assert settings["natural_attempts"] >= 48
    with (folder / "events.csv").open(newline="") as file:
        events = {row["event"] for row in csv.DictReader(file)}
    assert events == {"miss", "drop", "misplaced"}


def test_every_episode_has_the_statistics_that_lerobot_edits_by():
    """As `goalward simulate` writes them; of the first episode by the numbers themselves."""
    root = located("demo")
    rows = pq.read_table(root / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    whole = json.loads((root / "meta/stats.json").read_text())
    frames = pq.read_table(root / "data/chunk-000/file-000.parquet", columns=["action"])
    action = np.stack(frames["action"].to_pylist()).astype(np.float64)
    first, count = rows[0], rows[0]["length"]
    assert np.allclose(first["stats/action/q99"], np.quantile(action[:count], 0.99, axis=0))
    assert np.allclose(whole["action"]["q01"], np.quantile(action, 0.01, axis=0))
    for name, found in whole.items():
        assert {f"stats/{name}/{kind}" for kind in found} <= first.keys()
        assert sum(row[f"stats/{name}/count"][0] for row in rows) == found["count"][0]
    noted = noted_checksums(root / "simulation" / "checksums.txt")
    for path in ("meta/stats.json", "meta/episodes/chunk-000/file-000.parquet"):
        assert noted[path] == sha256_of(root / path)

"""LeRobot itself reads what is written here, and what it writes is read here.

Needs LeRobot (`make lerobot`: Python 3.12 and an environment of its own); nothing stands in for it.
"""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
from rollout_files.lerobot import make_episode, write_lerobot

import goalward
from exports.conftest import EPISODES, told, told_run
from exports.test_lerobot_progress import rabc_weights
from goalward.rollouts.video.writer import VideoWriter
from goalward.simulate.recording.data_set import SimulatedDataSet
from goalward.simulate.recording.episode_jobs import WorldFacts
from goalward.simulate.recording.episode_video import picture_colours
from goalward.simulate.recording.lerobot_writer import LeRobotWriter
from goalward.simulate.recording.trace import Trace

pytest.importorskip("lerobot", reason="LeRobot is not installed (make lerobot)")
pytest.importorskip("datasets", reason="the extra `dataset` of LeRobot is not installed")

FRONT = "observation.images.front"
LENGTHS = (9, 12, 12, 7)
QUANTILES = ("q01", "q10", "q50", "q90", "q99")


def dataset_of(root: Path, **options):
    from lerobot.datasets import LeRobotDataset

    return LeRobotDataset("somebody/rollouts", root=root, **options)


@pytest.fixture
def simulated(tmp_path) -> Path:
    """Four episodes as `goalward simulate` writes them: successes, and two that timed out."""
    data_set = SimulatedDataSet(tmp_path / "simulated")
    world = WorldFacts(10, ("front",), 2, ("x", "y"), ("height",))
    traces, seen = [], []
    for index, length in enumerate(LENGTHS):
        random = np.random.default_rng(index)
        trace = Trace(
            seed=index,
            success=length < max(LENGTHS),
            snapshots=random.normal(size=(length, 5)),
            memories=("{}",) * length,
            actions=random.normal(size=(length, 2)).astype(np.float32),
            proprioception=random.normal(size=(length, 2)).astype(np.float32),
            states=np.arange(length, dtype=np.float32)[:, None],
            held=np.zeros(length, dtype=bool),
            events=(),
        )
        video = data_set.video_file(FRONT, index)
        with VideoWriter(video, 10) as writer:
            for frame in range(length):
                writer.add(np.full((64, 64, 3), 20 * frame + 5 * index, dtype=np.uint8))
        traces.append(trace)
        seen.append({"front": picture_colours(video)})
    writer = LeRobotWriter(data_set, world, "lift the cube", fps=10, size=64)
    writer.write_tables(traces, seen)
    data_set.info_file.write_text(writer.info(traces))
    return data_set.path


def run_on(simulated: Path, folder: Path) -> Path:
    """A run on that data set whose values are right to the step."""
    episodes = []
    for number, length in enumerate(LENGTHS):
        good = length < max(LENGTHS)
        steps = [float(length - 1 - frame) for frame in range(length)]
        goal = length - 1 if good else None
        outcome = "success" if good else "time_out"
        episodes.append(told(str(number), outcome, goal, steps, task="lift the cube"))
    return told_run(folder, simulated, episodes)


def curated(run: Path, **options) -> Path:
    goalward.curate(run, anyway=True, **options)
    return run / "curation"


def lerobot_run(command: list[str], place: Path) -> str:
    """One of LeRobot's commands, as its own script runs it."""
    script, *options = command
    module = f"lerobot.scripts.{script.replace('-', '_')}"
    done = subprocess.run(
        [sys.executable, "-m", module, *options],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout + done.stderr


def typed(script: Path) -> list[str]:
    """The command of commands.sh that is not a comment, as a shell would split it."""
    lines = [line for line in script.read_text().splitlines() if not line.startswith("#")]
    return shlex.split("\n".join(lines).replace("\\\n", " "))


# ---- simulated data sets -------------------------------------------------------------------------


def test_a_simulated_data_set_is_one_of_lerobots(simulated):
    opened = dataset_of(simulated)
    assert (opened.num_episodes, opened.num_frames) == (4, sum(LENGTHS))
    ours = goalward.read(simulated)
    item = opened[LENGTHS[0] + 3]
    assert (int(item["episode_index"]), int(item["frame_index"])) == (1, 3)
    assert item["task"] == "lift the cube"
    np.testing.assert_allclose(item["observation.state"], ours[1].proprioception[3], rtol=1e-6)
    picture = np.moveaxis(item[FRONT].numpy(), 0, -1) * 255
    assert np.abs(picture - ours[1].frame(FRONT, 3)).max() < 3
    for name in ("action", "observation.state", FRONT):
        stats = opened.meta.stats[name]
        assert {"mean", "std", "min", "max", "count", *QUANTILES} <= set(stats)
        ordered = [np.asarray(stats[name]).ravel() for name in QUANTILES]
        assert (np.diff(ordered, axis=0) >= 0).all()


def test_our_stats_are_those_that_lerobot_computes(simulated, tmp_path):
    """Of columns; of pictures LeRobot takes a sample of pixels, so those are near."""
    options = ["--repo_id", "somebody/rollouts", "--root", str(simulated)]
    options += ["--new_repo_id", "somebody/again", "--new_root", str(tmp_path / "again")]
    lerobot_run(["lerobot-edit-dataset", *options, "--operation.type", "recompute_stats"], tmp_path)
    ours, theirs = (
        json.loads((root / "meta" / "stats.json").read_text())
        for root in (simulated, tmp_path / "again")
    )
    for name in ("action", "observation.state"):
        for kind in ("mean", "std", "min", "max"):
            np.testing.assert_allclose(ours[name][kind], theirs[name][kind], rtol=1e-4, atol=1e-5)


def test_what_curate_prints_is_what_lerobot_does(simulated, tmp_path):
    """The command of commands.sh is typed as it stands; stats come along, quantiles too."""
    run = run_on(simulated, tmp_path / "run")
    folder = curated(run, drop=("not-success", "after-goal"))
    lerobot_run(typed(folder / "commands.sh"), tmp_path)
    left = dataset_of(tmp_path / "simulated_curated")
    assert (left.num_episodes, left.num_frames) == (2, LENGTHS[0] + LENGTHS[3])
    assert [int(left[i]["index"]) for i in (0, 15)] == [0, 15]
    assert set(QUANTILES) <= set(left.meta.stats["action"])
    read = goalward.read(tmp_path / "simulated_curated", strict=True)
    assert [str(episode.outcome) for episode in read] == ["success", "success"]
    # And the other command, in a comment beside it.
    (line,) = [x for x in (folder / "commands.sh").read_text().splitlines() if "split" in x]
    start = typed(folder / "commands.sh")[:-4]
    both = lerobot_run([*start, *shlex.split(line.lstrip("# "))], tmp_path)
    halves = [Path(path) for path in tmp_path.rglob("meta/info.json")]
    counts = sorted(json.loads(path.read_text())["total_episodes"] for path in halves)
    assert counts == [2, 2, 2, 4], both[-2000:]


# ---- weights and progress ------------------------------------------------------------------------


@pytest.fixture
def whole(tmp_path) -> tuple[Path, Path]:
    """A data set with pictures that LeRobot opens, and a run on it."""
    root = write_lerobot(
        tmp_path / "data",
        [make_episode(length, True, seed=n) for n, length in enumerate((6, 5, 3, 4))],
    )
    return root, told_run(tmp_path / "run", root, EPISODES)


def test_progress_weighs_frames_in_lerobots_own_ra_bc(whole):
    import torch
    from lerobot.utils.sample_weighting import SampleWeightingConfig, make_sample_weighter

    root, run = whole
    path = goalward.export(run, "lerobot-progress", in_place=True).path
    assert path == root / "sarm_progress.parquet"
    policy = SimpleNamespace(config=SimpleNamespace(chunk_size=2))
    weighter = make_sample_weighter(
        SampleWeightingConfig(type="rabc"), policy, torch.device("cpu"), dataset_root=str(root)
    )
    batch = list(range(18))
    weights, stats = weighter.compute_batch_weights({"index": torch.tensor(batch)})
    wanted = np.array(rabc_weights(path, batch, chunk_size=2))
    np.testing.assert_allclose(weights, wanted * len(batch) / wanted.sum(), rtol=1e-4)
    assert stats["num_zero_weight"] == int((wanted == 0).sum()) > 0


def test_weights_belong_to_the_frames_that_lerobot_gives(simulated, tmp_path):
    run = run_on(simulated, tmp_path / "run")
    folder = curated(run, drop=("not-success", "after-goal"))
    weights = pq.read_table(folder / "weights.parquet").to_pydict()
    opened = dataset_of(simulated)
    for row in range(len(opened)):
        item = opened[row]
        assert int(item["index"]) == weights["index"][row]
        assert int(item["episode_index"]) == weights["episode_index"][row]
        kept = bool(item["next.success"]) or int(item["episode_index"]) in (0, 3)
        assert (weights["weight"][row] > 0) == kept


def test_columns_of_evo_rl_are_features_to_lerobot(simulated, tmp_path):
    run = run_on(simulated, tmp_path / "run")
    opened = dataset_of(goalward.export(run, "evo-rl", episodes=["0", "1"]).path)
    values = [opened[row]["complementary_info.value"].item() for row in (0, 8, sum(LENGTHS) - 1)]
    # In parts of the longest episode, eleven steps; no value of episode 3 was asked for.
    assert values == pytest.approx([-8 / 11, 0, np.nan], nan_ok=True)
    assert opened[0]["complementary_info.acp_indicator"].item() in (0, 1)


# ---- what LeRobot writes -------------------------------------------------------------------------


def test_what_lerobot_records_is_read(tmp_path):
    from lerobot.datasets import LeRobotDataset

    features = {
        "observation.state": {"dtype": "float32", "shape": (2,), "names": ["x", "y"]},
        "action": {"dtype": "float32", "shape": (2,), "names": ["x", "y"]},
        FRONT: {"dtype": "video", "shape": (64, 96, 3), "names": ["height", "width", "channels"]},
        "next.success": {"dtype": "bool", "shape": (1,), "names": None},
    }
    written = LeRobotDataset.create(
        "somebody/written", fps=10, features=features, root=tmp_path / "written", use_videos=True
    )
    for number, good in enumerate((True, False)):
        for frame in range(6):
            written.add_frame(
                {
                    "observation.state": np.array([frame, number], dtype=np.float32),
                    "action": np.zeros(2, dtype=np.float32),
                    FRONT: np.full((64, 96, 3), 40 * frame + 10 * number, dtype=np.uint8),
                    "next.success": np.array([good and frame == 5]),
                    "task": "stack",
                }
            )
        written.save_episode()
    written.finalize()
    rollouts = goalward.read(tmp_path / "written", strict=True)
    assert [str(episode.outcome) for episode in rollouts] == ["success", "time_out"]
    assert rollouts[0].goal_frame == 5
    assert rollouts[1].proprioception[3].tolist() == [3, 1]
    for frame in range(6):
        assert abs(float(rollouts[1].frame(FRONT, frame).mean()) - (40 * frame + 10)) < 4

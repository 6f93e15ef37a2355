"""Pictures in, an MP4 file out: times, sizes, the same bytes, and no half files."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from rollout_files.lerobot import distinct_pictures

from goalward.errors import GoalwardError, RolloutError
from goalward.rollouts.video.writer import VideoWriter, frame_rate


def write(path: Path, pictures, fps: float = 10, **options) -> Path:
    with VideoWriter(path, fps, **options) as video:
        for picture in pictures:
            video.add(picture)
    return path


def times_of(path: Path) -> list[Fraction]:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        return [frame.pts * stream.time_base for frame in container.decode(stream)]


@pytest.mark.parametrize(
    ("fps", "rate"),
    [
        (10, Fraction(10)),
        (12.5, Fraction(25, 2)),
        (29.97, Fraction(2997, 100)),
        (30000 / 1001, Fraction(30000, 1001)),
        (0.2, Fraction(1, 5)),
        (1000, Fraction(1000)),
    ],
)
def test_frames_are_shown_at_exact_times(tmp_path, fps, rate):
    path = write(tmp_path / "a.mp4", distinct_pictures(25, 32, seed=0), fps)
    assert times_of(path) == [number / rate for number in range(25)]


@pytest.mark.parametrize("fps", [0, -1, float("nan"), float("inf"), 1e-9, 1001])
def test_a_rate_that_no_video_has_is_refused(fps):
    with pytest.raises(GoalwardError, match="frames per second"):
        frame_rate(fps)


@pytest.mark.parametrize("for_browser", [False, True])
def test_the_same_pictures_give_the_same_bytes(tmp_path, for_browser):
    pictures = distinct_pictures(30, 64, seed=1)
    files = [
        write(tmp_path / f"{n}.mp4", pictures, for_browser=for_browser).read_bytes()
        for n in range(3)
    ]
    assert files[0] == files[1] == files[2]


def test_only_a_video_for_browsers_has_its_tables_first(tmp_path):
    pictures = distinct_pictures(5, 32, seed=2)
    first = write(tmp_path / "first.mp4", pictures, for_browser=True).read_bytes()
    last = write(tmp_path / "last.mp4", pictures).read_bytes()
    assert first.index(b"moov") < first.index(b"mdat")
    assert last.index(b"moov") > last.index(b"mdat")


def test_odd_sizes_get_a_row_and_a_column_more(tmp_path):
    picture = np.zeros((17, 33, 3), np.uint8)
    picture[:, :16] = 200
    path = write(tmp_path / "odd.mp4", [picture, picture])
    with av.open(str(path)) as container:
        (shown, _) = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert shown.shape == (18, 34, 3)
    assert np.abs(shown[:17, :33].astype(int) - picture).mean() < 3
    assert shown[17, :14].mean() == pytest.approx(200, abs=5)


def test_pictures_of_two_sizes_are_an_error_and_no_file(tmp_path):
    with pytest.raises(RolloutError, match=r"a\.mp4: picture 1 has shape \(16, 18, 3\)"):
        write(
            tmp_path / "a.mp4", [np.zeros((16, 16, 3), np.uint8), np.zeros((16, 18, 3), np.uint8)]
        )
    assert list(tmp_path.iterdir()) == []


def test_no_pictures_are_an_error_and_no_file(tmp_path):
    with pytest.raises(RolloutError, match=r"a\.mp4: a video of no pictures"):
        write(tmp_path / "a.mp4", [])
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "a.mp4"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), VideoWriter(path, 10) as video:
        video.add(np.zeros((16, 16, 3), np.uint8))
        raise KeyboardInterrupt
    assert [file.name for file in tmp_path.iterdir()] == ["a.mp4"]
    assert path.read_text() == "old"


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(GoalwardError, match=r"file/a\.mp4: cannot be written"):
        write(tmp_path / "file" / "a.mp4", [np.zeros((16, 16, 3), np.uint8)])


def test_the_videos_of_simulated_data_sets_keep_their_bytes(tmp_path):
    """Data sets are checked by their sums: what the encoder is told must not change."""
    options = b"keyint=10 keyint_min=1 scenecut=0"
    content = write(tmp_path / "a.mp4", distinct_pictures(12, 64, seed=3)).read_bytes()
    assert options in content
    for told in (b"bframes=0", b"mbtree=0", b"crf=23.0", b"threads=1 ", b"subme=7", b"ref=3"):
        assert told in content, told

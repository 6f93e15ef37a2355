"""A report on disk: it opens at any moment, goes on where it was stopped, and trusts no name."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

import goalward.report
from goalward.errors import GoalwardError, RolloutError
from goalward.report.pages.files import script_text, write_report
from goalward.report.pages.media import videos_in_order
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.frames import ArrayFrames

SITE = Path(goalward.report.__file__).parent / "site"
SHAPES = {"front": (32, 48), "wrist": (32, 32)}
HOSTILE = [
    "</script><script>alert(1)</script>",
    "../../etc/passwd",
    "a/b\\c\"'`",
    "\u2028\u2029<!--",
    "日本 🤖",
    "x" * 5000,
]


def content_of(path: Path) -> dict:
    """What a data script hands to the page."""
    found = re.fullmatch(r'goalward\.receive\("\w+",(.*)\);\n', path.read_text("ascii"))
    assert found is not None
    return json.loads(found[1])


def episode_file(report: Path, position: int) -> dict:
    return content_of(report / "data" / "episodes" / f"{position:06d}.js")


def slipping(num_frames: int, seeds: int = 2) -> np.ndarray:
    """Half way to the goal, then back to the start: an event."""
    half = num_frames // 2
    steps = np.concatenate([np.arange(num_frames, half, -1), np.full(half, num_frames)])
    return np.stack([steps[:num_frames] + seed for seed in range(seeds)]).astype(np.float64)


def small_run(folder, num_episodes=3, num_frames=40, shapes=SHAPES):
    episodes = [
        drawn_episode(str(i), num_frames, shapes=shapes, fps=10.0) for i in range(num_episodes)
    ]
    return drawn_run(episodes, {"td": [slipping(num_frames) for _ in episodes]}, folder)


def files_in(report: Path) -> dict[str, int]:
    """Every file but the page's own, with when it was last written."""
    return {
        str(file.relative_to(report)): file.stat().st_mtime_ns
        for file in sorted(report.rglob("*"))
        if file.is_file() and "assets" not in file.parts
    }


def test_the_report_holds_all_that_the_page_asks_for(tmp_path):
    run, rollouts = small_run(tmp_path)
    index = write_report(run, rollouts, tmp_path / "report")
    assert index == tmp_path / "report" / "index.html"
    wanted = re.findall(r'(?:src|href)="([a-z]+/[^"]+)"', index.read_text())
    assert len(wanted) > 15
    assert [name for name in wanted if not (index.parent / name).is_file()] == []
    assert (index.parent / "assets" / "plotly.min.js").stat().st_size > 1_000_000
    episode = episode_file(index.parent, 1)
    assert [camera["name"] for camera in episode["cameras"]] == ["front", "wrist"]
    assert all((index.parent / camera["video"]).is_file() for camera in episode["cameras"])
    assert (episode["cameras"][0]["width"], episode["cameras"][0]["height"]) == (48, 32)
    events = [event for event in episode["events"] if event["kind"] == "setback"]
    assert len(events) == 1
    assert (index.parent / events[0]["thumb"]).read_bytes().startswith(b"\xff\xd8")


def test_no_name_becomes_markup_or_a_path(tmp_path):
    episodes = [
        drawn_episode(name, 4, task=name, shapes={name: (16, 16)}, fps=5.0) for name in HOSTILE
    ]
    run, rollouts = drawn_run(episodes, {"td": [countdown(4) for _ in episodes]}, tmp_path)
    report = tmp_path / "in" / "report"
    write_report(run, rollouts, report)
    told = content_of(report / "data" / "run.js")
    assert [row["id"] for row in told["episodes"]] == HOSTILE
    assert [task["name"] for task in told["front"]["tasks"]] == HOSTILE
    for position, name in enumerate(HOSTILE):
        assert episode_file(report, position)["cameras"][0]["name"] == name
    for script in (report / "data").rglob("*.js"):
        assert not set("<>&\u2028\u2029") & set(script.read_text("ascii"))
    names = [file.name for file in report.rglob("*")]
    assert all(re.fullmatch(r"[\w.]+", name) for name in names)
    assert [file.name for file in (tmp_path / "in").iterdir()] == ["report"]


def test_without_rollouts_there_are_curves_and_no_pictures(tmp_path):
    run, _ = small_run(tmp_path)
    write_report(run, None, tmp_path / "report")
    assert episode_file(tmp_path / "report", 0)["cameras"] == []
    assert len(episode_file(tmp_path / "report", 0)["curves"][0]["mean"]) == 40
    assert not (tmp_path / "report" / "videos").exists()


def test_without_videos_events_still_have_their_pictures(tmp_path):
    run, rollouts = small_run(tmp_path)
    write_report(run, rollouts, tmp_path / "report", videos=False)
    episode = episode_file(tmp_path / "report", 0)
    assert episode["cameras"] == []
    assert episode["events"][0]["thumb"] is not None
    assert not (tmp_path / "report" / "videos").exists()


class BrokenFrames:
    """A camera whose file is damaged."""

    num_frames, height, width, codec = 40, 32, 32, "h264"

    def __iter__(self):
        raise RolloutError("wrist.mp4: cannot be decoded")

    def at(self, frame_indices):
        return iter(self)

    def fingerprint(self):
        return "0" * 32


def test_a_damaged_video_is_told_and_the_others_play(tmp_path):
    run, rollouts = small_run(tmp_path, num_episodes=1)
    broken = dict(rollouts[0].cameras) | {"wrist": BrokenFrames()}
    damaged = Episode("0", 40, Outcome.TIME_OUT, None, "fold", 10.0, broken)
    write_report(run, Rollouts([damaged]), tmp_path / "report")
    front, wrist = episode_file(tmp_path / "report", 0)["cameras"]
    assert front["video"] is not None
    assert (wrist["video"], wrist["problem"]) == (None, "wrist.mp4: cannot be decoded")


@pytest.mark.parametrize("stopped_after", [0, 1])
def test_stopped_early_it_opens_and_the_next_time_it_goes_on(tmp_path, stopped_after):
    run, rollouts = small_run(tmp_path)
    report = tmp_path / "report"

    def stop(done, total):
        if done == stopped_after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_report(run, rollouts, report, on_progress=stop)
    assert (report / "index.html").is_file()
    assert len(content_of(report / "data" / "run.js")["episodes"]) == 3
    curves = [episode_file(report, position)["curves"] for position in range(3)]
    assert curves[0] == curves[1] == curves[2]
    videos = {name: when for name, when in files_in(report).items() if name.startswith("videos")}
    write_report(run, rollouts, report)
    # All three episodes look the same, so they share their two videos.
    assert len(list((report / "videos").iterdir())) == 2
    after = files_in(report)
    assert {name: after[name] for name in videos} == videos
    assert all(episode_file(report, position)["cameras"] for position in range(3))


def test_a_second_time_no_video_and_no_picture_is_made_again(tmp_path):
    run, rollouts = small_run(tmp_path)
    write_report(run, rollouts, tmp_path / "report")
    first = files_in(tmp_path / "report")
    write_report(run, rollouts, tmp_path / "report")
    again = files_in(tmp_path / "report")
    assert list(again) == list(first)
    kept = [name for name in first if name.startswith(("videos", "thumbs", "sheets"))]
    assert len(kept) == 3
    assert [again[name] for name in kept] == [first[name] for name in kept]


def test_without_the_data_a_report_keeps_the_pictures_it_has(tmp_path):
    run, rollouts = small_run(tmp_path)
    write_report(run, rollouts, tmp_path / "report")
    write_report(run, None, tmp_path / "report")
    assert len(episode_file(tmp_path / "report", 2)["cameras"]) == 2
    assert len(list((tmp_path / "report" / "videos").iterdir())) == 2


def test_another_run_in_the_same_folder_leaves_nothing_of_the_first(tmp_path):
    run, rollouts = small_run(tmp_path / "first")
    report = tmp_path / "report"
    write_report(run, rollouts, report)
    (report / "videos" / "mine.mp4").write_text("a file of somebody else")
    other, its_rollouts = small_run(tmp_path / "other", num_episodes=1, num_frames=30)
    # What tells runs apart is what is in their files.
    other.folder.path.mkdir()
    other.folder.summary.write_text("# other\n")
    write_report(other, its_rollouts, report)
    assert [file.name for file in (report / "data" / "episodes").iterdir()] == ["000000.js"]
    assert len(episode_file(report, 0)["curves"][0]["mean"]) == 30
    videos = [file.name for file in (report / "videos").iterdir()]
    assert len(videos) == 3
    assert "mine.mp4" in videos


def test_what_a_killed_process_left_is_removed_when_nobody_writes_it_any_more(tmp_path):
    run, rollouts = small_run(tmp_path)
    report = tmp_path / "report"
    write_report(run, rollouts, report)
    video = next((report / "videos").iterdir())
    old, fresh = (video.parent / f".{video.name}.{name}.mp4" for name in ("ab12cd_x", "zz99zz_x"))
    for file in (old, fresh):
        file.write_bytes(b"half a video")
    os.utime(old, (0, 0))
    write_report(run, rollouts, report)
    assert not old.exists()
    assert fresh.exists()


def test_rollouts_of_another_run_are_refused(tmp_path):
    run, rollouts = small_run(tmp_path)
    with pytest.raises(GoalwardError, match="not those of the run"):
        write_report(run, rollouts.select([1, 0, 2]), tmp_path / "report")


def test_progress_ends_where_it_said(tmp_path):
    run, rollouts = small_run(tmp_path)
    told: list[tuple[int, int]] = []
    write_report(run, rollouts, tmp_path / "report", on_progress=lambda *place: told.append(place))
    assert told[0] == (0, 3)
    assert told[-1] == (3, 3)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_one_episode_of_one_frame(tmp_path):
    run, rollouts = drawn_run(
        [drawn_episode("only", 1, shapes={"front": (16, 16)})], {"td": [np.zeros((1, 1))]}, tmp_path
    )
    write_report(run, rollouts, tmp_path / "report")
    assert episode_file(tmp_path / "report", 0)["curves"] == [{"mean": [-10000]}]


def test_an_infinity_would_be_an_error_and_no_broken_page():
    with pytest.raises(ValueError):
        script_text("run", {"steps": float("inf")})


def test_the_page_asks_for_nothing_from_outside_and_writes_no_markup():
    for file in SITE.iterdir():
        assert len(file.read_text().splitlines()) < 400, file.name
    scripts = sorted(SITE.glob("*.js"))
    assert len(scripts) > 10
    for script in scripts:
        text = script.read_text()
        for forbidden in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval("):
            assert forbidden not in text, (script.name, forbidden)
        for forbidden in ("fetch(", "XMLHttpRequest", "import ", "https://", "WebSocket"):
            assert forbidden not in text, (script.name, forbidden)
    page = (SITE / "index.html").read_text()
    assert "default-src 'none'" in page
    assert set(re.findall(r"https?://[\w.]+", page)) == {"http://www.w3.org"}


def test_reports_are_written_without_torch():
    code = "import sys, goalward.report.pages.files; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_interrupt_does_not_wait_for_a_video(tmp_path):
    class Slow(ArrayFrames):
        def __iter__(self):
            for frame in self.frames:
                time.sleep(0.02)
                yield frame

    # A minute each.
    cameras = {"front": Slow(np.zeros((3000, 16, 16, 3), np.uint8))}
    episodes = [Episode(str(i), 3000, Outcome.TIME_OUT, cameras=cameras) for i in range(3)]
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), videos_in_order(episodes, tmp_path, 480):
        while not any((tmp_path / "videos").glob(".*")):
            time.sleep(0.01)
            assert time.monotonic() - started < 20
        raise KeyboardInterrupt
    assert time.monotonic() - started < 20
    assert list((tmp_path / "videos").iterdir()) == []

"""A report on disk: it opens at any moment, goes on where it was stopped, and trusts no name."""

import json
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

import goalward
from goalward import code_version
from goalward.errors import GoalwardError, RolloutError
from goalward.leftovers import writer_mark
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.report.pages import files as report_files
from goalward.report.pages.assets import SITE, write_assets
from goalward.report.pages.files import write_pages, write_report
from goalward.report.pages.media import videos_in_order
from goalward.report.pages.scripts import check_scripts, script_text
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.frames import ArrayFrames
from goalward.runs.folder.stored import write_run
from goalward.runs.settings import RunData
from goalward.values.training_log import LossCurve, TrainingLog, write_training_log
from report.pages.browser.demo_run import write_demo_run

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
    script = r'goalward\.receive\("\w+",(.*)\);\n// goalward-sha256:[0-9a-f]{64}\n'
    found = re.fullmatch(script, path.read_text("ascii"))
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
        if file.is_file() and "assets" not in file.parts and file.suffix != ".html"
    }


def test_a_chart_library_that_was_damaged_is_copied_again(tmp_path):
    write_assets(tmp_path)
    library = tmp_path / "assets" / "plotly.min.js"
    whole = library.read_bytes()
    library.write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
    write_assets(tmp_path)
    assert library.read_bytes() == whole


def test_the_report_holds_all_that_the_page_asks_for(tmp_path):
    run, rollouts = small_run(tmp_path)
    index = write_pages(run, rollouts, tmp_path / "report")
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
    write_pages(run, rollouts, report)
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
    write_pages(run, None, tmp_path / "report")
    assert episode_file(tmp_path / "report", 0)["cameras"] == []
    assert len(episode_file(tmp_path / "report", 0)["curves"][0]["now"]["mean"]) == 40
    assert not (tmp_path / "report" / "videos").exists()


def test_without_videos_what_to_watch_first_still_has_its_pictures(tmp_path):
    run, rollouts = small_run(tmp_path)
    write_pages(run, rollouts, tmp_path / "report", videos=False)
    episode = episode_file(tmp_path / "report", 0)
    assert episode["cameras"] == []
    assert episode["events"][0]["thumb"] is not None
    assert not (tmp_path / "report" / "videos").exists()


def test_a_report_of_the_demo_without_videos_is_under_six_megabytes(tmp_path):
    run = goalward.open_run(write_demo_run(tmp_path / "run", num_each=24))
    watched = {found.episode for found in run.scores.policy.watch_first}
    assert len(run.episodes) == 48
    folder = run.report(tmp_path / "small", videos=False, progress=False).parent
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    assert size < 6e6
    # Sheets and pictures of all other episodes are what it does without.
    assert not (folder / "sheets").exists()
    for position in range(48):
        has_events = bool(episode_file(folder, position)["events"])
        pictures = [event["thumb"] for event in episode_file(folder, position)["events"]]
        assert any(pictures) == (has_events and position in watched)


def test_a_frame_worth_watching_has_a_picture_though_nothing_happens_in_it(tmp_path):
    # It comes near and nearer until the clock runs out: a near miss, and no event.
    episode = drawn_episode("0", 40, shapes=SHAPES, fps=10.0)
    run, rollouts = drawn_run([episode], {"td": [countdown(40)]}, tmp_path)
    write_pages(run, rollouts, tmp_path / "report", videos=False)
    (watched,) = content_of(tmp_path / "report" / "data" / "run.js")["watch"]
    assert episode_file(tmp_path / "report", 0)["events"] == []
    assert (tmp_path / "report" / watched["thumb"]).is_file()


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
    write_pages(run, Rollouts([damaged]), tmp_path / "report")
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
        write_pages(run, rollouts, report, on_progress=stop)
    assert (report / "index.html").is_file()
    assert len(content_of(report / "data" / "run.js")["episodes"]) == 3
    curves = [episode_file(report, position)["curves"] for position in range(3)]
    assert curves[0] == curves[1] == curves[2]
    videos = {name: when for name, when in files_in(report).items() if name.startswith("videos")}
    write_pages(run, rollouts, report)
    # All three episodes look the same, so they share their two videos.
    assert len(list((report / "videos").iterdir())) == 2
    after = files_in(report)
    assert {name: after[name] for name in videos} == videos
    assert all(episode_file(report, position)["cameras"] for position in range(3))


def test_a_second_time_no_video_and_no_picture_is_made_again(tmp_path):
    run, rollouts = small_run(tmp_path)
    write_pages(run, rollouts, tmp_path / "report")
    first = files_in(tmp_path / "report")
    write_pages(run, rollouts, tmp_path / "report")
    again = files_in(tmp_path / "report")
    assert list(again) == list(first)
    kept = [name for name in first if name.startswith(("videos", "thumbs", "sheets"))]
    # All three episodes look the same and share their pictures, but each has a sheet of its own.
    rooms = [name.split("/")[0] for name in kept]
    assert (rooms.count("videos"), rooms.count("sheets")) == (2, 9)
    assert rooms.count("thumbs") > 0
    assert [again[name] for name in kept] == [first[name] for name in kept]


@pytest.mark.parametrize("damage", ["garbage", "half", "one byte"])
def test_a_damaged_video_and_a_damaged_picture_are_made_again(tmp_path, caplog, damage):
    run, rollouts = small_run(tmp_path, num_episodes=1)
    report = tmp_path / "report"
    write_pages(run, rollouts, report)
    for path in (next((report / "videos").iterdir()), next((report / "thumbs").iterdir())):
        whole = path.read_bytes()
        middle = len(whole) // 2
        changed = bytes([whole[middle] ^ 1])
        path.write_bytes(
            {
                "garbage": b"garbage",
                "half": whole[:middle],
                "one byte": whole[:middle] + changed + whole[middle + 1 :],
            }[damage]
        )
        write_pages(run, rollouts, report)
        assert path.read_bytes() == whole
        if damage == "one byte":
            assert any(path.name in line and "written again" in line for line in caplog.messages)


def test_without_the_data_a_report_keeps_the_pictures_it_has(tmp_path):
    run, rollouts = small_run(tmp_path)
    write_pages(run, rollouts, tmp_path / "report")
    write_pages(run, None, tmp_path / "report")
    assert len(episode_file(tmp_path / "report", 2)["cameras"]) == 2
    assert len(list((tmp_path / "report" / "videos").iterdir())) == 2


def test_another_run_in_the_same_folder_leaves_nothing_of_the_first(tmp_path):
    run, rollouts = small_run(tmp_path / "first")
    report = tmp_path / "report"
    write_pages(run, rollouts, report)
    (report / "videos" / "mine.mp4").write_text("a file of somebody else")
    other, its_rollouts = small_run(tmp_path / "other", num_episodes=1, num_frames=30)
    # What tells runs apart is what is in their files.
    write_run(other)
    write_pages(other, its_rollouts, report)
    assert [file.name for file in (report / "data" / "episodes").iterdir()] == ["000000.js"]
    assert len(episode_file(report, 0)["curves"][0]["now"]["mean"]) == 30
    videos = [file.name for file in (report / "videos").iterdir()]
    assert len(videos) == 3
    assert "mine.mp4" in videos


def test_what_a_killed_process_left_is_removed_when_nobody_writes_it_any_more(tmp_path):
    run, rollouts = small_run(tmp_path)
    report = tmp_path / "report"
    write_pages(run, rollouts, report)
    video = next((report / "videos").iterdir())
    place = str(video)
    code = (
        "import os, signal, sys; from pathlib import Path; from goalward.files import *\n"
        "with written_whole(Path(sys.argv[1])): os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code, place])
    assert len(list(video.parent.glob(".*"))) == 1
    fresh = video.parent / f".{video.name}.{writer_mark()}-zz99zz_x.mp4"
    fresh.write_bytes(b"half a video")
    write_pages(run, rollouts, report)
    assert list(video.parent.glob(".*")) == [fresh]


def test_a_damaged_script_is_written_again(tmp_path, caplog):
    run, rollouts = small_run(tmp_path)
    report = tmp_path / "report"
    write_pages(run, rollouts, report)
    for name in ("run.js", "episodes/000001.js"):
        path = report / "data" / name
        whole = path.read_bytes()
        number = re.search(rb"[1-9]\.[0-9]|[1-9]", whole[200:])
        assert number is not None
        place = 200 + number.start()
        path.write_bytes(whole[:place] + b"8" + whole[place + 1 :].replace(b"0", b"7", 1))
        with pytest.raises(GoalwardError, match=f"{path.name}: was changed or damaged"):
            check_scripts(report)
        write_pages(run, rollouts, report)
        assert path.read_bytes() == whole
        assert any(path.name in line and "written again" in line for line in caplog.messages)


def test_rollouts_of_another_run_are_refused(tmp_path):
    run, rollouts = small_run(tmp_path)
    with pytest.raises(GoalwardError, match="not those of the run"):
        write_pages(run, rollouts.select([1, 0, 2]), tmp_path / "report")


# ---- the key: what makes pages old --------------------------------------------------------------


def key_in(report: Path) -> str:
    return content_of(report / "data" / "run.js")["key"]


def added_to(name: str):
    def change(run, monkeypatch):
        with (run.folder.path / name).open("ab") as file:
            file.write(b"\n")

    return change


def with_a_log(run, monkeypatch):
    curve = LossCurve("mc", 0, "", "", None, 3, (10,), (0.5,), None)
    write_training_log(run.folder.training_log, TrainingLog((curve,)))


def with_another_version(run, monkeypatch):
    monkeypatch.setattr(goalward, "__version__", "0.9.9")


CHANGES = {
    "settings": added_to("config.toml"),
    "episodes": added_to("episodes.csv"),
    "values": added_to("values.parquet"),
    "scores": added_to("scores.json"),
    "events": added_to("events.csv"),
    "a training log": with_a_log,
    "another version": with_another_version,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_pages_are_made_again_when_what_they_were_made_from_changes(tmp_path, monkeypatch, change):
    run, _ = small_run(tmp_path / "run", num_episodes=1)
    write_run(run)
    write_pages(run, None, tmp_path / "report")
    before = key_in(tmp_path / "report")
    write_pages(run, None, tmp_path / "report")
    assert key_in(tmp_path / "report") == before
    change(run, monkeypatch)
    write_pages(run, None, tmp_path / "report")
    assert key_in(tmp_path / "report") != before


def test_pages_are_made_again_when_any_code_of_the_report_changes(tmp_path, monkeypatch):
    run, _ = small_run(tmp_path / "run", num_episodes=1)
    keys = set()
    package = tmp_path / "package"
    for name in report_files._ROOMS:
        (package / name).mkdir(parents=True)
    monkeypatch.setattr(code_version, "_PACKAGE", package)
    for name in ("", "report/front.py", "metrics/score.py", "values/events.py"):
        if name:
            (package / name).write_text("new = 1")
        code_version._digest_of.cache_clear()
        write_pages(run, None, tmp_path / "pages")
        keys.add(key_in(tmp_path / "pages"))
    code_version._digest_of.cache_clear()
    assert len(keys) == 4


def test_a_truth_that_was_measured_later_is_shown(tmp_path):
    run, _ = small_run(tmp_path / "run", num_episodes=1)
    write_pages(run, None, tmp_path / "report")
    for frame, steps in ((3, 0.0), (4, 0.0), (4, np.inf)):
        truth = FrameTruth(("0",), np.array([frame]), np.array([[steps, steps]]), cap=50)
        write_pages(run, None, tmp_path / "report", truth=truth)
        (known,) = episode_file(tmp_path / "report", 0)["truth"]
        assert (known["frame"], known["value"]) == (frame, 1.0 if steps else -1.0)


def test_words_written_beside_the_run_are_no_part_of_the_pages(tmp_path):
    run, _ = small_run(tmp_path / "run", num_episodes=1)
    write_run(run)
    write_pages(run, None, tmp_path / "report")
    before = files_in(tmp_path / "report")
    run.folder.summary.write_text("# other\n")
    write_pages(run, None, tmp_path / "report")
    assert files_in(tmp_path / "report") == before


# ---- the function that people call --------------------------------------------------------------


def test_a_folder_will_do_for_a_run_and_the_report_lies_in_it(tmp_path, caplog):
    run, _ = small_run(tmp_path / "run", num_episodes=1)
    write_run(run)
    index = write_report(str(tmp_path / "run"), progress=False)
    assert index == tmp_path / "run" / "report" / "index.html"
    assert index.is_file()
    # Its rollouts were only ever in memory.
    assert [record.name for record in caplog.records] == ["goalward.report"]
    assert "no pictures" in caplog.text
    assert "data=" in caplog.text


def test_a_run_that_knows_its_rollouts_shows_them(tmp_path, caplog):
    run, rollouts = small_run(tmp_path / "run", num_episodes=1)
    index = write_report(replace(run, rollouts=rollouts), tmp_path / "elsewhere", progress=False)
    assert index == tmp_path / "elsewhere" / "index.html"
    assert len(episode_file(index.parent, 0)["cameras"]) == 2
    assert caplog.records == []


def test_the_truth_that_the_evaluation_found_is_shown(tmp_path):
    run, rollouts = small_run(tmp_path / "run", num_episodes=1)
    truth = FrameTruth(("0",), np.array([3]), np.array([[0.0, 0.0]]), cap=50)
    truth.write(tmp_path / "truth.parquet")
    data = RunData(truth=str(tmp_path / "truth.parquet"))
    known = replace(run, settings=replace(run.settings, data=data), rollouts=rollouts)
    index = write_report(known, videos=False, progress=False)
    assert [known["frame"] for known in episode_file(index.parent, 0)["truth"]] == [3]


def test_rollouts_that_were_named_and_are_not_there_are_an_error(tmp_path):
    run, _ = small_run(tmp_path / "run", num_episodes=1)
    with pytest.raises(GoalwardError, match="nowhere"):
        write_report(run, data=tmp_path / "nowhere", progress=False)
    assert not (tmp_path / "run" / "report").exists()


def test_where_rollouts_were_is_told_with_what_to_do(tmp_path, caplog):
    run, _ = small_run(tmp_path / "run", num_episodes=1)
    gone = RunData(path=str(tmp_path / "gone"))
    write_report(replace(run, settings=replace(run.settings, data=gone)), progress=False)
    assert str(tmp_path / "gone") in caplog.text
    assert "give data= if the rollouts lie elsewhere" in caplog.text


def test_videos_of_no_height_are_refused(tmp_path):
    with pytest.raises(GoalwardError, match="max_height= must be at least 16 pixels, got 0"):
        write_report(tmp_path, max_height=0)


def test_progress_ends_where_it_said(tmp_path):
    run, rollouts = small_run(tmp_path)
    told: list[tuple[int, int]] = []
    write_pages(run, rollouts, tmp_path / "report", on_progress=lambda *place: told.append(place))
    # Three episodes, and a sheet of each: all are worth watching.
    assert told[0] == (0, 6)
    assert told[-1] == (6, 6)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_one_episode_of_one_frame(tmp_path):
    run, rollouts = drawn_run(
        [drawn_episode("only", 1, shapes={"front": (16, 16)})], {"td": [np.zeros((1, 1))]}, tmp_path
    )
    write_pages(run, rollouts, tmp_path / "report")
    assert episode_file(tmp_path / "report", 0)["curves"] == [
        {"now": {"mean": [-10000]}, "hindsight": {"mean": [-10000]}}
    ]


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
        # Notes are asked of the server that the page came from, by a name in its own folder.
        assert ("fetch(" in text) == (script.name == "notes.js"), script.name
        for forbidden in ("XMLHttpRequest", "import ", "https://", "WebSocket"):
            assert forbidden not in text, (script.name, forbidden)
    notes = (SITE / "notes.js").read_text()
    assert set(re.findall(r"fetch\((\w+)", notes)) == {"ADDRESS"}
    assert 'ADDRESS = "notes.json"' in notes
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

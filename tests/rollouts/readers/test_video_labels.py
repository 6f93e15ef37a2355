"""Labels of rollout videos: in file names, in reports of evaluations, in csv files."""

import json
from pathlib import Path

import pytest
from rollout_files import videos
from rollout_files.left_out import reasons
from rollout_files.video_folders import place, success_by_id

from goalward.errors import RolloutError
from goalward.rollouts.readers import read
from goalward.rollouts.readers.video_labels import VideoNames, claim_from_name

OPENVLA = "2026_01_02-03_04_05--openvla--episode={}--success={}--task={}"


@pytest.mark.parametrize(
    ("stem", "success", "task"),
    [
        ("rollout_put_the_bowl_on_the_plate_success", True, "put the bowl on the plate"),
        ("rollout_a_success_story_failure", False, "a success story"),
        ("rollout_success", True, ""),
        (OPENVLA.format(3, "True", "pick_up_the_cup"), True, "pick up the cup"),
        (OPENVLA.format(3, "False", "rollout_a_success"), False, "rollout a success"),
        ("success=true--task=x", True, "x"),
        ("rollout_x_succes", None, ""),
        ("x_success", None, ""),
        ("rollout_x_success_2", None, ""),
        ("a--success=Truely--task=x", None, ""),
        ("eval_episode_0", None, ""),
    ],
)
def test_names(stem: str, success: bool | None, task: str) -> None:
    claim = claim_from_name(stem)
    assert (None if claim.evidence is None else claim.evidence.success) is success
    assert claim.task == task


def test_openvla_episode_numbers_repeat_and_name_nothing(tmp_path: Path, clip: Path) -> None:
    stems = [OPENVLA.format(1, "True", "lift"), OPENVLA.format(1, "False", "push")]
    place(clip, *(tmp_path / f"{stem}.mp4" for stem in stems))
    assert read(tmp_path).success.tolist() == [False, True]
    labels = tmp_path / "labels.json"
    labels.write_text('{"1": true}')
    with pytest.raises(RolloutError, match="fits none of the 2 episodes"):
        read(tmp_path, labels=labels)


def test_names_without_a_label_are_left_out(tmp_path: Path, clip: Path) -> None:
    place(clip, tmp_path / "rollout_x_success.mp4", tmp_path / "warm_up.mp4")
    rollouts = read(tmp_path)
    assert rollouts.ids == ("rollout_x_success",)
    assert "no label in file name" in reasons(rollouts)["warm_up"]
    with pytest.raises(RolloutError, match="warm_up"):
        read(tmp_path, strict=True)


def test_a_name_shared_by_two_videos_is_no_label(tmp_path: Path, clip: Path) -> None:
    place(clip, *(tmp_path / f"{run}/take.mp4" for run in ("a", "b")), tmp_path / "c/other.mp4")
    labels = tmp_path.parent / f"{tmp_path.name}.csv"
    labels.write_text("episode,success\ntake,true\ntake.mp4,true\nb/take,false\nother,true\n")
    assert success_by_id(read(tmp_path, labels=labels)) == {"b/take": False, "c/other": True}


def test_the_report_of_lerobot_eval(tmp_path: Path, clip: Path) -> None:
    ran_in = "outputs/eval/2026-01-01/10-00-00_act/videos"
    place(clip, *(tmp_path / f"videos/{t}_0/eval_episode_{n}.mp4" for t in "ab" for n in range(2)))
    tasks = {
        "a": ([True, False, True, True], [f"{ran_in}/a_0/eval_episode_{n}.mp4" for n in range(2)]),
        "b": ([False, True], [f"{ran_in}/b_0/eval_episode_{n}.mp4" for n in range(2)]),
    }
    videos.write_eval_info(tmp_path / "eval_info.json", tasks)
    rollouts = read(tmp_path)
    assert success_by_id(rollouts) == {
        "videos/a_0/eval_episode_0": True,
        "videos/a_0/eval_episode_1": False,
        "videos/b_0/eval_episode_0": False,
        "videos/b_0/eval_episode_1": True,
    }
    assert rollouts.tasks == ("a/0", "b/0")
    assert rollouts.sources[0].label_source == "eval_info.json"
    assert rollouts.warnings == (
        f"{tmp_path / 'eval_info.json'}: 2 of 6 episodes have no video and are left out "
        "(lerobot-eval films the first few of each task)",
    )


def test_the_older_report(tmp_path: Path, clip: Path) -> None:
    names = [f"eval_episode_{n}.mp4" for n in (0, 1, 2)]
    place(clip, *(tmp_path / "videos" / name for name in names))
    # The last batch films more episodes than it reports.
    stated = [f"C:\\runs\\videos\\{name}" for name in names]
    videos.write_old_eval_info(tmp_path / "eval_info.json", [False, True], stated)
    rollouts = read(tmp_path)
    assert success_by_id(rollouts) == {
        "videos/eval_episode_0": False,
        "videos/eval_episode_1": True,
    }
    assert list(reasons(rollouts)) == ["videos/eval_episode_2"]
    assert rollouts.tasks == ("",)


def test_imagined_videos_are_no_episodes(tmp_path: Path, clip: Path) -> None:
    place(clip, tmp_path / "eval_episode_0.mp4", tmp_path / "pred_episode_0.mp4")
    videos.write_eval_info(tmp_path / "eval_info.json", {"a": ([True], ["eval_episode_0.mp4"])})
    report = json.loads((tmp_path / "eval_info.json").read_text())
    report["per_task"][0]["metrics"]["predicted_video_paths"] = ["out/pred_episode_0.mp4"]
    (tmp_path / "eval_info.json").write_text(json.dumps(report))
    assert read(tmp_path, strict=True).ids == ("eval_episode_0",)


def test_two_reports_about_one_video_cancel(tmp_path: Path, clip: Path) -> None:
    """The folder of one task, with the report of all: each task has an eval_episode_0."""
    place(clip, tmp_path / "eval_episode_0.mp4", tmp_path / "eval_episode_1.mp4")
    tasks = {
        "a": ([True, True], ["videos/a_0/eval_episode_0.mp4", "videos/a_0/eval_episode_1.mp4"]),
        "b": ([False], ["videos/b_0/eval_episode_0.mp4"]),
    }
    videos.write_eval_info(tmp_path / "eval_info.json", tasks)
    rollouts = read(tmp_path)
    assert rollouts.ids == ("eval_episode_1",)
    assert "says different things about" in reasons(rollouts)["eval_episode_0"]


def test_a_video_of_another_task_is_not_taken_for_it(tmp_path: Path, clip: Path) -> None:
    place(clip, tmp_path / "b_0/eval_episode_0.mp4")
    videos.write_eval_info(
        tmp_path / "eval_info.json",
        {"a": ([True], ["a_0/eval_episode_0.mp4"]), "b": ([False], ["b_0/eval_episode_0.mp4"])},
    )
    rollouts = read(tmp_path)
    assert success_by_id(rollouts) == {"b_0/eval_episode_0": False}
    assert any("names 1 videos that are not in the folder" in text for text in rollouts.warnings)


def test_paths_never_lead_out_of_the_folder(tmp_path: Path, clip: Path) -> None:
    inside = tmp_path / "inside"
    place(clip, tmp_path / "secret.mp4", inside / "rollout_x_success.mp4")
    stated = ["../secret.mp4", str(tmp_path / "secret.mp4"), "/" * 100_000, "", "..", "x/" * 99_999]
    videos.write_eval_info(inside / "eval_info.json", {"a": ([True] * len(stated), stated)})
    assert read(inside).ids == ("rollout_x_success",)
    assert VideoNames(["secret.mp4"]).find("../secret.mp4") == "secret.mp4"
    assert VideoNames(["a/secret.mp4"]).find("../secret.mp4") is None


@pytest.mark.parametrize(
    "text",
    ["", "[" * 100_000, "{}", "[]", "3", "null", '{"per_task": 3}', '{"per_task": [3]}',
     '{"per_task": [{"task_group": "a", "task_id": 0, "metrics": 3}]}',
     '{"per_task": [{"task_group": "a", "task_id": 0, "metrics": {"successes": 1}}]}',
     '{"per_episode": [3]}', '{"per_episode": {"a": 1}}',
     '{"per_episode": [{"success": true}], "video_paths": [3]}',
     '{"per_episode": [{"success": true}], "video_paths": "rollout_x_success.mp4"}'],
)  # fmt: skip
def test_a_strange_report_is_named_and_other_labels_count(
    tmp_path: Path, clip: Path, text: str
) -> None:
    place(clip, tmp_path / "rollout_x_success.mp4")
    (tmp_path / "eval_info.json").write_text(text)
    rollouts = read(tmp_path)
    assert rollouts.success.tolist() == [True]
    assert "eval_info.json: not a report of lerobot-eval" in rollouts.warnings[0]
    with pytest.raises(RolloutError, match="eval_info.json"):
        read(tmp_path, strict=True)


def test_a_csv_beside_the_videos(tmp_path: Path, clip: Path) -> None:
    place(clip, *(tmp_path / f"{n}.mp4" for n in range(4)), tmp_path / "more/9.mp4")
    (tmp_path / "labels.csv").write_text(
        "\ufeffPath,Outcome\n./0.mp4,success\n/data/run/1.mp4,failure\n2,time_out\nmore\\9.mp4,success\n"
    )
    (tmp_path / "speeds.csv").write_text("path,metres\n0.mp4,3\n")
    (tmp_path / "torn.csv").write_bytes(b"path,success\xff\xfe\n")
    rollouts = read(tmp_path)
    outcomes = {episode.id: str(episode.outcome) for episode in rollouts}
    assert outcomes == {"0": "success", "1": "failure", "2": "time_out", "more/9": "success"}
    assert rollouts.sources[0].label_source == "labels.csv"
    assert list(reasons(rollouts)) == ["3"]


def test_a_csv_with_a_bad_row_is_named(tmp_path: Path, clip: Path) -> None:
    place(clip, tmp_path / "rollout_x_success.mp4")
    (tmp_path / "labels.csv").write_text("video,success\nrollout_x_success.mp4,perhaps\n")
    assert "labels.csv, line 2" in read(tmp_path).warnings[0]


def test_sources_that_disagree_are_an_error(tmp_path: Path, clip: Path) -> None:
    place(clip, tmp_path / "rollout_x_success.mp4")
    (tmp_path / "labels.csv").write_text("file,success\nrollout_x_success.mp4,false\n")
    with pytest.raises(RolloutError, match="file name and labels.csv disagree on 1 episode"):
        read(tmp_path)
    assert read(tmp_path, success_key="labels.csv").success.tolist() == [False]

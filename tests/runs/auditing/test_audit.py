"""An audit of a run, of rollouts, and what becomes of it on disk."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

import goalward
from goalward import GoalwardError
from goalward.metrics.auditing.audit import FindingKind
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.labels.files import labels_by_episode, read_label_file
from goalward.runs.auditing.audit import read_audit
from goalward.runs.folder.stored import write_run
from goalward.runs.making.removal import remove_run
from goalward.runs.notes import EpisodeNote, keep_note

NEVER = np.full((2, 41), np.inf)


def drawn(tmp_path, *, learned_from=(), cameras=True):
    """Ten successes that are counted down and ten time-outs that never look near; two are mixed up:

    episode 3 is called a success and never looks near, 13 a time-out and looks done.
    """
    # No two of one size: none is a copy of another.
    shapes = [{"front": (12, 12 + i)} if cameras else None for i in range(20)]
    outcomes = [Outcome.SUCCESS] * 10 + [Outcome.TIME_OUT] * 10
    episodes = [drawn_episode(str(i), 41, outcome=outcomes[i], shapes=shapes[i]) for i in range(20)]
    near = [i != 3 if i < 10 else i == 13 for i in range(20)]
    steps = [countdown(41) if is_near else NEVER for is_near in near]
    run, rollouts = drawn_run(episodes, {"mc": steps}, tmp_path / "run", learned_from=learned_from)
    write_run(run)
    return run, rollouts


def test_both_wrong_labels_come_first_with_frames_to_look_at(tmp_path):
    run, _ = drawn(tmp_path, cameras=False)
    found = goalward.audit(run, progress=False)
    labels = {f.episode: f for f in found.findings if f.looked is not None}
    assert set(labels) == {"3", "13"}
    assert [episode.id for episode in found.episodes[:2]] in (["3", "13"], ["13", "3"])
    done = labels["13"]
    assert done.kind is FindingKind.LOOKED_DONE
    assert done.suggested is Outcome.SUCCESS
    # Within 2 of 40 steps: from frame 38 on for one seed, 39 for the other; both from there.
    assert found.near_steps == 2
    assert done.frames == (39, 40)
    assert done.suggested_goal_frame == 39
    assert labels["3"].kind is FindingKind.SUCCESS_NEVER_NEAR
    assert labels["3"].suggested is Outcome.TIME_OUT
    assert labels["3"].looked == 0.0


def test_a_label_that_somebody_marked_as_wrong_comes_first(tmp_path):
    run, _ = drawn(tmp_path, cameras=False)
    keep_note(run.folder.notes, "5", EpisodeNote("slips", ("dropped",), wrong_label=True))
    keep_note(run.folder.notes, "6", EpisodeNote("nice"))
    keep_note(run.folder.notes, "no such episode", EpisodeNote(wrong_label=True))
    audit = goalward.audit(run, progress=False)
    assert any("passed over: no such episode (notes.json)" in text for text in audit.unchecked)
    found = audit.findings
    assert (found[0].episode, found[0].kind, found[0].sure) == ("5", FindingKind.MARKED, 1.0)
    assert found[0].suggested is Outcome.TIME_OUT
    assert [one.episode for one in found if one.kind is FindingKind.MARKED] == ["5"]


def test_what_was_learned_from_is_not_judged(tmp_path):
    run, _ = drawn(tmp_path, learned_from=["3"], cameras=False)
    found = goalward.audit(run, progress=False)
    assert [f.episode for f in found.findings if f.looked is not None] == ["13"]
    assert found.episodes[-1].id == "3"
    assert found.episodes[-1].wrong is None


def test_labels_that_cannot_be_checked_say_why(tmp_path):
    run, _ = drawn(tmp_path, learned_from=[str(i) for i in range(20)], cameras=False)
    found = goalward.audit(run, progress=False)
    assert found.findings == ()
    assert any("no episode was held out" in text for text in found.unchecked)


def test_rollouts_that_have_moved_leave_the_labels_to_be_checked(tmp_path):
    run, _ = drawn(tmp_path, cameras=False)
    found = goalward.audit(run.folder.path, progress=False)
    assert "Copies were not looked for" in found.unchecked[0]
    assert {f.episode for f in found.findings} == {"3", "13"}
    with pytest.raises(GoalwardError, match="nowhere"):
        goalward.audit(run.folder.path, data=tmp_path / "nowhere", progress=False)


def moving(start):
    return np.arange(start, start + 6.0, dtype=np.float32)[:, None]


def recorded(specs):
    return goalward.Rollouts(
        [
            Episode(name, 6, outcome, 5 if outcome == "success" else None, proprioception=moving(s))
            for name, outcome, s in specs
        ]
    )


def test_a_copy_with_another_label_is_told_of_both():
    found = goalward.audit(
        recorded([("a", "success", 0), ("b", "time_out", 0), ("c", "success", 9)]), progress=False
    )
    assert [(f.episode, f.twin, f.kind) for f in found.findings] == [
        ("a", "b", FindingKind.OTHER_LABEL),
        ("b", "a", FindingKind.OTHER_LABEL),
    ]
    assert "takes values" in found.unchecked[0]


def test_copies_of_another_data_set():
    ours = recorded([("a", "success", 0), ("b", "time_out", 7)])
    theirs = recorded([("x", "success", 0), ("y", "success", 7)])
    found = goalward.audit(ours, against=theirs, progress=False)
    assert [(f.episode, f.twin, f.kind) for f in found.findings] == [
        ("b", "y", FindingKind.OTHER_LABEL),
        ("a", "x", FindingKind.LEAKED),
    ]


@pytest.mark.parametrize(
    ("folds", "kinds"),
    [
        (("own folds", "own folds"), {"0": "leaked", "1": "leaked"}),
        (("fold 0", "fold 1"), {"0": "leaked", "1": "leaked"}),
        (("fold 0", "fold 0"), {"1": "twice"}),
        (("", "held out"), {"1": "leaked"}),
        (("", ""), {"1": "twice"}),
    ],
)
def test_a_copy_leaks_where_a_network_that_judges_it_learned_from_the_other(tmp_path, folds, kinds):
    twice = [
        Episode(str(i), 6, "success", 5, task="fold", proprioception=moving(0)) for i in range(2)
    ]
    run, rollouts = drawn_run(twice, {"mc": [countdown(6)] * 2}, tmp_path / "run")
    episodes = tuple(replace(e, fold=f) for e, f in zip(run.episodes, folds, strict=True))
    found = goalward.audit(replace(run, episodes=episodes, rollouts=rollouts), progress=False)
    copies = {f.episode: str(f.kind) for f in found.findings if f.twin is not None}
    assert copies == kinds


# ---- on disk ------------------------------------------------------------------------------------


def test_the_files_say_the_same_and_the_list_of_labels_is_read_back(tmp_path):
    run, rollouts = drawn(tmp_path)
    told = goalward.audit(replace(run, rollouts=rollouts), progress=False)
    folder = run.folder.audit
    assert read_audit(run.folder) == told
    rows = list(csv.DictReader((folder / "audit.csv").read_text().splitlines()))
    assert [row["episode"] for row in rows] == [f.episode for f in told.findings]
    labels = list(csv.DictReader((folder / "labels.csv").read_text().splitlines()))
    assert len(labels) == 20
    assert {labels[0]["episode"], labels[1]["episode"]} == {"3", "13"}
    with Image.open(folder / "sheet.png") as sheet:
        assert sheet.height > 3 * 120
    # As a person would correct it, and as `--labels` reads it.
    text = (folder / "labels.csv").read_text().replace("13,time_out", "13,success")
    (folder / "labels.csv").write_text(text)
    read = labels_by_episode(read_label_file(folder / "labels.csv", str), "labels.csv")
    assert read["13"].success
    assert read["13"].goal_frame is None
    assert read["3"].success
    assert len(read) == 20


def test_without_pictures_no_picture_is_named_and_an_earlier_one_goes(tmp_path):
    run, rollouts = drawn(tmp_path)
    goalward.audit(replace(run, rollouts=rollouts), progress=False)
    sheet, words = run.folder.audit / "sheet.png", run.folder.audit / "audit.md"
    assert sheet.is_file()
    assert "Look at" in words.read_text()
    goalward.audit(run.folder.path, progress=False)
    assert not sheet.exists()
    assert "sheet.png" not in words.read_text()
    assert "Correct `" in words.read_text()


@pytest.mark.parametrize("name", ["audit.json", "audit.csv", "audit.md", "sheet.png"])
def test_files_that_no_audit_wrote_are_never_replaced(tmp_path, name):
    run, _ = drawn(tmp_path, cameras=False)
    place = tmp_path / "mine"
    place.mkdir()
    (place / name).write_text("mine")
    with pytest.raises(GoalwardError, match=f"{name}: is there and was not written by audit; give"):
        goalward.audit(run, out=place, progress=False)
    assert (place / name).read_text() == "mine"
    assert len(list(place.iterdir())) == 1
    (place / name).unlink()
    goalward.audit(run, out=place, progress=False)
    goalward.audit(run, out=place, progress=False)


def test_a_list_that_somebody_filled_in_is_never_replaced(tmp_path, caplog):
    run, _ = drawn(tmp_path, cameras=False)
    goalward.audit(run, progress=False)
    goalward.audit(run, progress=False)
    mine = run.folder.audit / "labels.csv"
    assert not (run.folder.audit / "labels-2.csv").exists()
    mine.write_text("episode,outcome\n3,time_out\n")
    goalward.audit(run, progress=False)
    assert mine.read_text() == "episode,outcome\n3,time_out\n"
    assert (run.folder.audit / "labels-2.csv").read_text().startswith("episode,outcome,goal_frame")
    assert "is kept" in caplog.text
    # The words speak of the list that was written.
    assert "/labels-2.csv" in (run.folder.audit / "audit.md").read_text()
    remove_run(run.folder)
    assert sorted(path.name for path in run.folder.audit.iterdir()) == [
        "labels-2.csv",
        "labels.csv",
    ]

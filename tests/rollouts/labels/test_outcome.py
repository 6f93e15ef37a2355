import json
import os
from pathlib import Path

import numpy as np
import pytest

from goalward import Outcome, RolloutError
from goalward.errors import speaking_of_flags
from goalward.rollouts.findings import Findings
from goalward.rollouts.labels.evidence import (
    Evidence,
    Unlabelled,
    evidence_from_frames,
    evidence_from_value,
)
from goalward.rollouts.labels.files import labels_by_episode, read_label_file
from goalward.rollouts.labels.outcome import Label, LabelOptions, decide

YES, NO = Evidence(True), Evidence(False)


def decided(episodes, options=LabelOptions(), findings=None):
    return decide(
        episodes,
        options,
        findings if findings is not None else Findings(),
        where="data",
        looked_for="next.success",
        holds="The data set holds action.",
    )


def episodes_with(*evidences, num_frames=5, **more):
    return [Unlabelled(str(i), num_frames, e, **more) for i, e in enumerate(evidences)]


def outcomes(episodes, options=LabelOptions(), findings=None):
    labels, _ = decided(episodes, options, findings)
    return [labels[e.episode_id].outcome for e in episodes]


# ---- evidence


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([False, False], NO),
        ([False, True, False], Evidence(True, 1)),
        ([True, True], Evidence(True, None)),
        ([True], Evidence(True, None)),
        (np.array([0.0, 0.0, 1.0]), Evidence(True, 2)),
        ([0, 2], None),
        ([0.0, 0.5], None),
        ([0.0, np.nan], None),
        ([], None),
        (["success", "success"], YES),
        (["failure", "failure"], NO),
        (["failure", "success"], Evidence(True, 1)),
        (["maybe"], None),
        (np.zeros((2, 2)), None),
    ],
)
def test_evidence_from_a_column(values, expected):
    assert evidence_from_frames(values) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, YES),
        (np.bool_(False), NO),
        (1, YES),
        (0.0, NO),
        ("Success", YES),
        ("failure", NO),
        (b"success", YES),
        ("time-out", NO),
        (0.5, None),
        (None, None),
        ("", None),
    ],
)
def test_evidence_from_one_value(value, expected):
    assert evidence_from_value(value) == expected


# ---- the decision


def test_unsuccessful_means_time_out_unless_the_data_says_more():
    assert outcomes(episodes_with({"next.success": YES}, {"next.success": NO})) == [
        Outcome.SUCCESS,
        Outcome.TIME_OUT,
    ]
    assert outcomes(
        episodes_with({"next.success": YES}, {"next.success": NO}, terminated=True)
    ) == [Outcome.SUCCESS, Outcome.FAILURE]


def test_an_early_end_under_a_horizon_is_a_failure():
    episodes = [
        Unlabelled("0", 9, {"next.success": NO}),
        Unlabelled("1", 10, {"next.success": NO}),
        Unlabelled("2", 4, {"next.success": YES}),
    ]
    assert outcomes(episodes, LabelOptions(horizon=10, early_failures=True)) == [
        Outcome.FAILURE,
        Outcome.TIME_OUT,
        Outcome.SUCCESS,
    ]


def test_a_horizon_that_makes_failures_of_time_outs_asks_back():
    """With how many, which, what was probably meant, and how to say that it is meant."""
    episodes = [
        Unlabelled("long", 10, {"s": NO}),
        *(Unlabelled(f"short {i}", 4 + i, {"s": NO}) for i in range(6)),
        Unlabelled("done", 4, {"s": YES}),
    ]
    with pytest.raises(RolloutError) as refused:
        outcomes(episodes, LabelOptions(horizon=10))
    text = str(refused.value)
    assert "horizon=10 would make failures of 6 time-outs with fewer frames: short 0, " in text
    assert (
        "short 4 and 1 more (at most 9 frames; if the clock ran out there, give horizon=9)" in text
    )
    assert "confirm it with early_failures=True" in text
    with (
        speaking_of_flags(),
        pytest.raises(RolloutError, match="it with --early-failures; without"),
    ):
        outcomes(episodes, LabelOptions(horizon=10))
    found = outcomes(episodes, LabelOptions(horizon=10, early_failures=True))
    assert found.count(Outcome.FAILURE) == 6


def test_a_horizon_that_changes_nothing_needs_no_word():
    """Nor do failures that the data knows of, or that are stated, whatever their length."""
    late = [Unlabelled("0", 10, {"s": NO}), Unlabelled("1", 12, {"s": NO})]
    assert outcomes(late, LabelOptions(horizon=10)) == [Outcome.TIME_OUT] * 2
    ended = [Unlabelled("0", 3, {"s": NO}, terminated=True), Unlabelled("1", 3, {"s": YES})]
    assert outcomes(ended, LabelOptions(horizon=10)) == [Outcome.FAILURE, Outcome.SUCCESS]
    stated = LabelOptions(labels=["failure", "success"], horizon=10)
    assert outcomes(ended, stated) == [Outcome.FAILURE, Outcome.SUCCESS]


def test_early_failures_need_a_clock():
    with pytest.raises(RolloutError, match="early_failures=True: .* give it with horizon="):
        LabelOptions(early_failures=True)


def test_a_horizon_that_is_one_off_is_noticed():
    findings = Findings()
    episodes = episodes_with({"s": NO}, {"s": NO}, {"s": YES}, num_frames=249)
    options = LabelOptions(horizon=250, early_failures=True)
    assert outcomes(episodes, options, findings)[0] is Outcome.FAILURE
    assert "give horizon=249" in findings.warnings[0]


def test_order_of_preference_and_name_of_the_source():
    evidence = {"success": YES, "is_success": YES, "next.success": Evidence(True, 2)}
    labels, source = decided(episodes_with(evidence))
    assert source == "next.success"
    assert labels["0"] == Label(Outcome.SUCCESS, 2)


def test_the_goal_is_the_last_frame_when_nothing_says_when():
    assert decided(episodes_with({"is_success": YES}))[0]["0"] == Label(Outcome.SUCCESS, 4)


def test_conflicting_sources_are_an_error_that_names_episodes():
    episodes = episodes_with(*[{"next.success": YES, "meta/episode_labels.csv": NO}] * 7)
    message = (
        "data: next.success and meta/episode_labels.csv disagree on 7 episodes: "
        "0, 1, 2, 3, 4 and 2 more"
    )
    with pytest.raises(RolloutError, match=message):
        decided(episodes)


def test_an_explicit_choice_settles_a_conflict():
    episodes = episodes_with({"next.success": YES, "success": NO})
    labels, source = decided(episodes, LabelOptions(success_key="success"))
    assert labels["0"].outcome is Outcome.TIME_OUT
    assert source == "success"


def test_a_reward_counts_only_where_nothing_else_speaks():
    both = episodes_with({"next.reward": NO, "is_success": YES})
    assert decided(both)[1] == "is_success"
    assert decided(episodes_with({"next.reward": Evidence(True, 3)}))[1] == "next.reward"


def test_no_label_is_an_error_that_teaches():
    with pytest.raises(RolloutError) as caught:
        decided(episodes_with({}, {}))
    text = str(caught.value)
    for part in (
        "no outcome label found",
        "next.success",
        "holds action",
        "with labels= (csv",
        "with success_key=.",
    ):
        assert part in text


def test_episodes_without_a_label_are_left_out_and_named():
    findings = Findings()
    labels, _ = decided(
        episodes_with({"next.success": YES}, {}, {"next.success": NO}), findings=findings
    )
    assert sorted(labels) == ["0", "2"]
    assert [(x.episode_id, x.reason) for x in findings.left_out] == [
        ("1", "data: no label in next.success")
    ]
    with pytest.raises(RolloutError, match="episode 1: data: no label in next.success"):
        decided(episodes_with({"next.success": YES}, {}), findings=Findings(strict=True))


def test_all_successes_raise_a_survivorship_warning():
    findings = Findings()
    decided(episodes_with({"s": YES}, {"s": YES}), findings=findings)
    assert "all episodes (2) are successes" in findings.warnings[0]
    findings = Findings()
    decided(episodes_with({"s": NO}, {"s": NO}), findings=findings)
    assert findings.warnings == ["none of the episodes (2) is a success"]
    findings = Findings()
    decided(episodes_with({"s": NO}, {"s": YES}), findings=findings)
    assert findings.warnings == []


def test_a_success_key_that_is_not_there():
    with pytest.raises(RolloutError, match="no usable success key won.*holds action"):
        decided(episodes_with({"s": YES}), LabelOptions(success_key="won"))


def test_options_that_contradict():
    with pytest.raises(RolloutError, match="not both"):
        LabelOptions(labels="x.csv", success_key="y")
    with pytest.raises(RolloutError, match="horizon=0: must be at least 1"):
        LabelOptions(horizon=0)


# ---- label files


def write(folder: Path, name: str, content) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "episode_index,success\n0,true\n1,False\n"),
        ("a.csv", "\ufeffEpisode_Index, success\n0,1\n1,0\n"),
        ("a.csv", "episode_index,outcome\n0,success\n1,time_out\n"),
        ("a.json", {"0": True, "1": False}),
        ("a.json", {"0": "success", "1": "timeout"}),
        ("a.json", [{"episode_index": 0, "success": True}, {"episode_index": 1, "success": 0}]),
        ("a.json", {"episodes": [{"episode": 0, "success": 1}, {"episode": 1, "success": 0}]}),
        ("a.json", {"0": {"success": True}, "1": {"outcome": "time_out"}}),
    ],
)
def test_label_files(tmp_path: Path, name, content):
    labels = LabelOptions(labels=write(tmp_path, name, content))
    episodes = episodes_with({"next.success": NO}, {"next.success": NO})
    assert outcomes(episodes, labels) == [Outcome.SUCCESS, Outcome.TIME_OUT]


def test_three_values_tell_failures_from_time_outs(tmp_path: Path):
    path = write(tmp_path, "a.csv", "episode_index,outcome\n0,success\n1,time_out\n2,failure\n")
    assert outcomes(episodes_with({}, {}, {}), LabelOptions(labels=path)) == list(Outcome)


def test_failure_in_a_two_valued_column_is_a_time_out(tmp_path: Path):
    path = write(tmp_path, "a.csv", "episode_index,success\n0,success\n1,failure\n")
    assert outcomes(episodes_with({}, {}), LabelOptions(labels=path))[1] is Outcome.TIME_OUT


def test_a_label_file_may_say_when(tmp_path: Path):
    path = write(tmp_path, "a.csv", "episode_index,success,goal_frame\n0,true,2\n1,true,\n")
    labels, _ = decided(
        episodes_with({}, {"next.success": Evidence(True, 1)}), LabelOptions(labels=path)
    )
    assert labels == {"0": Label(Outcome.SUCCESS, 2), "1": Label(Outcome.SUCCESS, 1)}


def test_overriding_is_said(tmp_path: Path):
    findings = Findings()
    path = write(tmp_path, "a.csv", "episode_index,success\n0,false\n1,true\n9,true\n")
    decided(episodes_with({"s": YES}, {"s": YES}), LabelOptions(labels=path), findings)
    assert "names 1 episode not in the data set: 9" in findings.warnings[0]
    assert findings.warnings[1] == "label file a.csv overrides s in 1 episode: 0"


def test_one_word_for_every_episode():
    labels, source = decided(episodes_with({}, {}), LabelOptions(labels="success"))
    assert [label.outcome for label in labels.values()] == [Outcome.SUCCESS] * 2
    assert source == "success for every episode, as stated"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "holds no labels"),
        ("a.csv", "success\ntrue\n", "line 2: no episode named; columns: success"),
        ("a.csv", "episode_index,success\n3,perhaps\n", "line 2: success is 'perhaps'"),
        ("a.csv", "episode_index,won\n3,true\n", "neither success nor outcome given"),
        ("a.csv", "episode_index,success\n3,true\n3,false\n", "episode 3 has two different"),
        ("a.csv", "episode_index,success,goal_frame\n3,true,x\n", "goal_frame is 'x'"),
        ("a.csv", "episode_index,success,success\n3,true,false\n", "a column stands there twice"),
        ("a.csv", "episode_index,success,outcome\n3,false,success\n", "contradict each other"),
        ("a.json", '{"0": true, "0": false}', "a key stands there twice"),
        ("a.json", "{", "not a json file"),
        ("a.json", "[" * 100_000, "not a json file"),
        ("a.json", "[1]", "entry 0: wanted an object"),
        ("a.json", "3", "wanted a list or an object"),
    ],
)
def test_bad_label_files(tmp_path: Path, name, content, message):
    path = write(tmp_path, name, content)
    with pytest.raises(RolloutError, match=message) as caught:
        labels_by_episode(read_label_file(path, str), path)
    assert str(path) in str(caught.value)


def test_a_label_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(RolloutError, match=r"none.csv: cannot read the label file"):
        read_label_file(tmp_path / "none.csv", str)


@pytest.mark.timeout(10)
def test_a_pipe_is_no_label_file(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(RolloutError, match=r"pipe.csv: .*no regular file"):
        read_label_file(tmp_path / "pipe.csv", str)


def test_a_goal_outside_the_episode_is_left_out(tmp_path: Path):
    path = write(tmp_path, "a.csv", "episode_index,success,goal_frame\n0,true,99\n1,true,1\n")
    findings = Findings()
    decided(episodes_with({}, {}), LabelOptions(labels=path), findings)
    assert "puts the goal at frame 99 of an episode with 5 frames" in findings.left_out[0].reason


def test_a_goal_of_an_episode_that_did_not_succeed_is_left_out(tmp_path: Path):
    path = write(tmp_path, "a.csv", "episode_index,success,goal_frame\n0,false,2\n1,true,1\n")
    findings = Findings()
    decided(episodes_with({}, {}), LabelOptions(labels=path), findings)
    assert "the goal at frame 2 of an episode that did not succeed" in findings.left_out[0].reason


@pytest.mark.parametrize(
    "content",
    [
        "id,episode_index,success\n1,0,true\n0,1,false\n",
        "episode_index,success\n0.0,1.0\n1.0,0.0\n",
        "episode,success\nepisode_000000,yes\nepisode_000001,no\n",
        "path,episode_index,success\n/x/a.mp4,0,true\n/x/b.mp4,1,false\n",
    ],
)
def test_spellings_people_use(tmp_path: Path, content: str):
    labels = LabelOptions(labels=write(tmp_path, "a.csv", content))
    assert outcomes(episodes_with({}, {}), labels) == [Outcome.SUCCESS, Outcome.TIME_OUT]


def test_a_path_is_more_specific_than_a_number(tmp_path: Path):
    path = write(tmp_path, "a.csv", "episode,path,success\n1,/data/0.mp4,true\n0,1.mp4,false\n")
    episodes = [Unlabelled(str(i), 5, {}, other_names=(f"{i}.mp4",)) for i in range(2)]
    assert outcomes(episodes, LabelOptions(labels=path)) == [Outcome.SUCCESS, Outcome.TIME_OUT]


def test_two_names_of_one_episode_must_agree(tmp_path: Path):
    path = write(tmp_path, "a.csv", "episode,success\ndemo_3,true\n3,false\n")
    episodes = [Unlabelled("demo_3", 5, {}, other_names=("3",))]
    with pytest.raises(RolloutError, match="has two different labels"):
        decided(episodes, LabelOptions(labels=path))


def test_a_label_file_that_fits_nothing_shows_both_sides(tmp_path: Path):
    path = write(tmp_path, "a.csv", "episode,success\nfoo,true\nbar,false\n")
    with pytest.raises(RolloutError, match="it names foo, bar; they are called 0, 1"):
        decided(episodes_with({}, {}), LabelOptions(labels=path))


def test_a_reward_does_not_say_when():
    evidence = {"is_success": YES, "next.reward": Evidence(True, 1)}
    assert decided(episodes_with(evidence))[0]["0"].goal_frame == 4


def test_episodes_beyond_the_horizon_are_noticed():
    findings = Findings()
    decided(episodes_with({"s": YES}, {"s": NO}), LabelOptions(horizon=3), findings)
    assert "2 episodes longer than the horizon of 3 frames: 0, 1" in findings.warnings

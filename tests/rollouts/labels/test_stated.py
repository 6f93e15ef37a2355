"""Labels that the user states, as a list or a dict."""

import numpy as np
import pytest

import goalward
from goalward import Outcome, RolloutError
from goalward.rollouts.findings import Findings
from goalward.rollouts.labels.evidence import Evidence, Unlabelled
from goalward.rollouts.labels.outcome import Label, LabelOptions, decide

SUCCESS, TIME_OUT, FAILURE = Outcome
EPISODES = [
    Unlabelled("a", 4, {"next.success": Evidence(True, 2)}),
    Unlabelled("b", 5, {}, other_names=("run/b.mp4",)),
    Unlabelled("3", 6, {}),
]


def decided(labels, findings: Findings | None = None, **more) -> tuple[dict[str, Label], str]:
    options = LabelOptions(labels, **more)
    found = findings or Findings()
    return decide(EPISODES, options, found, where="data", looked_for="", holds="")


def outcomes(labels, **more) -> list[Outcome]:
    found, _ = decided(labels, **more)
    return [found[episode.episode_id].outcome for episode in EPISODES]


@pytest.mark.parametrize(
    "labels",
    [
        [True, False, "failure"],
        ("success", "time_out", Outcome.FAILURE),
        np.array(["success", "false", "failed"]),
        [np.bool_(True), 0, "failure"],
        {"a": True, "b": False, "3": "failure"},
        {"a": "success", "run/b.mp4": np.bool_(False), 3: "failure"},
        {"3": Outcome.FAILURE, "a": 1, "b": "timeout"},
    ],
)
def test_lists_and_dicts(labels):
    assert outcomes(labels) == [SUCCESS, TIME_OUT, FAILURE]


def test_a_list_goes_by_order_and_a_dict_by_name():
    assert outcomes([False, True, True]) == [TIME_OUT, SUCCESS, SUCCESS]
    assert outcomes(dict(zip(["3", "b", "a"], [False, True, True], strict=True))) == [
        *(SUCCESS, SUCCESS, TIME_OUT)
    ]


def test_booleans_leave_room_for_the_horizon():
    found = outcomes(np.array([True, False, False]), horizon=6, early_failures=True)
    assert found == [SUCCESS, FAILURE, TIME_OUT]
    assert outcomes([True, "time_out", "time_out"], horizon=6) == [SUCCESS, TIME_OUT, TIME_OUT]


def test_when_the_goal_was_reached_may_come_from_the_data():
    labels, source = decided([True, True, False])
    assert labels["a"] == Label(SUCCESS, 2)
    assert labels["b"] == Label(SUCCESS, 4)
    assert source == "the given list"
    assert decided({"a": {"outcome": "success", "goal_frame": 1}, "b": 0, "3": 0})[0]["a"] == Label(
        SUCCESS, 1
    )


def test_what_is_overridden_is_said():
    findings = Findings()
    decided([False, True, True], findings)
    assert findings.warnings == ["the given list overrides next.success in 1 episode: a"]


def test_a_dict_may_leave_episodes_out():
    findings = Findings()
    labels, source = decided({"a": True, "x": False}, findings)
    assert (sorted(labels), source) == (["a"], "the given dict")
    assert [left.episode_id for left in findings.left_out] == ["b", "3"]
    assert findings.left_out[0].reason == "data: no label in the given dict"
    assert "labels: names 1 episode not in the data set: x" in findings.warnings


def test_a_list_of_the_wrong_length_is_never_aligned_by_guessing():
    with pytest.raises(RolloutError, match="labels= lists 2 outcomes for 3 episodes; a dict names"):
        decided([True, False])
    findings = Findings()
    findings.leave_out("c", "its video is cut")
    with pytest.raises(RolloutError, match=r"4 outcomes for 3 episodes \(1 episode left out: c\)"):
        decided([True, False, True, True], findings)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["won", True, True], "labels, episode a: 'won' is neither true or false nor success"),
        ([None, True, True], "labels, episode a: None is neither"),
        ([0.3, True, True], "labels, episode a: 0.3 is neither"),
        ({"a": "won"}, "labels, episode a: outcome is 'won'; use true or false"),
        ({"a": None}, "labels, episode a: neither success nor outcome given"),
        ({"x": True}, "labels: fits none of the 3 episodes: it names x; they are called a, b, 3"),
        ({3: True, "3": False}, "labels: episode 3 has two different labels"),
        ({}, "labels: the dict holds no labels"),
        ([], "labels= lists 0 outcomes for 3 episodes"),
        ({True, False}, "must be a csv or json file, an outcome, a list or a dict, got a set"),
        (3, "labels= must be a csv or json file, .* got a int"),
    ],
)
def test_labels_that_say_nothing(labels, message):
    with pytest.raises(RolloutError, match=message):
        decided(labels)


def test_from_the_front_door():
    """The rollouts that come with the package, labelled the other way round."""
    recorded = goalward.read("demo")
    turned = goalward.read("demo", labels=~recorded.success)
    assert turned.ids == recorded.ids
    assert np.array_equal(turned.success, ~recorded.success)
    assert turned.sources[0].label_source == "the given list"
    by_id = dict(zip(recorded.ids, ~recorded.success, strict=True))
    assert np.array_equal(goalward.read("demo", labels=by_id).success, ~recorded.success)
    with pytest.raises(RolloutError, match="labels= lists 47 outcomes for 48 episodes"):
        goalward.read("demo", labels=recorded.success[1:])

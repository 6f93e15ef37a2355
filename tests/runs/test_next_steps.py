"""What to do next follows from the run: at most three steps, each with a command that runs."""

import shlex
from dataclasses import replace

import numpy as np
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

from goalward.report.words.blocks import plain_text
from goalward.report.words.next_steps import next_step_words
from goalward.rollouts.episode import Outcome
from goalward.runs.next_steps import StepKind, contradicted

LENGTH = 20


def run_of(outcomes, steps_of, names=None, **config):
    """`steps_of(position, outcome)` -> steps of its frames, one seed."""
    names = names or [str(i) for i in range(len(outcomes))]
    episodes = [
        drawn_episode(name, LENGTH, outcome=outcome)
        for name, outcome in zip(names, outcomes, strict=True)
    ]
    steps = [steps_of(i, outcome) for i, outcome in enumerate(outcomes)]
    return drawn_run(episodes, {"td": steps}, **config)[0]


def knowing(position, outcome):
    return countdown(LENGTH, 1) if outcome is Outcome.SUCCESS else np.full((1, LENGTH), 40.0)


def blind(position, outcome):
    return np.full((1, LENGTH), 5.0)


HALF = [Outcome.SUCCESS, Outcome.TIME_OUT]


def kinds(run):
    return [step.kind for step in run.next_steps]


def test_a_rate_that_is_too_wide_asks_for_so_many_more() -> None:
    run = run_of(HALF * 24, knowing)
    (rollouts, *_) = run.next_steps
    assert (rollouts.kind, rollouts.number, rollouts.for_trust) == (
        StepKind.MORE_ROLLOUTS,
        45,
        None,
    )
    told = plain_text(next_step_words(rollouts, run))
    assert told == (
        "Record about 45 more rollouts for a success rate within 10 points either way, if the "
        "policy goes on like this."
    )
    assert rollouts.command == "goalward evaluate rollouts --out run"


def test_of_two_numbers_of_rollouts_the_larger_comes_first() -> None:
    run = run_of(HALF * 24, knowing)
    step = replace(run.next_steps[0], number=85, for_trust=24)
    assert plain_text(next_step_words(step, run)) == (
        "Record about 85 more rollouts for a success rate within 10 points either way; about 24 "
        "are enough to tell whether the values know anything, if the policy goes on like this."
    )
    turned = plain_text(next_step_words(replace(step, number=24, for_trust=85), run))
    assert turned.startswith("Record about 85 more rollouts to tell whether the values know")
    assert "; about 24 are enough for a success rate" in turned


def test_few_episodes_that_cannot_be_checked_are_looked_through() -> None:
    run = run_of(HALF * 4, blind)
    labels, rollouts, _ = run.next_steps
    assert labels.kind is StepKind.CHECK_LABELS
    assert len(labels.episodes) == 8
    assert "all 8 episodes" in plain_text(next_step_words(labels, run))
    assert rollouts.kind is StepKind.MORE_ROLLOUTS


def test_labels_that_good_values_contradict_are_named() -> None:
    """A success that looks far all along, a time-out that ends at the goal."""

    def two_wrong(position, outcome):
        is_wrong = position in (4, 7)
        other = Outcome.TIME_OUT if outcome is Outcome.SUCCESS else Outcome.SUCCESS
        return knowing(position, other if is_wrong else outcome)

    run = run_of(HALF * 24, two_wrong)
    assert set(contradicted(run)) == {"4", "7"}
    step = run.next_steps[0]
    assert (step.kind, set(step.episodes)) == (StepKind.CHECK_LABELS, {"4", "7"})
    assert shlex.split(step.command) == ["goalward", "audit", "run"]
    assert contradicted(run_of(HALF * 24, knowing)) == ()
    words = plain_text(next_step_words(step, run))
    assert words.startswith("Check the labels of 2 episodes")
    assert "the contrary of what the values see" in words
    one = next_step_words(replace(step, episodes=("4",)), run)
    assert plain_text(one) == (
        "Check the label of episode 4: it is labelled a success, but to the values it never came "
        "near the goal."
    )
    # What the page makes a link of.
    assert [span.text for span in one if span.style == "em"] == ["4"]
    late = plain_text(next_step_words(replace(step, episodes=("7",)), run))
    assert late.endswith("7: it is labelled a time-out, but to the values it looks done.")


def test_a_call_from_python_is_no_line_to_copy_into_a_shell() -> None:
    run = run_of(HALF * 24, blind, effort="quick")
    made_by = replace(run.settings.made_by, command="goalward.evaluate(..., out='run')")
    run = replace(run, settings=replace(run.settings, made_by=made_by))
    assert StepKind.MORE_ROLLOUTS in kinds(run)
    for step in run.next_steps:
        assert step.command == "" or step.command.startswith("goalward "), step


def test_nothing_that_succeeded_asks_for_successes_first() -> None:
    run = run_of([Outcome.TIME_OUT] * 24, knowing)
    assert kinds(run)[0] is StepKind.RECORD_SUCCESSES
    # The summary says that such values cannot say where to look, and so do the next steps.
    assert run.scores.policy.watch_first
    assert StepKind.WATCH not in kinds(run)


def test_time_outs_that_are_nearly_there_ask_for_a_longer_clock() -> None:
    def nearly(position, outcome):
        steps = knowing(position, outcome)
        return steps if outcome is Outcome.SUCCESS else np.full((1, LENGTH), 15.0)

    run = run_of(HALF * 24, nearly)
    step = next(one for one in run.next_steps if one.kind is StepKind.LONGER_CLOCK)
    # Clocks of 19 steps; all time-outs are said to be 15 away.
    assert step.number == 38
    assert "--outcome time_out --sort chance" in step.command
    late = round(run.time_outs.share.value * 24)
    assert late > 4
    assert plain_text(next_step_words(step, run)) == (
        f"Let the policy run for 38 steps, twice its clock, in some rollouts: about {late} of the "
        "24 time-outs are expected to succeed then."
    )
    assert StepKind.LONGER_CLOCK not in kinds(run_of(HALF * 24, knowing))


def test_a_first_look_that_could_not_tell_asks_for_a_longer_one() -> None:
    run = run_of(HALF * 24, blind, effort="quick")
    settings = replace(
        run.settings,
        made_by=replace(run.settings.made_by, command="goalward evaluate a --effort quick --out b"),
    )
    run = replace(run, settings=settings)
    step = next(one for one in run.next_steps if one.kind is StepKind.MORE_EFFORT)
    assert step.command == "goalward evaluate a --out b --effort normal"
    # With networks of another run an effort changes nothing, and is refused.
    judged = replace(settings, evaluation=replace(settings.evaluation, values_from="/runs/other"))
    assert StepKind.MORE_EFFORT not in kinds(replace(run, settings=judged))


@pytest.mark.parametrize("steps_of", [knowing, blind])
def test_there_are_never_more_than_three(steps_of) -> None:
    for outcomes in (HALF * 4, HALF * 24, [Outcome.TIME_OUT] * 3, [Outcome.SUCCESS] * 30):
        run = run_of(outcomes, steps_of, effort="quick")
        assert 1 <= len(run.next_steps) <= 3
        for step in run.next_steps:
            assert plain_text(next_step_words(step, run)).endswith(".")

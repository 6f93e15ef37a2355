"""Episodes judged by the networks of another run."""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from rollout_files.lerobot import make_episode, write_lerobot
from rollout_files.vision_models import write_model

import goalward
from goalward import GoalwardError, write_features
from goalward.embeddings.encoders import DEFAULT_ENCODER
from goalward.report.words.brief import brief_document
from goalward.report.words.rendering import markdown as plain_text
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.runs.making.given import Given
from goalward.runs.making.values_of_run import given_as
from goalward.values.fitted import load

TINY = {"width": 8, "num_layers": 2, "num_steps": 30, "batch_size": 32}


def rollouts(num_episodes=16, seed=0, shift=0.0, length=12):
    ramp = np.linspace(0, 1, length)[:, None]
    draws = np.random.default_rng(seed)
    success = [i % 2 == 0 for i in range(num_episodes)]
    arrays = [
        (ramp if good else 0 * ramp) + shift + 0.1 * draws.normal(size=(length, 2))
        for good in success
    ]
    return goalward.from_arrays(arrays, success=success)


def evaluate(data, folder, **options):
    return goalward.evaluate(data, folder, report=False, progress=False, **options)


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    place = tmp_path_factory.mktemp("learned")
    return evaluate(rollouts(24), place / "run", methods="mc", seeds=2, folds=2, **TINY)


def test_values_are_those_of_the_networks_and_nothing_is_trained(learned, tmp_path, caplog):
    new = rollouts(10, seed=1, length=15)
    caplog.set_level("INFO", "goalward")
    run = evaluate(new, tmp_path / "new", values=learned)
    assert run.settings.evaluation.values_from == str(learned.folder.path.resolve())
    wanted = load(learned.folder.networks).predict(new, subset="fold 0")
    assert np.array_equal(run.values.steps_to_goal, wanted.steps_to_goal)
    assert all(episode.held_out for episode in run.episodes)
    assert run.values.methods == ("mc",)
    assert "training 1" not in caplog.text
    # The folder stands by itself.
    assert goalward.open_run(run.folder.path).familiarity == run.familiarity
    assert load(run.folder.networks).seeds == (0, 1)


def test_called_again_it_makes_nothing_and_other_networks_make_it_anew(learned, tmp_path, caplog):
    new = rollouts(10, seed=1)
    first = evaluate(new, tmp_path / "new", values=learned)
    caplog.set_level("INFO", "goalward")
    evaluate(new, tmp_path / "new", values=learned)
    assert "nothing had to be made" in caplog.text
    other = evaluate(rollouts(seed=5), tmp_path / "other", methods="mc", seeds=2, folds=2, **TINY)
    second = evaluate(new, tmp_path / "new", values=other)
    assert second.folder.path == tmp_path / "new-2"
    assert not np.array_equal(first.values.raw_value, second.values.raw_value)


def test_frames_far_from_what_was_learned_are_told(learned, tmp_path):
    # In memory alone: where the run was just made, its rollouts are there.
    run = evaluate(rollouts(10, seed=1, shift=5.0), tmp_path / "far", values=learned)
    assert run.familiarity is not None
    assert len(run.familiarity.far) == 10
    assert run.familiarity.num_learned == 24
    assert "not like the ones that were learned from" in run.summary()
    near = evaluate(rollouts(10, seed=1), tmp_path / "near", values=learned)
    assert "not like the ones" not in near.summary()
    assert "nothing was trained here" in near.summary()
    assert "a policy that goes on otherwise from them has other values" in near.summary()


def test_episodes_that_were_learned_from_are_not_held_out(learned, tmp_path, caplog):
    new = rollouts(10, seed=1)
    both = goalward.concatenate([new, rollouts(24)[10:16]])
    run = evaluate(both, tmp_path / "grown", values=learned)
    assert run.familiarity is not None
    # Judged by the networks of fold 0, which never saw what that fold held out.
    seen = [learned.episodes[i].fold != "fold 0" for i in range(10, 16)]
    assert set(seen) == {True, False}
    assert [not episode.held_out for episode in run.episodes] == [*[False] * 10, *seen]
    assert run.scores.num_held_out == 16 - sum(seen)
    assert run.familiarity.copies == tuple(str(10 + i) for i in range(6) if seen[i])
    told = (
        f"learned from {sum(seen)} episodes of these, so their values are optimistic, and they do"
    )
    assert told in caplog.text
    assert "of these it learned from: their values know how they ended" in run.summary()
    assert goalward.open_run(run.folder.path).familiarity == run.familiarity


def test_what_a_run_learned_from_as_a_whole_is_refused(tmp_path):
    run = evaluate(rollouts(24), tmp_path / "run", seeds=1, effort="quick", num_steps=30)
    with pytest.raises(GoalwardError, match="values=: .*run learned from all of these episodes"):
        evaluate(rollouts(24), tmp_path / "again", values=run)
    assert not (tmp_path / "again").exists()


def write_cameras(path, seeds):
    return write_lerobot(path, [make_episode(6, seed=n, success=n % 2 == 0) for n in seeds])


@pytest.fixture
def seen_by_camera(tmp_path, monkeypatch):
    """Rollouts with a camera and no features, and a run of them."""
    monkeypatch.setenv("GOALWARD_CACHE", str(tmp_path / "cache"))
    path = write_cameras(tmp_path / "rollouts", range(8))
    model = str(write_model(tmp_path / "model", "clip"))
    options = {"methods": "mc", "seeds": 1, "folds": 1, "encoder": model, "device": "cpu"}
    return path, evaluate(path, tmp_path / "run", **options, **TINY)


def test_it_is_refused_before_anything_is_embedded(seen_by_camera, tmp_path, monkeypatch):
    """A data set that holds what the networks learned from, and nothing else."""
    _, run = seen_by_camera
    learned = [episode.id for episode in run.episodes if not episode.held_out]
    again = write_cameras(tmp_path / "again", map(int, learned))
    monkeypatch.setattr(Given, "embed", lambda *_, **__: pytest.fail("embedded for nothing"))
    with pytest.raises(GoalwardError, match="run learned from all of these episodes"):
        evaluate(again, tmp_path / "judged", values=run)
    assert not (tmp_path / "judged").exists()


def test_an_episode_left_out_later_is_no_copy(seen_by_camera, tmp_path, monkeypatch):
    """What is left after embedding counts: here only what the networks learned from."""
    path, run = seen_by_camera
    learned = [episode.id for episode in run.episodes if not episode.held_out]
    embed = Given.embed
    monkeypatch.setattr(
        Given,
        "embed",
        lambda self, rollouts, *o, **k: embed(self, rollouts, *o, **k).filter(
            lambda episode: episode.id in kept
        ),
    )
    kept = learned
    with pytest.raises(GoalwardError, match="run learned from all of these episodes"):
        evaluate(path, tmp_path / "again", values=run)
    kept = [episode.id for episode in run.episodes][:-1]
    found = evaluate(path, tmp_path / "again", values=run).familiarity
    assert found is not None
    assert found.copies == tuple(name for name in learned if name in kept)


@pytest.mark.parametrize("name", ["networks/nets-0.safetensors", "training_log.csv"])
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda path: path.unlink(), "it is gone"),
        (lambda path: path.write_bytes(path.read_bytes()[:-9] + bytes(9)), "does not fit"),
    ],
)
def test_damaged_networks_are_named_where_they_lie(learned, tmp_path, name, damage, said):
    shutil.copytree(learned.folder.path, tmp_path / "run")
    damage(tmp_path / "run" / name)
    with pytest.raises(GoalwardError, match=rf"run/{name}: was changed.*{said}.*makes anew"):
        evaluate(rollouts(10, seed=1), tmp_path / "new", values=tmp_path / "run")
    assert not (tmp_path / "new").exists()


def test_how_far_frames_lie_is_known_where_what_was_learned_from_is_gone(learned, tmp_path, caplog):
    far = rollouts(10, seed=1, shift=5.0)
    there = evaluate(far, tmp_path / "there", values=learned)
    shutil.copytree(learned.folder.path, tmp_path / "moved")
    gone = evaluate(far, tmp_path / "gone", values=tmp_path / "moved")
    assert there.familiarity is not None
    assert gone.familiarity is not None
    assert gone.familiarity.episodes == there.familiarity.episodes
    assert (there.familiarity.copies_known, gone.familiarity.copies_known) == (True, False)
    assert "among those learned from is not known: " in caplog.text
    assert "given in memory" in caplog.text
    assert "data=" not in caplog.text
    assert "Whether it learned from some of these is not known." in gone.summary()
    # The copy of the networks has it too.
    third = evaluate(far, tmp_path / "third", values=gone.folder.path)
    assert third.familiarity is not None
    assert third.familiarity.episodes == there.familiarity.episodes


def test_that_values_are_of_another_run_is_said_where_nothing_else_is_known(
    learned, tmp_path, caplog
):
    shutil.copytree(learned.folder.path, tmp_path / "old")
    # As a run of before there was such a sample.
    (tmp_path / "old/networks/learned_frames.npz").unlink()
    (tmp_path / "old/steps.json").unlink()
    run = evaluate(rollouts(10, seed=1), tmp_path / "new", values=tmp_path / "old")
    assert run.familiarity is None
    assert "lie from those learned from, and whether some are among them, is not" in caplog.text
    said = run.summary()
    assert f"The values are those of `{(tmp_path / 'old').resolve()}`; nothing was trained" in said
    assert "or among them, is not known" in said


def test_more_time_is_a_hint_where_another_policy_was_learned_from(tmp_path):
    run = evaluate(rollouts(40), tmp_path / "run", effort="quick", num_steps=200, lags=())
    new = evaluate(rollouts(24, seed=1), tmp_path / "new", values=run)
    assert str(new.time_outs.saying) == str(run.time_outs.saying) == "expected"
    hint = "if it goes on as the policy learned from does"
    for words in (goalward.summary, lambda one: plain_text(brief_document(one))):
        assert hint in " ".join(words(new).split())
        assert hint not in words(run)
        assert "kept apart" not in words(new)


def test_episodes_of_one_outcome_can_be_judged(learned, tmp_path):
    ramp = np.linspace(0, 1, 12)[:, None] * np.ones((1, 2))
    failed = goalward.from_arrays([0 * ramp, 0.1 * ramp, 0.2 * ramp], success=[False] * 3)
    run = evaluate(failed, tmp_path / "none", values=learned)
    assert run.scores.policy.success.count == 0
    assert run.trust.grade == "unknown"


def test_bad_input(learned, tmp_path):
    with pytest.raises(GoalwardError, match="so seeds= would change nothing"):
        evaluate(rollouts(), tmp_path / "new", values=learned, seeds=3)
    with pytest.raises(GoalwardError, match="so methods= would change nothing"):
        evaluate(rollouts(), tmp_path / "new", values=learned, methods="td")
    with pytest.raises(GoalwardError, match="is no folder of `goalward evaluate`"):
        evaluate(rollouts(), tmp_path / "new", values=tmp_path)
    shutil.copytree(learned.folder.path, tmp_path / "emptied")
    shutil.rmtree(tmp_path / "emptied" / "networks")
    with pytest.raises(GoalwardError, match="has no networks"):
        evaluate(rollouts(), tmp_path / "new", values=tmp_path / "emptied")
    wide = goalward.from_arrays([np.zeros((5, 7)), np.ones((5, 7))], success=[True, False])
    with pytest.raises(GoalwardError, match="have 7 numbers, those that .* learned from 2"):
        evaluate(wide, tmp_path / "new", values=learned)
    with pytest.raises(GoalwardError, match="run: is the run whose networks are to judge"):
        evaluate(rollouts(), learned.folder.path, values=learned)


def of_a_robot(num_numbers=2, num_episodes=16, seed=0):
    draws = np.random.default_rng(seed)
    ramp = np.linspace(0, 1, 12)[:, None]
    return Rollouts(
        Episode(
            str(i),
            12,
            Outcome.TIME_OUT if i % 2 else Outcome.SUCCESS,
            None if i % 2 else 11,
            proprioception=(1 - i % 2) * ramp + 0.1 * draws.normal(size=(12, num_numbers)),
        )
        for i in range(num_episodes)
    )


def test_other_numbers_are_refused_before_anything_is_embedded(tmp_path, monkeypatch):
    bare = {"embedding": {"cameras": ()}}
    run = evaluate(of_a_robot(), tmp_path / "run", methods="mc", seeds=1, folds=1, **bare, **TINY)
    new = of_a_robot(seed=1)
    write_features(tmp_path / "new.npz", goalward.embed(new, cameras=()))
    from_file = evaluate(tmp_path / "new.npz", tmp_path / "from_file", values=run)
    direct = evaluate(new, tmp_path / "direct", values=run)
    assert np.array_equal(from_file.values.raw_value, direct.values.raw_value)
    with pytest.raises(GoalwardError, match="so encoder= would change nothing"):
        evaluate(new, tmp_path / "no", values=run, encoder="effnet-lite0")
    monkeypatch.setattr(Given, "embed", None)
    with pytest.raises(GoalwardError, match="learned from 2 proprioceptive .* would be 3 "):
        evaluate(of_a_robot(3), tmp_path / "no", values=run)
    assert not (tmp_path / "no").exists()


def test_labels_of_the_earlier_run_are_not_those_of_new_episodes(tmp_path):
    source = SimpleNamespace(
        settings=SimpleNamespace(
            reading={"labels": "old.csv", "horizon": 9, "flip": True, "filter_key": "train"},
            embedding={"encoder": "clip"},
        )
    )
    given = given_as(source, Given({"horizon": 5}, {"encoder": DEFAULT_ENCODER}), tmp_path)
    assert given.reading == {"horizon": 5, "flip": True}
    assert given.embedding == {"encoder": "clip"}

"""A run on the hub and back: what is sent is what `to` writes, and it judges new episodes."""

import shutil

import numpy as np
import pytest
import yaml

import goalward
from exports.stand_in_hub import TOKEN, StandInHub
from goalward.errors import GoalwardError
from goalward.exports.hub.push import push

NAME = "lab/pick"
SMALL = {"width": 16, "num_layers": 2, "num_steps": 100, "batch_size": 64}


def ramps(seed: int) -> goalward.Rollouts:
    draws, ramp = np.random.default_rng(seed), np.linspace(0, 1, 12)[:, None]
    arrays = [sign * ramp + 0.05 * draws.normal(size=(12, 2)) for sign in (1, -1) * 8]
    return goalward.from_arrays(arrays, success=[True, False] * 8, tasks=["lift"] * 16)


@pytest.fixture(scope="module")
def run(tmp_path_factory, one_thread) -> goalward.Run:
    folder = tmp_path_factory.mktemp("run")
    options = {"methods": ["liveness", "mc"], "seeds": 2, "folds": 2, "report": False}
    return goalward.evaluate(ramps(0), folder, **options, **SMALL, device="cpu")


@pytest.fixture
def hub(tmp_path, monkeypatch):
    server = StandInHub()
    monkeypatch.setenv("HF_ENDPOINT", server.address)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub_cache"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub_cache"))
    yield server
    server.shutdown()
    server.server_close()


def files_under(folder) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_what_is_sent_is_what_the_folder_holds(run, hub, tmp_path):
    written = push(run, NAME, to=tmp_path / "parcel")
    assert hub.repositories == {}
    sent = push(run, NAME)
    assert [place.rpartition("/commit/")[0] for place in sent] == [
        f"{hub.address}/{NAME}",
        f"{hub.address}/datasets/{NAME}-values",
    ]
    for place, key in zip(written, [("model", NAME), ("dataset", f"{NAME}-values")], strict=True):
        assert hub.repositories[key] == files_under(tmp_path / "parcel" / place.split("/")[-1])
    model = hub.repositories["model", NAME]
    assert {"README.md", "scores.json", "values.parquet", "report/index.html"} <= set(model)
    assert any(name.endswith(".safetensors") for name in model)


def test_new_episodes_are_judged_by_what_comes_from_the_hub(run, hub, tmp_path, caplog):
    push(run, NAME, report=False)
    options = {"report": False, "device": "cpu"}
    by_hub = goalward.evaluate(ramps(1), tmp_path / "a", values=f"hub:{NAME}", **options)
    by_folder = goalward.evaluate(ramps(1), tmp_path / "b", values=run.folder.path, **options)
    np.testing.assert_array_equal(by_hub.values.raw_value, by_folder.values.raw_value)
    assert len(by_hub.episodes) == 16


def test_the_card_states_data_scores_and_limits(run, tmp_path):
    push(run, NAME, to=tmp_path, report=False)
    _, head, text = (tmp_path / "model" / "README.md").read_text().split("---\n", 2)
    assert yaml.safe_load(head)["library_name"] == "goalward"
    rate = run.scores.policy.success
    assert f"{rate.count} of {rate.total}; 95 % interval" in text
    assert "16 episodes" in text
    assert "8 success, 8 time-out, 0 failure" in text
    assert "## Limits" in text
    assert f"--values hub:{NAME}" in text
    assert "report/index.html" not in text
    _, head, _ = (tmp_path / "values" / "README.md").read_text().split("---\n", 2)
    for config in yaml.safe_load(head)["configs"]:
        assert (tmp_path / "values" / config["data_files"]).is_file()


def test_the_cards_state_a_licence_or_that_there_is_none(run, tmp_path):
    push(run, NAME, to=tmp_path, report=False)
    cards = [tmp_path / kind / "README.md" for kind in ("model", "values")]
    assert all("stated no licence" in card.read_text() for card in cards)
    push(run, NAME, to=tmp_path, report=False, licence="cc-by-4.0")
    for card in cards:
        _, head, text = card.read_text().split("---\n", 2)
        assert yaml.safe_load(head)["license"] == "cc-by-4.0"
        assert "stated no licence" not in text
    with pytest.raises(GoalwardError, match="licence=: 'mine: all' is no name of one"):
        push(run, NAME, to=tmp_path, licence="mine: all")


def test_what_people_noted_and_pictures_of_rooms_stay_at_home(run, tmp_path):
    run.folder.notes.write_text('{"0": {"text": "Anna dropped it"}}')
    try:
        push(run, NAME, to=tmp_path)
    finally:
        run.folder.notes.unlink()
    sent = files_under(tmp_path)
    assert not [name for name in sent if name.endswith(("notes.json", ".mp4", ".webm"))]
    assert not [name for name, content in sent.items() if b"Anna dropped it" in content]


def test_what_else_lies_in_the_folder_of_a_run_stays_at_home(run, tmp_path):
    """A folder of results is a place to put things: videos, logs of trackers, keys."""
    folder = tmp_path / "run"
    shutil.copytree(run.folder.path, folder)
    (folder / "robot.mp4").write_bytes(b"video")
    (folder / "wandb").mkdir()
    (folder / "wandb" / "log.txt").write_text("text")
    (folder / "networks" / ".token").write_text("text")
    push(run, NAME, to=tmp_path / "alone", report=False)
    # Into itself too, twice: what is there already is no part of the run.
    for _ in range(2):
        push(folder, NAME, to=folder / "parcel", report=False)
    assert files_under(folder / "parcel").keys() == files_under(tmp_path / "alone").keys()


def test_a_name_that_is_taken_is_refused_and_replaced_when_asked(run, hub):
    push(run, NAME, report=False)
    hub.repositories["model", NAME]["old.txt"] = b"of an earlier version"
    with pytest.raises(GoalwardError, match="lab/pick: is on the hub already"):
        push(run, NAME, report=False)
    push(run, NAME, report=False, replace=True)
    assert "old.txt" not in hub.repositories["model", NAME]


def test_a_refusal_does_not_wait_for_the_report(run, hub, monkeypatch):
    """Writing it takes a minute, and what the hub will not take need not be written."""
    monkeypatch.setattr("goalward.exports.hub.push.write_parcel", None)
    hub.repositories["model", NAME] = {"theirs.txt": b""}
    with pytest.raises(GoalwardError, match="lab/pick: is on the hub already"):
        push(run, NAME)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    for replace in (False, True):
        with pytest.raises(GoalwardError, match="did not answer"):
            push(run, NAME, replace=replace)


def test_nothing_is_made_where_one_of_both_names_is_taken(run, hub):
    hub.repositories["dataset", f"{NAME}-values"] = {"theirs.csv": b"a,b"}
    with pytest.raises(GoalwardError, match="lab/pick-values: is on the hub already"):
        push(run, NAME, report=False)
    assert hub.repositories == {("dataset", f"{NAME}-values"): {"theirs.csv": b"a,b"}}


@pytest.mark.parametrize("commits", [0, 1])
def test_a_cut_upload_leaves_whole_repositories_or_empty_ones(run, hub, tmp_path, commits, caplog):
    push(run, NAME, to=tmp_path, report=False)
    hub.commits_until_cut = commits
    with pytest.raises(GoalwardError, match="was not sent") as told:
        push(run, NAME, report=False)
    assert ("lab/pick is complete there" in str(told.value)) == (commits == 1)
    whole = files_under(tmp_path / "model") if commits else {}
    assert hub.repositories == {("model", NAME): whole, ("dataset", f"{NAME}-values"): {}}
    # One request, not a dozen with a line each.
    assert hub.commits_asked == commits + 1
    assert not [record for record in caplog.records if record.name.startswith("huggingface")]
    hub.commits_until_cut = None
    with pytest.raises(GoalwardError, match="is on the hub already"):
        push(run, NAME, report=False)
    push(run, NAME, report=False, replace=True)
    assert hub.repositories["model", NAME] == files_under(tmp_path / "model")
    assert hub.repositories["dataset", f"{NAME}-values"] == files_under(tmp_path / "values")


@pytest.mark.parametrize(
    "name", ["pick", "lab/.pick", "lab/pick.git", "lab/a--b", "a/b/c", "lab/ü"]
)
def test_a_name_that_the_hub_does_not_take_is_refused_before_anything(run, tmp_path, name):
    with pytest.raises(GoalwardError, match="is no name for the hub"):
        push(run, name, to=tmp_path / "parcel")
    assert not (tmp_path / "parcel").exists()
    with pytest.raises(GoalwardError, match="is no name for the hub"):
        goalward.evaluate(ramps(1), "nowhere", values=f"hub:{name}")


def test_a_name_too_long_for_its_values_is_refused(run, tmp_path):
    with pytest.raises(GoalwardError, match="-values' is no name for the hub"):
        push(run, f"lab/{'x' * 95}", to=tmp_path / "parcel")


def test_private_is_private(run, hub):
    push(run, NAME, report=False, private=True)
    assert hub.private == {NAME, f"{NAME}-values"}
    push(run, NAME, report=False, private=True, replace=True)


def test_what_is_public_is_not_taken_for_private(run, hub):
    push(run, NAME, report=False)
    before = dict(hub.repositories["model", NAME])
    with pytest.raises(GoalwardError, match="lab/pick: is public on the hub, and would stay so"):
        push(run, NAME, report=False, private=True, replace=True)
    assert hub.repositories["model", NAME] == before


def test_a_hub_in_trouble_is_told_from_one_that_is_not_there(run, hub, monkeypatch):
    hub.always_answers = 418
    with pytest.raises(GoalwardError, match="lab/pick: the hub answered 418"):
        push(run, NAME, report=False)
    with pytest.raises(GoalwardError, match="hub:lab/pick: the hub answered 418"):
        goalward.evaluate(ramps(1), "nowhere", values=f"hub:{NAME}")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(GoalwardError, match=r"127\.0\.0\.1:9 did not answer \(ConnectError"):
        push(run, NAME, report=False)
    with pytest.raises(GoalwardError, match=r"127\.0\.0\.1:9 did not answer \(ConnectError"):
        goalward.evaluate(ramps(1), "nowhere", values=f"hub:{NAME}")


def test_no_token_and_a_forbidden_hub_are_a_sentence_each(run, hub, monkeypatch):
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    with pytest.raises(GoalwardError, match="hf auth login"):
        push(run, NAME, report=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(GoalwardError, match="HF_HUB_OFFLINE forbids to send"):
        push(run, NAME, report=False)
    with pytest.raises(GoalwardError, match="hub:lab/pick: HF_HUB_OFFLINE forbids to ask"):
        goalward.evaluate(ramps(1), "nowhere", values=f"hub:{NAME}")


def test_a_token_that_may_not_write_and_a_run_that_is_not_there(run, hub, monkeypatch):
    with pytest.raises(GoalwardError, match="the hub has no such run"):
        goalward.evaluate(ramps(1), "nowhere", values="hub:lab/nothing")
    monkeypatch.setenv("HF_TOKEN", "hf_of_somebody_else")
    with pytest.raises(GoalwardError, match="does not let you write there"):
        push(run, NAME, report=False)
    assert hub.repositories == {}


def test_a_folder_of_somebody_else_is_not_replaced(run, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "thesis.tex").write_text("years")
    for readme in (None, "# My models\n", "---\ntags: [robotics]\n---\n# goalward beside mine\n"):
        if readme is not None:
            (tmp_path / "model" / "README.md").write_text(readme)
        with pytest.raises(GoalwardError, match="is no parcel of ours"):
            push(run, NAME, to=tmp_path)
        assert (tmp_path / "model" / "thesis.tex").read_text() == "years"

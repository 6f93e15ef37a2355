"""Tasks by their texts: an encoder that reads gives tasks that read alike codes that are alike."""

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from rollout_files.small_encoder import picture_rollouts
from rollout_files.small_tokenizer import WORDS, write_tokenizer
from rollout_files.vision_models import put_into_hub_cache, write_model

from goalward import Rollouts, concatenate
from goalward.embeddings.cache.encoder_cache import EncoderCache
from goalward.embeddings.cache.upkeep import cache_uses, prune
from goalward.embeddings.embed import embed
from goalward.embeddings.encoders import find_encoder
from goalward.embeddings.models import text_tower
from goalward.embeddings.models.text_tower import task_vectors
from goalward.training.frames.training_frames import training_frames
from goalward.training.methods.presets import hyperparameters
from goalward.training.stored.feature_file import read_features, write_features
from goalward.values.fit import asked_runs

COMMIT = "0123456789abcdef0123456789abcdef01234567"
RED, BLUE, DRAWER = "pick up the red cup", "pick up the blue cup", "close drawer now"
TASKS = (RED, BLUE, DRAWER)
ModelFolder = Callable[[str], Path]


@pytest.fixture
def reader(tmp_path: Path) -> Path:
    """A CLIP model with its tokenizer."""
    return write_tokenizer(write_model(tmp_path / "clip", "clip"))


def with_tasks(tasks=TASKS) -> Rollouts:
    lengths = [3] * (2 * len(tasks))
    names = [task for task in tasks for _ in range(2)]
    pairs = zip(picture_rollouts(lengths), names, strict=True)
    return Rollouts([replace(episode, task=task) for episode, task in pairs])


def embedded(folder: Path | str, tasks=TASKS, **options) -> Rollouts:
    return embed(with_tasks(tasks), str(folder), device="cpu", **options)


def files_of(folder: Path | str):
    files = find_encoder(str(folder)).files
    assert files is not None
    return files


def forbid_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*_: object) -> None:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr(text_tower, "_model", load)


def notices(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.name.startswith("goalward")]


# ---- the vectors ---------------------------------------------------------------------------------


def numbers_of(text: str) -> list[int]:
    return [1, *(WORDS.index(word) for word in text.lower().split()), 19]


@pytest.mark.parametrize("kind", ["clip", "siglip"])
def test_vectors_are_the_librarys_own(kind: str, tmp_path: Path):
    folder = write_tokenizer(write_model(tmp_path / kind, kind))
    found = task_vectors(files_of(folder), TASKS)
    assert found is not None
    assert list(found) == list(TASKS)
    whole = {"clip": transformers.CLIPModel, "siglip": transformers.SiglipModel}[kind]
    model = whole.from_pretrained(folder).eval()
    for task, vector in found.items():
        numbers = numbers_of(task)
        if kind == "siglip":
            numbers += [0] * (8 - len(numbers))
        with torch.inference_mode():
            wanted = model.get_text_features(torch.tensor([numbers])).pooler_output[0]
        np.testing.assert_allclose(vector, wanted / wanted.norm(), atol=1e-5)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_long_texts_are_cut_and_capitals_are_small_letters(reader: Path):
    long = "pick up the red cup now " * 500
    texts = [long, "pick up the red cup now", RED, RED.upper(), "", "\ud800 \0"]
    found = task_vectors(files_of(reader), texts)
    assert found is not None
    assert found[long] == found["pick up the red cup now"], "eight tokens are read"
    assert found[RED] == found[RED.upper()]
    assert len({len(vector) for vector in found.values()}) == 1


def test_a_vector_does_not_depend_on_its_company(reader: Path):
    together, alone = (task_vectors(files_of(reader), tasks) for tasks in (TASKS, [BLUE]))
    assert together is not None
    assert alone is not None
    assert together[BLUE] == alone[BLUE]


# ---- from embedding to codes ---------------------------------------------------------------------


def codes_of(rollouts: Rollouts) -> np.ndarray:
    """The codes that networks of all tasks are told, one row for each of TASKS."""
    asked = asked_runs(training_frames(rollouts), ["mc"], 1, hyperparameters())
    assert asked.tasks is not None
    return asked.tasks.of(TASKS)


def test_tasks_that_read_alike_have_codes_that_are_alike(reader: Path):
    red, blue, drawer = codes_of(embedded(reader))
    near = np.linalg.norm(red - blue)
    assert 0 < near < 0.7 * min(np.linalg.norm(red - drawer), np.linalg.norm(blue - drawer))


def test_tasks_that_an_encoder_reads_as_one_are_still_told_apart(reader: Path):
    rollouts = embedded(reader, (RED, RED.upper()))
    assert len(rollouts.task_vectors) == 2
    frames = training_frames(rollouts)
    asked = asked_runs(frames, ["mc"], 1, hyperparameters())
    assert asked.tasks is not None
    assert asked.tasks.of([RED, RED.upper()]).tolist() == [[2, 0], [0, 2]]


@pytest.mark.parametrize("tasks", [(RED,), (RED, ""), ("",)])
def test_one_text_alone_is_not_read(tasks, reader: Path, monkeypatch, caplog):
    forbid_loading(monkeypatch)
    with caplog.at_level(logging.INFO, "goalward"):
        assert embedded(reader, tasks).task_vectors == {}
    assert notices(caplog) == []


def test_proprioception_alone_needs_no_text(reader: Path, monkeypatch):
    forbid_loading(monkeypatch)
    episodes = [replace(e, proprioception=np.ones((3, 2), np.float32)) for e in with_tasks()]
    assert embed(Rollouts(episodes), str(reader), cameras=()).task_vectors == {}


# ---- encoders that do not read -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "why"),
    [("clip", "no files of a tokenizer"), ("dinov2", "a dinov2 has no text tower")],
)
def test_who_does_not_read_says_so_and_goes_on(kind: str, why: str, tmp_path: Path, caplog):
    folder = write_model(tmp_path / kind, kind)
    if kind == "dinov2":
        write_tokenizer(folder)
    with caplog.at_level(logging.INFO, "goalward"):
        rollouts = embedded(folder)
    assert rollouts.features is not None
    assert rollouts.task_vectors == {}
    assert [why in notice for notice in notices(caplog)] == [True]
    assert codes_of(rollouts).tolist() == (2 * np.eye(3)).tolist()


def test_a_tower_that_sees_saved_alone_does_not_read(reader: Path, tmp_path: Path):
    tower = tmp_path / "tower"
    transformers.CLIPVisionModel.from_pretrained(reader).save_pretrained(tower)
    rules = "preprocessor_config.json"
    (tower / rules).write_bytes((reader / rules).read_bytes())
    write_tokenizer(tower)
    assert task_vectors(files_of(tower), TASKS) is None


@pytest.mark.parametrize("content", ["{", "version https://git-lfs.github.com/spec/v1\n", ""])
def test_a_damaged_tokenizer_is_no_error(content: str, reader: Path, caplog):
    (reader / "tokenizer.json").write_text(content)
    with caplog.at_level(logging.INFO, "goalward"):
        assert embedded(reader).task_vectors == {}
    assert len(notices(caplog)) == 1


def test_a_text_tower_without_weights_is_not_made_up(reader: Path, caplog):
    from safetensors.torch import load_file, save_file

    weights = load_file(reader / "model.safetensors")
    seen = {name: w for name, w in weights.items() if not name.startswith("text_")}
    save_file(seen, reader / "model.safetensors", metadata={"format": "pt"})
    with caplog.at_level(logging.INFO, "goalward"):
        assert embedded(reader).task_vectors == {}
    assert "lacks weights of the text tower" in notices(caplog)[0]


# ---- the hub -------------------------------------------------------------------------------------


def test_a_model_in_the_hubs_cache(reader: Path, empty_hub: Path):
    """Offline, with the files that are there: no special_tokens_map.json among them."""
    put_into_hub_cache(empty_hub, "lab/reader", reader, COMMIT)
    assert task_vectors(files_of("lab/reader"), TASKS) == task_vectors(files_of(reader), TASKS)


def test_a_tokenizer_that_cannot_be_fetched_is_no_error(empty_hub: Path, tmp_path: Path, caplog):
    put_into_hub_cache(empty_hub, "lab/eyes", write_model(tmp_path / "eyes", "clip"), COMMIT)
    with caplog.at_level(logging.INFO, "goalward"):
        assert embedded("lab/eyes").task_vectors == {}
    assert "wanted its file tokenizer_config.json" in notices(caplog)[0]


# ---- the cache -----------------------------------------------------------------------------------


def text_files(cache: Path) -> list[Path]:
    return sorted(cache.rglob("text-*.safetensors"))


def test_a_second_call_does_not_load_the_model(reader: Path, cache: Path, monkeypatch):
    first = embedded(reader).task_vectors
    assert list(first) == list(TASKS)
    assert len(text_files(cache)) == 3
    with monkeypatch.context() as patch:
        forbid_loading(patch)
        assert embedded(reader).task_vectors == first
        assert embedded(reader, (DRAWER, RED)).task_vectors == {t: first[t] for t in (DRAWER, RED)}
    exact = task_vectors(files_of(reader), TASKS)
    assert exact is not None
    np.testing.assert_allclose(list(first.values()), list(exact.values()), atol=1e-3)


def test_damaged_entries_are_made_again(reader: Path, cache: Path):
    first = embedded(reader).task_vectors
    for path, damage in zip(text_files(cache), (b"", b"\xff", None), strict=True):
        content = path.read_bytes()
        path.write_bytes(content[:-1] + damage if damage is not None else b"{}")
    assert embedded(reader).task_vectors == first


def test_another_tokenizer_reads_anew(reader: Path, cache: Path):
    embedded(reader)
    key = find_encoder(str(reader)).key
    path = reader / "tokenizer.json"
    path.write_text(path.read_text().replace('"red"', '"rad"'))
    assert find_encoder(str(reader)).key == key, "pictures look the same"
    embedded(reader)
    assert len(text_files(cache)) == 6


def test_texts_are_no_clips_and_are_pruned_with_them(reader: Path, cache: Path):
    store = EncoderCache.of(find_encoder(str(reader)))
    embedded(reader)
    (use,) = cache_uses()
    assert use.folder == store.folder
    assert use.num_clips == 6
    assert prune().num_clips == 6
    assert text_files(cache) == [] == cache_uses()


# ---- what keeps them -----------------------------------------------------------------------------


def test_views_keep_those_of_their_tasks(reader: Path):
    rollouts = embedded(reader)
    all_of_them = rollouts.task_vectors
    assert list(rollouts.where(task=BLUE).task_vectors) == [BLUE]
    assert rollouts[::-1].task_vectors == all_of_them
    assert rollouts.features is not None
    assert rollouts.with_features(rollouts.features[:, :2]).task_vectors == all_of_them
    assert rollouts.with_left_out([]).task_vectors == all_of_them
    halves = [rollouts.where(task=task) for task in TASKS]
    assert concatenate(halves).task_vectors == all_of_them


def test_vectors_of_two_encoders_are_not_mixed(reader: Path, tmp_path: Path):
    other = write_tokenizer(write_model(tmp_path / "other", "clip", num_hidden_layers=1))
    first, second = embedded(reader), embedded(other)
    assert first.task_vectors
    assert second.task_vectors
    assert concatenate([first.where(task=RED), second.where(task=BLUE)]).task_vectors == {}


def test_survive_a_feature_file(reader: Path, tmp_path: Path):
    rollouts = embedded(reader)
    write_features(tmp_path / "features.npz", rollouts)
    again = read_features(tmp_path / "features.npz")
    assert again.task_vectors == rollouts.task_vectors
    assert np.array_equal(codes_of(again), codes_of(rollouts))
    with np.load(tmp_path / "features.npz") as arrays:
        assert arrays["task_names"].tolist() == list(TASKS)
        assert arrays["task_vectors"].shape == (3, 8)

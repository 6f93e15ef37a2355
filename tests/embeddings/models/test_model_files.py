"""The files of a model: every layout the hub has is loaded, what is wrong with one is named."""

import contextlib
import json
import pickle
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from huggingface_hub.errors import LocalEntryNotFoundError
from rollout_files.small_encoder import noise
from rollout_files.vision_models import plain_vectors, put_into_hub_cache, write_model
from safetensors.torch import load_file, save_file
from torch.nn.functional import cosine_similarity

from goalward import GoalwardError
from goalward.embeddings.encoders import find_encoder

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ModelFolder = Callable[[str], Path]


def vectors(name: str) -> torch.Tensor:
    runner = find_encoder(name).load().on(torch.device("cpu"), batch_size=2)
    pictures = [runner.prepare(picture) for picture in noise(2, seed=0)]
    batch = runner.new_batch(*pictures[0].shape[:2])
    batch[:] = pictures
    return torch.from_numpy(runner.submit(batch)())


@pytest.fixture(params=["one file", "shards", "bin"])
def layout(request, tmp_path: Path) -> Path:
    options = {"one file": {}, "shards": {"max_shard_size": "60KB"}, "bin": {"as_bin": True}}
    folder = write_model(tmp_path / "model", "siglip", **options[request.param])
    names = {path.name for path in folder.iterdir()}
    expected = {
        "one file": "model.safetensors",
        "shards": "model.safetensors.index.json",
        "bin": "pytorch_model.bin",
    }
    assert expected[request.param] in names
    assert ("model.safetensors" in names) == (request.param == "one file")
    return folder


@pytest.mark.parametrize("place", ["folder", "hub"])
def test_weights_in_every_layout(layout: Path, place: str, empty_hub: Path):
    name = str(layout)
    if place == "hub":
        put_into_hub_cache(empty_hub, "lab/eyes", layout, COMMIT)
        name = "lab/eyes"
    wanted = plain_vectors(layout, "siglip", noise(2, seed=0))
    assert cosine_similarity(vectors(name), wanted).min() > 0.99999
    assert cosine_similarity(wanted[:1], wanted[1:]) < 0.99, "the weights tell pictures apart"


@pytest.mark.parametrize("kind", ["siglip", "clip"])
def test_only_the_tower_that_sees_is_loaded(kind: str, model_folder: ModelFolder):
    stored = load_file(model_folder(kind) / "model.safetensors")
    assert any(name.startswith("text_model.") for name in stored)
    net = find_encoder(str(model_folder(kind))).load().net
    seen = {name: size for name, size in stored.items() if name.startswith("vision_model.")}
    assert sum(p.numel() for p in net.parameters()) == sum(t.numel() for t in seen.values())


def test_a_tower_saved_alone_gives_the_same(model_folder: ModelFolder, tmp_path: Path):
    import transformers

    whole = model_folder("clip")
    alone = transformers.CLIPModel.from_pretrained(whole).vision_model
    transformers.CLIPVisionModel.from_pretrained(whole).save_pretrained(tmp_path / "tower")
    (tmp_path / "tower" / "preprocessor_config.json").write_bytes(
        (whole / "preprocessor_config.json").read_bytes()
    )
    assert alone.config.model_type == "clip_vision_model"
    assert torch.equal(vectors(str(tmp_path / "tower")), vectors(str(whole)))


def test_another_folder_with_the_same_files_is_the_same_encoder(tmp_path: Path):
    first, second = (write_model(tmp_path / name, "dinov2") for name in ("a", "b"))
    assert find_encoder(str(first)).key == find_encoder(str(second)).key
    for name in ("preprocessor_config.json", "config.json", "model.safetensors"):
        before = find_encoder(str(second)).key
        content = (second / name).read_bytes()
        (second / name).write_bytes(content + b" ")
        assert find_encoder(str(second)).key != before


def test_a_changed_shard_is_another_encoder(tmp_path: Path):
    folder = write_model(tmp_path / "model", "siglip", max_shard_size="60KB")
    before = find_encoder(str(folder)).key
    shard = sorted(folder.glob("model-*.safetensors"))[-1]
    shard.write_bytes(shard.read_bytes() + b" ")
    assert find_encoder(str(folder)).key != before


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("config.json", "has no config.json; a model's folder holds config.json, preproc"),
        ("preprocessor_config.json", "has no preprocessor_config.json; a model's folder"),
        ("model.safetensors", r"has no weights \(model.safetensors or model.safetensors.index"),
    ],
)
def test_missing_files_are_named(name: str, message: str, tmp_path: Path):
    folder = write_model(tmp_path / "model", "resnet")
    (folder / name).unlink()
    with pytest.raises(GoalwardError, match=f"encoder {folder}: {message}"):
        find_encoder(str(folder))


@pytest.mark.parametrize("options", [{}, {"max_shard_size": "60KB"}, {"as_bin": True}])
def test_weights_that_git_lfs_did_not_fetch(tmp_path: Path, options):
    """What `git clone` leaves of a model when Git LFS is not installed."""
    folder = write_model(tmp_path / "model", "siglip", **options)
    pointed = [p for p in folder.iterdir() if p.suffix in (".safetensors", ".bin")]
    for path in pointed:
        path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 9\n")
    with pytest.raises(GoalwardError, match=r"model/.*: is a pointer of Git LFS.*`git lfs pull`"):
        find_encoder(str(folder))


@pytest.mark.parametrize("place", ["folder", "hub"])
def test_a_missing_shard_is_named(place: str, tmp_path: Path, empty_hub: Path):
    folder = write_model(tmp_path / "model", "siglip", max_shard_size="60KB")
    shard = sorted(folder.glob("model-*.safetensors"))[1]
    shard.unlink()
    put_into_hub_cache(empty_hub, "lab/eyes", folder, COMMIT)
    with pytest.raises(GoalwardError, match=shard.name):
        find_encoder(str(folder) if place == "folder" else "lab/eyes").load()


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ('{"weight_map": {"a": "../secret.safetensors"}}', "names files outside its folder"),
        ('{"weight_map": {"a": "/etc/passwd"}}', "names files outside its folder"),
        ('{"weight_map": {"a": 3}}', "names files outside its folder"),
        ('{"weight_map": {"a": ["x"]}}', "is no index of weights"),
        ('{"weight_map": 3}', "is no index of weights"),
        ("[]", "is no index of weights"),
        ("{", "is no index of weights"),
    ],
)
def test_an_index_of_weights_that_is_wrong(index: str, message: str, tmp_path: Path):
    folder = write_model(tmp_path / "model", "siglip", max_shard_size="60KB")
    (folder / "model.safetensors.index.json").write_text(index)
    with pytest.raises(GoalwardError, match=f"model.safetensors.index.json: {message}"):
        find_encoder(str(folder))


def test_weights_that_are_not_there_are_never_random(tmp_path: Path):
    folder = write_model(tmp_path / "model", "clip")
    stored = load_file(folder / "model.safetensors")
    del stored["vision_model.encoder.layers.1.mlp.fc1.weight"]
    save_file(stored, folder / "model.safetensors", metadata={"format": "pt"})
    message = "model: its file lacks 1 of the weights, among them .*layers.1.mlp.fc1.weight"
    with pytest.raises(GoalwardError, match=message):
        find_encoder(str(folder)).load()


def damage(path: Path, how: str) -> None:
    content = path.read_bytes()
    changes = {
        "cut": content[: len(content) // 2],
        "empty": b"",
        "text": b"no tensors",
        "header": b"\xff" * 8 + content[8:],
    }
    path.write_bytes(changes[how])


@pytest.mark.parametrize("how", ["cut", "empty", "text", "header"])
@pytest.mark.parametrize("as_bin", [False, True])
def test_damaged_weights(how: str, as_bin: bool, tmp_path: Path):
    folder = write_model(tmp_path / "model", "resnet", as_bin=as_bin)
    damage(folder / ("pytorch_model.bin" if as_bin else "model.safetensors"), how)
    with pytest.raises(GoalwardError, match=f"encoder {folder}: cannot be loaded"):
        find_encoder(str(folder)).load()


@pytest.mark.parametrize("name", ["config.json", "preprocessor_config.json"])
@pytest.mark.parametrize("content", ["", "{", "[]"])
def test_damaged_descriptions(name: str, content: str, tmp_path: Path):
    folder = write_model(tmp_path / "model", "resnet")
    (folder / name).write_text(content)
    with pytest.raises(GoalwardError, match=f"encoder {folder}: .*cannot be loaded"):
        find_encoder(str(folder)).load()


class Trap:
    def __reduce__(self):
        return (Path.touch, (Path("was_run"),))


def test_weights_cannot_run_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    folder = write_model(tmp_path / "model", "resnet", as_bin=True)
    with (folder / "pytorch_model.bin").open("wb") as file:
        pickle.dump({"weight": Trap()}, file)
    with pytest.raises(GoalwardError, match="cannot be loaded"):
        find_encoder(str(folder)).load()
    assert not (tmp_path / "was_run").exists()


@pytest.mark.parametrize("file", ["config.json", "preprocessor_config.json"])
def test_code_in_a_models_folder_is_not_run(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    folder = write_model(tmp_path / "model", "resnet")
    rules = json.loads((folder / file).read_text()) | {
        "model_type": "mine",
        "feature_extractor_type": None,
        "auto_map": {
            "AutoConfig": "mine.Any",
            "AutoModel": "mine.Any",
            "AutoImageProcessor": "mine.Any",
        },
    }
    (folder / file).write_text(json.dumps(rules))
    (folder / "mine.py").write_text("open('was_run', 'w')\nclass Any: pass\n")
    asked: list[str] = []

    def answer(question: str = "") -> str:
        asked.append(question)
        return "y"

    monkeypatch.setattr("builtins.input", answer)
    # A processor of the library's own stands in for one that is described by code.
    with contextlib.suppress(GoalwardError):
        find_encoder(str(folder)).load()
    assert asked == []
    assert not (tmp_path / "was_run").exists()


def test_loading_says_nothing_and_leaves_the_librarys_settings(
    model_folder: ModelFolder,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    from transformers.utils import logging

    encoders = [find_encoder(str(model_folder(kind))) for kind in ("clip", "siglip")]
    capfd.readouterr()
    monkeypatch.setattr(logging, "_tqdm_active", True)
    encoders[0].load()
    assert logging.is_progress_bar_enabled()
    assert capfd.readouterr() == ("", "")
    logging.disable_progress_bar()
    encoders[1].load()
    assert not logging.is_progress_bar_enabled()
    assert "torchvision" not in sys.modules


def test_without_network_it_asks_once(monkeypatch: pytest.MonkeyPatch, empty_hub: Path):
    """The hub's client tries for half a minute; a name that cannot be resolved will not come."""

    class ConnectError(Exception):
        pass

    def refused(*_: object, **__: object):
        raise ConnectError("Name or service not known")

    def download(*_: object, local_files_only: bool = False, **__: object):
        if local_files_only:
            raise LocalEntryNotFoundError("not here")
        pytest.fail("tried to download without network")

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.get_hf_file_metadata", refused)
    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    with pytest.raises(GoalwardError, match="ConnectError: Name or service not known"):
        find_encoder("siglip2").load()

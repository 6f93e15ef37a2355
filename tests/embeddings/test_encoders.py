"""Encoders by name: which files are meant, where they are looked for, what to do without them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from huggingface_hub import constants
from rollout_files.vision_models import put_into_hub_cache, write_model

from goalward import GoalwardError
from goalward.embeddings.encoders import ENCODERS, Encoder, HubEncoder, find_encoder
from goalward.embeddings.models import model_files

COMMIT = "0123456789abcdef0123456789abcdef01234567"
OTHER_COMMIT = "f" * 40
ModelFolder = Callable[[str], Path]


@pytest.mark.parametrize(
    ("name", "kind", "hub_id"),
    [
        ("siglip2", "siglip", "google/siglip2-base-patch16-224"),
        ("clip", "clip", "openai/clip-vit-base-patch32"),
        ("dinov2", "dinov2", "facebook/dinov2-base"),
    ],
)
def test_named_encoders_are_loaded_from_the_hub_at_their_commit(
    name: str, kind: str, hub_id: str, model_folder: ModelFolder, empty_hub: Path
):
    known = ENCODERS[name]
    assert isinstance(known, HubEncoder)
    put_into_hub_cache(empty_hub, hub_id, model_folder(kind), known.revision)
    # Another commit is what the hub's main branch is at by now: it must not matter.
    other = write_model(empty_hub.parent / "newer", kind, hidden_size=32)
    put_into_hub_cache(empty_hub, hub_id, other, OTHER_COMMIT)
    encoder = find_encoder(name)
    assert encoder.label == f"{hub_id}@{known.revision[:12]}, pool global"
    assert encoder.load().width == 16


def test_hub_ids_follow_a_branch_to_its_commit(model_folder: ModelFolder, empty_hub: Path):
    put_into_hub_cache(empty_hub, "lab/eyes", model_folder("dinov2"), COMMIT)
    put_into_hub_cache(empty_hub, "lab/eyes", model_folder("resnet"), OTHER_COMMIT, branch="v2")
    main, branch, commit = (
        find_encoder(name) for name in ("lab/eyes", "lab/eyes@v2", f"lab/eyes@{COMMIT}")
    )
    assert (main.revision, branch.revision, commit.revision) == (COMMIT, OTHER_COMMIT, COMMIT)
    assert main.key == commit.key != branch.key
    assert type(branch.load().net.model).__name__ == "ResNetModel"


def test_what_is_in_the_hubs_cache_is_never_asked_for(
    model_folder: ModelFolder, empty_hub: Path, monkeypatch: pytest.MonkeyPatch
):
    put_into_hub_cache(empty_hub, "lab/eyes", model_folder("clip"), COMMIT)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    import socket

    def refuse(*_: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert find_encoder("lab/eyes").load().width == 16


def test_a_pinned_encoder_is_known_without_any_file():
    encoder = find_encoder("siglip2", pool="grid2")
    assert encoder.key != find_encoder("siglip2").key
    with pytest.raises(GoalwardError, match="wanted its file config.json"):
        encoder.load()


@pytest.mark.parametrize("missing", ["config.json", "preprocessor_config.json", "weights"])
def test_without_a_file_the_error_says_which_and_what_to_do(
    missing: str, model_folder: ModelFolder, empty_hub: Path
):
    snapshot = put_into_hub_cache(empty_hub, "lab/eyes", model_folder("siglip"), COMMIT)
    file = "model.safetensors" if missing == "weights" else missing
    (snapshot / file).unlink()
    with pytest.raises(GoalwardError) as caught:
        find_encoder(f"lab/eyes@{COMMIT}").load()
    text = str(caught.value)
    assert text.startswith(f"encoder lab/eyes: wanted its file {file}, ")
    assert "HF_HUB_OFFLINE forbids to fetch it" in text
    assert "encoder='./folder', holding config.json, preprocessor_config.json" in text
    assert f"set HF_HUB_CACHE to it (now {empty_hub})" in text


class ConnectError(Exception):
    """As the hub's client raises where there is no network."""


@pytest.mark.parametrize("error", [ConnectError, OSError])
def test_a_hub_that_cannot_be_reached_is_the_same_error(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
):
    import huggingface_hub

    num_tries = 0

    def refuse(*_: object, local_files_only: bool = False, **__: object) -> str:
        nonlocal num_tries
        if local_files_only:
            raise huggingface_hub.errors.LocalEntryNotFoundError("not here")
        num_tries += 1
        raise error("Name or service not known\nand more")

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    for name in ("hf_hub_download", "get_hf_file_metadata"):
        monkeypatch.setattr(huggingface_hub, name, refuse)
    with pytest.raises(GoalwardError) as caught:
        find_encoder("lab/eyes")
    text = str(caught.value)
    assert f"could not be fetched ({error.__name__}: Name or service not known)" in text
    assert "hf download lab/eyes" in text
    # Without a network the download, which tries for half a minute, is not even begun.
    assert num_tries == (1 if error is ConnectError else 2)


def test_a_repository_without_a_config_is_no_model(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(model_files, "_fetched", lambda *_: None)
    with pytest.raises(GoalwardError, match="lab/words: has no config.json; it is not a transf"):
        find_encoder("lab/words")
    with pytest.raises(GoalwardError, match="lab/words@0123.*: has no config.json on the hub"):
        find_encoder(f"lab/words@{COMMIT}").load()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("resnet", "no encoder 'resnet'; there are siglip2, clip, dinov2, effnet-lite0, and any"),
        ("./resnet", "encoder ./resnet: there is no such folder"),
        ("/none/resnet", "encoder /none/resnet: there is no such folder"),
        ("a/b/c", "no encoder 'a/b/c'"),
        ("lab/eyes..", "encoder lab/eyes..: is no name of a model"),
        ("", "no encoder ''"),
    ],
)
def test_unknown_names_are_explained(name: str, message: str):
    with pytest.raises(GoalwardError, match=message):
        find_encoder(name)


@pytest.mark.parametrize("pool", ["mean", "grid", "grid0", "grid8", "grid10", "GLOBAL", ""])
def test_unknown_pooling_is_explained(pool: str):
    message = f"no pooling {pool!r}; there are global, grid2, grid3, ... grid7"
    with pytest.raises(GoalwardError, match=message):
        find_encoder("siglip2", pool=pool)


def test_keys_tell_apart_whatever_gives_other_vectors():
    def encoder(id: str = "a/b", revision: str = COMMIT, pool: str = "global") -> Encoder:
        return Encoder("any", id, revision, pool, lambda _: None)

    changed = [encoder(id="a/c"), encoder(revision=OTHER_COMMIT), encoder(pool="grid2")]
    # The label shows the first digits only; the key counts all.
    changed.append(encoder(revision=COMMIT[:-1] + "8"))
    assert len({encoder().key, *(other.key for other in changed)}) == 5
    # A cache on disk outlives the version that wrote it.
    assert encoder().key == "ba2610be8faeff8d"

"""The files of a `transformers` model: in a folder, in the hub's cache, or fetched from the hub.

What is here already is used as it is, without asking the network. Everything a model needs is
looked for before anything is loaded, so that an error can say which file is missing.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from goalward.errors import GoalwardError, argument
from goalward.git_lfs import NOT_FETCHED, explained, is_pointer_file

CONFIG = "config.json"
PREPROCESSOR = "preprocessor_config.json"
# In order of preference. A .bin file is read with weights_only: it can hold nothing but tensors.
WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin")
# What a tokenizer needs beside its vocabulary, then vocabularies: enough of them come last, so that
# what an interrupt left is not taken for whole.
TOKENIZER_CONFIG = "tokenizer_config.json"
TOKENIZER = (
    TOKENIZER_CONFIG,
    "special_tokens_map.json",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "tokenizer.json",
)
_VOCABULARIES = (("tokenizer.json",), ("spiece.model",), ("vocab.json", "merges.txt"))
# By name: the library beneath the hub's client changed from version to version.
_NO_NETWORK = ("ConnectError", "ConnectionError")


@dataclass(frozen=True)
class ModelFiles:
    """A model by its id and exact revision; `folder` makes its files lie in one folder."""

    id: str
    revision: str
    folder: Callable[[], Path]
    # For people: an id, or the folder as they gave it.
    name: str
    # The folder once it holds a tokenizer and the configuration; None where there is no tokenizer.
    tokenizer_folder: Callable[[], Path | None]
    # What the tokenizer is, where the revision does not say it.
    tokenizer_digest: str = ""


def local_model(folder: Path) -> ModelFiles:
    """A model that `save_pretrained` wrote, or a copy of what the hub has."""
    paths = [folder / CONFIG, folder / PREPROCESSOR]
    for path in paths:
        if not path.is_file():
            raise GoalwardError(
                f"encoder {folder}: has no {path.name}; a model's folder holds {CONFIG}, "
                f"{PREPROCESSOR} and {WEIGHTS[0]}"
            )
    weights = next((folder / name for name in WEIGHTS if (folder / name).is_file()), None)
    if weights is None:
        raise GoalwardError(f"encoder {folder}: has no weights ({' or '.join(WEIGHTS)})")
    paths += [weights, *(folder / name for name in _shards(weights))]
    digest = hashlib.sha256()
    try:
        for path in paths:
            if is_pointer_file(path):
                raise GoalwardError(f"encoder {path}: {NOT_FETCHED}")
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    except OSError as error:
        raise GoalwardError(f"encoder {folder}: cannot be read ({error})") from error
    # The digest says what it is; the name of the folder is for people only.
    there = [name for name in TOKENIZER if (folder / name).is_file()]
    return ModelFiles(
        "folder",
        digest.hexdigest(),
        lambda: folder,
        str(folder),
        lambda: folder if _has_vocabulary(there) else None,
        _tokenizer_digest(folder, there),
    )


def _has_vocabulary(names: Sequence[str]) -> bool:
    return any(set(vocabulary) <= set(names) for vocabulary in _VOCABULARIES)


def _tokenizer_digest(folder: Path, names: Sequence[str]) -> str:
    """Not part of the revision: embeddings of pictures do not depend on it."""
    digest = hashlib.sha256()
    for name in names:
        # A file that cannot be read is no reason not to look at pictures.
        with contextlib.suppress(OSError), (folder / name).open("rb") as file:
            digest.update(name.encode() + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def hub_model(hub_id: str, revision: str | None = None) -> ModelFiles:
    """A model of the hub; a revision that is not a commit is looked up first."""
    if revision is not None and _is_commit(revision):
        return _at_commit(hub_id, revision)
    config = _fetched(hub_id, CONFIG, revision)
    if config is None:
        raise GoalwardError(f"encoder {hub_id}: has no {CONFIG}; it is not a transformers model")
    # The hub's cache keeps files under snapshots/<commit>/.
    return _at_commit(hub_id, config.parent.name)


def _at_commit(hub_id: str, commit: str) -> ModelFiles:
    name = f"{hub_id}@{commit[:12]}"
    return ModelFiles(
        hub_id,
        commit,
        lambda: _fetched_folder(hub_id, commit),
        name,
        lambda: _fetched_tokenizer(hub_id, commit),
    )


def _is_commit(revision: str) -> bool:
    return len(revision) == 40 and all(character in "0123456789abcdef" for character in revision)


def _fetched_folder(hub_id: str, revision: str) -> Path:
    """The folder of the hub's cache with all files that the encoder needs."""
    for name in (CONFIG, PREPROCESSOR):
        path = _fetched(hub_id, name, revision)
        if path is None:
            raise GoalwardError(f"encoder {hub_id}@{revision[:12]}: has no {name} on the hub")
    # Weights that are here, in whatever layout, before any that would have to be fetched.
    for look in (_in_hub_cache, _fetched):
        for name in WEIGHTS:
            path = look(hub_id, name, revision)
            if path is not None:
                for shard in _shards(path):
                    _fetched(hub_id, shard, revision)
                return path.parent
    raise GoalwardError(
        f"encoder {hub_id}@{revision[:12]}: has no weights on the hub ({' or '.join(WEIGHTS)})"
    )


def _fetched_tokenizer(hub_id: str, revision: str) -> Path | None:
    """The folder of the hub's cache with the tokenizer and the configuration."""
    there = [name for name in TOKENIZER if _in_hub_cache(hub_id, name, revision)]
    if not (TOKENIZER_CONFIG in there and _has_vocabulary(there)):
        there = [name for name in TOKENIZER if _fetched(hub_id, name, revision)]
    config = _fetched(hub_id, CONFIG, revision)
    return config.parent if config is not None and _has_vocabulary(there) else None


def _shards(weights: Path) -> list[str]:
    """The files that an index of weights names; none for weights in one file."""
    if not weights.name.endswith(".index.json"):
        return []
    try:
        names = sorted(set(json.loads(weights.read_text())["weight_map"].values()))
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise GoalwardError(explained(weights, f"is no index of weights ({error!r})")) from error
    if any(Path(str(name)).name != name for name in names):
        raise GoalwardError(f"{weights}: names files outside its folder")
    return names


def _in_hub_cache(hub_id: str, name: str, revision: str | None) -> Path | None:
    """A file of the hub that is here already."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, HFValidationError

    try:
        return Path(hf_hub_download(hub_id, name, revision=revision, local_files_only=True))
    except HFValidationError as error:
        raise GoalwardError(f"encoder {hub_id}: is no name of a model ({error})") from error
    except EntryNotFoundError:
        # LocalEntryNotFoundError is one of these.
        return None


def _fetched(hub_id: str, name: str, revision: str | None) -> Path | None:
    """A file of the hub, from its cache if it is there; None if the hub says there is none."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    path = _in_hub_cache(hub_id, name, revision)
    if path is not None:
        return path
    try:
        # Asked once: where there is no network, a download would try again for half a minute.
        get_hf_file_metadata(hf_hub_url(hub_id, name, revision=revision))
    except Exception as error:  # whatever else is wrong, the download says it better
        if type(error).__name__ in _NO_NETWORK:
            raise _unreachable(hub_id, name, error) from error
    try:
        return Path(hf_hub_download(hub_id, name, revision=revision))
    except LocalEntryNotFoundError as error:
        raise _unreachable(hub_id, name, error) from error
    except EntryNotFoundError:
        return None
    except Exception as error:  # any failure of the network has its own class
        raise _unreachable(hub_id, name, error) from error


def _unreachable(hub_id: str, name: str, error: Exception) -> GoalwardError:
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        why = "it is not in the hub's cache, and HF_HUB_OFFLINE forbids to fetch it"
    else:
        why = f"it could not be fetched ({type(error).__name__}: {str(error).splitlines()[0]})"
    cache = os.environ.get("HF_HUB_CACHE", str(constants.HF_HUB_CACHE))
    return GoalwardError(
        f"encoder {hub_id}: wanted its file {name}, but {why}.\n"
        f"- a folder with the model works too: {argument('encoder', './folder')}, holding "
        f"{CONFIG}, {PREPROCESSOR} and {WEIGHTS[0]}\n"
        f"- or fill the hub's cache on a machine with network (hf download {hub_id}), copy it "
        f"here, and set HF_HUB_CACHE to it (now {cache})\n"
        f"- {argument('encoder', 'effnet-lite0')} needs no hub; its embeddings are others, "
        "and less good"
    )

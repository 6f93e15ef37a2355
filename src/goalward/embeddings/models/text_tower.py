"""What the text of a task says, as a vector: by the tower that reads, of encoders that have one.

CLIP, SigLIP and SigLIP 2 were trained on pictures with their texts, so tasks that read alike have
vectors that are alike. Texts are read one at a time, in float32 on the CPU: a vector does not
depend on its company.
"""

# pyright: basic
# (transformers builds its classes at run time)

import contextlib
import hashlib
import logging
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from goalward.embeddings.cache.encoder_cache import TEXT_PREFIX, DamagedEntry, EncoderCache
from goalward.embeddings.models.model_files import ModelFiles
from goalward.errors import GoalwardError

_log = logging.getLogger("goalward.embeddings")
TaskVectors = dict[str, tuple[float, ...]]

# Part of every key: raise it when the same text would give other numbers.
_RECIPE = "1"
# More letters than any of these models reads; a tokenizer need not go through all of a long text.
_MOST_LETTERS = 4096


@dataclass(frozen=True)
class _Tower:
    """A class of transformers, which of its outputs is meant, and how texts are filled up."""

    class_name: str
    output: str
    padding: str | bool


_TOWERS = {
    "clip": _Tower("CLIPTextModelWithProjection", "text_embeds", False),
    # Trained on texts filled up to the full length, without a mask.
    "siglip": _Tower("SiglipTextModel", "pooler_output", "max_length"),
    "siglip2": _Tower("Siglip2TextModel", "pooler_output", "max_length"),
}


class _NoTextTower(Exception):
    """Why an encoder cannot read."""


def task_vectors(files: ModelFiles, tasks: Sequence[str]) -> TaskVectors | None:
    """A vector of length 1 for each text; None, and a line in the log, where none can be had."""
    try:
        return _read(files, tuple(dict.fromkeys(tasks)))
    except (_NoTextTower, GoalwardError) as error:
        _tell(files.name, str(error))
        return None


def cached_task_vectors(store: EncoderCache, tasks: Sequence[str]) -> TaskVectors | None:
    """The same, kept beside the embeddings of the encoder: known texts need no model.

    All as the cache has them, in float16, so that a second call gives the same numbers.
    """
    files = store.encoder.files
    if files is None:
        _tell(store.encoder.name, "it has no text tower")
        return None
    names = {task: _file_name(files, task) for task in dict.fromkeys(tasks)}
    missing = [task for task, name in names.items() if _cached(store, name) is None]
    if missing:
        made = task_vectors(files, missing)
        if made is None:
            return None
        store.describe()
        for task, vector in made.items():
            store.write(names[task], np.array([vector], dtype=np.float16), "float32")
    found = {task: _cached(store, name) for task, name in names.items()}
    known = {task: vector for task, vector in found.items() if vector is not None}
    # Another process may have pruned the cache meanwhile.
    return known if len(known) == len(names) else None


def _cached(store: EncoderCache, name: str) -> tuple[float, ...] | None:
    try:
        vectors = store.read(name, 1)
    except DamagedEntry:
        store.remove(name)
        return None
    if vectors is None:
        return None
    store.touch(name)
    return tuple(vectors[0].astype(np.float64).tolist())


def _file_name(files: ModelFiles, task: str) -> str:
    exact = f"recipe {_RECIPE}, tokenizer {files.tokenizer_digest}\n{_writable(task)}"
    return TEXT_PREFIX + hashlib.blake2b(exact.encode(), digest_size=16).hexdigest()


def _writable(text: str) -> str:
    """A text of a damaged file may hold what UTF-8 cannot write, and no tokenizer can read."""
    return text.encode(errors="replace").decode()


def _tell(encoder: str, why: str) -> None:
    _log.info(
        "encoder %s does not read the texts of tasks (%s); each task has a code of its own",
        encoder,
        why.splitlines()[0],
    )


def _read(files: ModelFiles, tasks: tuple[str, ...]) -> TaskVectors:
    import torch
    import transformers

    # First what is small: a model's weights are not fetched for nothing.
    tokenizer_folder = files.tokenizer_folder()
    if tokenizer_folder is None:
        raise _NoTextTower("it has no files of a tokenizer")
    with _explained():
        config = transformers.AutoConfig.from_pretrained(tokenizer_folder, **_from_disk())
    tower = _TOWERS.get(config.model_type)
    if tower is None:
        raise _NoTextTower(f"a {config.model_type} has no text tower")
    with _explained():
        tokenizer = transformers.AutoTokenizer.from_pretrained(tokenizer_folder, **_from_disk())
    model = _model(files.folder(), tower)
    most_tokens = int(model.config.max_position_embeddings)
    found: TaskVectors = {}
    with _explained(), torch.inference_mode():
        for task in tasks:
            # All three were trained on small letters; not every tokenizer makes them by itself.
            tokens = tokenizer(
                _writable(task[:_MOST_LETTERS]).lower(),
                padding=tower.padding,
                truncation=True,
                max_length=most_tokens,
                return_tensors="pt",
            )["input_ids"]
            vector = getattr(model(input_ids=tokens), tower.output)[0]
            vector = vector / vector.norm()
            if not bool(vector.isfinite().all()):
                raise _NoTextTower("it gives no numbers")
            found[task] = tuple(vector.double().tolist())
    return found


def _model(folder: Path, tower: _Tower) -> Any:
    import torch
    import transformers

    from goalward.embeddings.models.vision_model import QuietLoading

    with _explained(), QuietLoading():
        model, report = getattr(transformers, tower.class_name).from_pretrained(
            folder, output_loading_info=True, dtype=torch.float32, **_from_disk()
        )
    if report["missing_keys"]:
        raise _NoTextTower("its file lacks weights of the text tower")
    return model.eval().requires_grad_(False)


def _from_disk() -> dict[str, Any]:
    from goalward.embeddings.models.vision_model import FROM_DISK

    return FROM_DISK


@contextlib.contextmanager
def _explained() -> Generator[None]:
    try:
        yield
    except _NoTextTower:
        raise
    except Exception as error:  # transformers raises whatever its parts raise
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise _NoTextTower(lines[0]) from error

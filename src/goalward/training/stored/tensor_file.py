"""Tensors and a few texts in a file: safetensors, never pickle, with a checksum.

Equal tensors and texts make equal bytes, whenever and wherever they are written.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from goalward.checksums import (
    CHECKSUM_KEY,
    CHECKSUM_PLACE,
    DamagedFile,
    check,
    written_with_checksum,
)
from goalward.errors import GoalwardError

_FACTS_KEY = "goalward"


def write_tensors(path: Path, tensors: Mapping[str, Tensor], facts: Mapping[str, str]) -> None:
    """Tensors and a few texts in one file, whole or not at all."""
    content = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    # One text for all facts: safetensors writes several in an order of its own.
    told = json.dumps({**facts, CHECKSUM_KEY: CHECKSUM_PLACE}, sort_keys=True)
    with written_with_checksum(path) as temporary:
        try:
            save_file(content, temporary, metadata={_FACTS_KEY: told})
        except SafetensorError as error:
            # A full disk is no OSError to safetensors.
            raise GoalwardError(f"{path}: cannot be written ({error})") from error


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """What `write_tensors` wrote; version 0.1.0 wrote no checksum, and each fact by itself."""
    check(path)
    try:
        with safe_open(path, framework="pt") as file:
            facts: dict[str, str] = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        facts = json.loads(facts[_FACTS_KEY]) if _FACTS_KEY in facts else facts
        return tensors, {name: facts[name] for name in facts if name != CHECKSUM_KEY}
    except (SafetensorError, OSError, ValueError, TypeError) as error:
        raise DamagedFile(path, str(error)) from error

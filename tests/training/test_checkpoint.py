"""Tensors on disk: what keeps them from being written is said in words."""

from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError

from goalward import GoalwardError
from goalward.training import checkpoint
from goalward.training.checkpoint import write_tensors


def test_a_full_disk_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object, **__: object):
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(checkpoint, "save_file", full)
    with pytest.raises(GoalwardError, match="nets-0.safetensors: cannot be written .*No space"):
        write_tensors(tmp_path / "nets-0.safetensors", {"mean": torch.zeros(2)}, {})
    assert list(tmp_path.iterdir()) == []

"""How much memory is free, in a container too."""

import psutil
import pytest

from goalward import memory


def test_no_more_is_free_than_the_container_allows(tmp_path, monkeypatch) -> None:
    (tmp_path / "max").write_text("1000000\n")
    (tmp_path / "current").write_text("400000\n")
    monkeypatch.setattr(memory, "_LIMITS", ((str(tmp_path / "max"), str(tmp_path / "current")),))
    assert memory.free_bytes() == 600_000


@pytest.mark.parametrize("limit", ["max", None])
def test_a_container_without_a_limit_leaves_what_the_machine_has(
    tmp_path, monkeypatch, limit
) -> None:
    if limit is not None:
        (tmp_path / "max").write_text(limit)
    (tmp_path / "current").write_text("400000\n")
    monkeypatch.setattr(memory, "_LIMITS", ((str(tmp_path / "max"), str(tmp_path / "current")),))
    monkeypatch.setattr(
        psutil, "virtual_memory", lambda: type("Memory", (), {"available": 5_000_000})
    )
    assert memory.free_bytes() == 5_000_000

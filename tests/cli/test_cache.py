"""`goalward cache`: what it lists, what it removes, and what it leaves alone."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from goalward import GoalwardError
from goalward.cli.cache import bytes_of, list_command, prune_command, size_command
from goalward.embeddings.cache.encoder_cache import EncoderCache
from goalward.embeddings.encoders import find_encoder

DAY_S = 86_400.0


def fill(folder: Path | None, name: str, ages_in_days: list[float], pool: str = "global") -> list:
    """Entries of an encoder that were last used so many days ago; the paths of their files."""
    store = EncoderCache.of(find_encoder(name, pool=pool), folder)
    store.describe()
    paths = []
    for number, age in enumerate(ages_in_days):
        fingerprint = f"{number:02x}" * 16
        store.write(fingerprint, np.zeros((100, 50), dtype=np.float16), "float32")
        paths.append(store.path(fingerprint))
        used = time.time() - age * DAY_S
        os.utime(paths[-1], (used, used))
    return paths


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("GOALWARD_CACHE", str(folder))
    monkeypatch.setenv("COLUMNS", "150")
    return folder


@pytest.fixture
def siglip() -> list[Path]:
    return fill(None, "siglip2", [1, 40, 10])


@pytest.fixture
def dino() -> list[Path]:
    return fill(None, "dinov2", [100, 3], pool="grid2")


def remaining(*paths: list[Path]) -> list[bool]:
    return [path.exists() for group in paths for path in group]


# ---- list and size -------------------------------------------------------------------------------


def test_list(siglip, dino, cache: Path, capsys: pytest.CaptureFixture[str]):
    list_command()
    lines = capsys.readouterr().out.splitlines()
    size = sum(path.stat().st_size for path in dino) / 1000
    today = [time.strftime("%Y-%m-%d", time.localtime(time.time() - d * DAY_S)) for d in (1, 3)]
    assert lines[0].split() == ["encoder", "revision", "pool", "clips", "size", "last", "used"]
    assert lines[1].split() == [
        "facebook/dinov2-base", "f9e44c814b77", "grid2", "2", f"{size:.1f}", "kB", today[1]
    ]  # fmt: skip
    assert lines[2].split()[0] == "google/siglip2-base-patch16-224"
    assert lines[2].split()[3] == "3"
    assert lines[2].split()[-1] == today[0]
    assert lines[-1] == str(cache)


def test_size(siglip, dino, cache: Path, capsys: pytest.CaptureFixture[str]):
    wanted = sum(path.stat().st_size for path in siglip + dino)
    size_command(in_bytes=True)
    assert capsys.readouterr().out == f"{wanted}\n"
    size_command()
    assert capsys.readouterr().out == f"{wanted / 1000:.1f} kB in 5 clips: {cache}\n"


def test_an_empty_cache(cache: Path, capsys: pytest.CaptureFixture[str]):
    list_command()
    size_command()
    prune_command(all_=True)
    assert capsys.readouterr().out.splitlines() == [
        f"the cache is empty: {cache}",
        f"0 bytes in 0 clips: {cache}",
        "removed 0 clips, 0 bytes",
    ]
    assert not cache.exists()


def test_another_folder(siglip, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    other = fill(tmp_path / "other", "clip", [1])
    size_command(cache=tmp_path / "other")
    assert "in 1 clips" in capsys.readouterr().out
    prune_command(all_=True, cache=tmp_path / "other")
    assert remaining(siglip, other) == [True] * 3 + [False]


@pytest.mark.parametrize("content", ["", "{}", "[]", '"text"', "\xff", None])
def test_an_encoder_that_lost_its_description_is_still_listed(
    content: str | None, siglip, capsys: pytest.CaptureFixture[str]
):
    about = siglip[0].parent.parent / "encoder.json"
    about.unlink()
    if content is not None:
        about.write_text(content, encoding="latin-1")
    list_command()
    fields = capsys.readouterr().out.splitlines()[1].split()
    assert fields[:4] == [about.parent.name, "unknown", "unknown", "3"]
    prune_command(encoder="siglip2")
    assert remaining(siglip) == [False] * 3


# ---- prune ---------------------------------------------------------------------------------------


def test_prune_what_nobody_used(siglip, dino, capsys: pytest.CaptureFixture[str]):
    prune_command(unused_days=30)
    assert remaining(siglip, dino) == [True, False, True, False, True]
    assert capsys.readouterr().out.startswith("removed 2 clips, 2")


def test_prune_one_encoder(siglip, dino):
    prune_command(encoder="dino")
    assert remaining(siglip, dino) == [True] * 3 + [False] * 2


def test_prune_to_a_size_takes_what_was_used_longest_ago(siglip, dino):
    size = siglip[0].stat().st_size
    prune_command(max_size=str(3 * size + dino[0].stat().st_size // 2))
    assert remaining(siglip, dino) == [True, False, True, False, True]
    prune_command(max_size="0")
    assert not any(remaining(siglip, dino))


def test_conditions_go_together(siglip, dino):
    """Of one encoder, what is old, and only as much as is needed."""
    prune_command(encoder="siglip", unused_days=5, max_size="1G")
    assert all(remaining(siglip, dino))
    prune_command(encoder="siglip", unused_days=5, max_size="1")
    assert remaining(siglip, dino) == [True, False, False, True, True]


def test_a_dry_run_says_the_same_and_removes_nothing(
    siglip, dino, cache: Path, capsys: pytest.CaptureFixture[str]
):
    before = sorted(cache.rglob("*"))
    prune_command(unused_days=30, dry_run=True)
    would = capsys.readouterr().out
    assert sorted(cache.rglob("*")) == before
    prune_command(unused_days=30)
    assert would == capsys.readouterr().out.replace("removed", "would remove")


def test_prune_all_leaves_nothing_behind(
    siglip, dino, cache: Path, capsys: pytest.CaptureFixture[str]
):
    # As every run leaves it, and one that was killed.
    claims = siglip[0].parent.parent / "claims"
    claims.mkdir()
    (claims / ("00" * 16)).touch()
    os.utime(claims / ("00" * 16), (1, 1))
    prune_command(all_=True)
    capsys.readouterr()
    list_command()
    assert "the cache is empty" in capsys.readouterr().out
    assert [path for path in cache.rglob("*") if path.name != "embeddings"] == []


def test_halves_of_killed_processes_go_when_they_are_old(siglip):
    old, young = (siglip[0].with_name(f".{name}.abc.safetensors") for name in ("old", "young"))
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (1, 1))
    prune_command(unused_days=1000)
    assert remaining(siglip, [old, young]) == [True, True, True, False, True]


def test_halves_are_no_clips(siglip, capsys: pytest.CaptureFixture[str]):
    siglip[0].with_name(".half.abc.safetensors").write_bytes(b"half")
    size_command()
    assert "in 3 clips" in capsys.readouterr().out


def test_a_claim_that_is_held_stays(siglip):
    store = EncoderCache.of(find_encoder("siglip2"))
    claim = store.claim("ab")
    assert claim is not None
    prune_command(all_=True)
    assert store.claim("ab") is None
    claim.drop()


@pytest.mark.parametrize(
    "options",
    [{}, {"dry_run": True}, {"all_": True, "encoder": "x"}, {"all_": True, "max_size": "1G"}],
)
def test_prune_wants_to_be_told_what_may_go(options: dict, siglip):
    with pytest.raises(GoalwardError, match="say what may go: --unused-days, --max-size, --enco"):
        prune_command(**options)
    assert all(remaining(siglip))


@pytest.mark.parametrize("text", ["", "G", "ten", "-1G", "nan", "inf", "1e999", "5 X", "1GG"])
def test_sizes_that_are_none(text: str, siglip):
    with pytest.raises(GoalwardError, match="--max-size wants a size like 500M or 10G, got"):
        prune_command(max_size=text)
    assert all(remaining(siglip))


@pytest.mark.parametrize(
    ("text", "size"),
    [("1k", 1e3), ("1.5 GB", 1.5e9), ("2m", 2e6), ("3T", 3e12), ("12", 12), ("12b", 12)],
)
def test_sizes_as_people_write_them(text: str, size: float):
    assert bytes_of(text) == size


def test_the_command_itself(siglip, cache: Path):
    def goalward(*arguments: str) -> subprocess.CompletedProcess[str]:
        code = "from goalward.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", code, "cache", *arguments], capture_output=True, text=True
        )

    refused = goalward("prune", "--dry-run")
    assert refused.returncode == 1
    assert refused.stderr.startswith("error: say what may go: --unused-days, --max-size")
    would = goalward("prune", "--unused-days", "5", "--dry-run")
    assert (would.returncode, would.stdout[:21]) == (0, "would remove 2 clips,")
    assert all(remaining(siglip))
    assert goalward("prune", "--max-size", "0").returncode == 0
    assert goalward("size", "--in-bytes").stdout == "0\n"

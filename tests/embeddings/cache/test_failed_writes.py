"""A full disk, an interrupt: what was written stays, and the same call goes on, here or later."""

import errno
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from rollout_files.small_encoder import picture_rollouts, small_encoder
from safetensors import SafetensorError

from goalward import GoalwardError
from goalward.embeddings.cache import encoder_cache as cache_module
from goalward.embeddings.cache.encoder_cache import EncoderCache
from goalward.embeddings.embed_report import EmbedProgress
from goalward.embeddings.models.image_net import TorchRunner
from goalward.spilled import gathered

ROLLOUTS = picture_rollouts([3] * 40)
# A run that waits for a claim that nobody drops would never end.
pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def wanted(embed_with_report, tmp_path: Path) -> bytes:
    """The features of a run that nothing disturbed."""
    return embed_with_report(ROLLOUTS, small_encoder(), cache=tmp_path / "x")[0].features.tobytes()


def mount(folder: Path, options: str) -> None:
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True, capture_output=True
    )


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        mount(folder, "size=64k")
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"a disk in memory cannot be mounted here ({error})")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.parametrize("limit", ["size=64k", "size=10m,nr_inodes=70"])
def test_a_full_disk(limit: str, disk: Path, wanted: bytes, embed_with_report):
    mount(disk, f"remount,{limit}")
    with pytest.raises(GoalwardError) as caught:
        embed_with_report(ROLLOUTS, small_encoder(), cache=disk)
    text = str(caught.value)
    assert text.startswith(f"no space left for embeddings in {disk}/embeddings/small-")
    assert "Set GOALWARD_CACHE to a folder with more room" in text
    store = EncoderCache.of(small_encoder(), disk)
    num_kept = len(list(store.folder.glob("??/*.safetensors")))
    assert 0 < num_kept < 40
    assert not list(store.folder.glob("??/.*")), "no half of a file is left in the way"
    mount(disk, "remount,size=10m,nr_inodes=1000")
    embedded, report = embed_with_report(ROLLOUTS, small_encoder(), cache=disk)
    assert (report.num_from_cache, report.num_rebuilt_clips) == (3 * num_kept, 0)
    assert embedded.features.tobytes() == wanted


def test_no_room_for_large_features(disk: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("goalward.spilled.IN_MEMORY_BYTES", 0)
    with pytest.raises(GoalwardError, match="no room for a file of 0.1 GB"):
        gathered([], (100_000, 500), "float16", folder=disk)


def fail_after(monkeypatch: pytest.MonkeyPatch, num_writes: int, error: Exception) -> None:
    save_file, written = cache_module.save_file, []

    def save_some(tensors, path: Path, metadata) -> None:
        if len(written) == num_writes:
            path.write_bytes(b"half")
            raise error
        written.append(path)
        save_file(tensors, path, metadata)

    monkeypatch.setattr(cache_module, "save_file", save_some)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "no space left for embeddings in"),
        (OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)), "no space left for embeddings in"),
        (
            SafetensorError("I/O error: No space left on device (os error 28)"),
            "no space left for embeddings in",
        ),
        (OSError(errno.EIO, os.strerror(errno.EIO)), r"cannot be written \(Input/output error\)"),
        (SafetensorError("another error"), r"embeddings cannot be written \(another error\)"),
    ],
    ids=str,
)
def test_errors_of_writing(
    error: Exception, message: str, wanted: bytes, embed_with_report, cache: Path
):
    with pytest.MonkeyPatch.context() as patch:
        fail_after(patch, 7, error)
        # A decoder that waits for room for its frames when the error comes.
        patch.setattr("goalward.embeddings.decoding.decoders._WAITING_BYTES", 1)
        with pytest.raises(GoalwardError, match=message) as caught:
            embed_with_report(ROLLOUTS, small_encoder())
    # Even while somebody holds the error, and with it all that was under way.
    assert caught.value.__traceback__ is not None
    assert not any(thread.name.startswith("decoder") for thread in threading.enumerate())
    embedded, report = embed_with_report(ROLLOUTS, small_encoder())
    assert (report.num_from_cache, report.num_encoded) == (21, 99)
    assert embedded.features.tobytes() == wanted
    assert not list(cache.rglob(".*"))


def test_interrupted_and_called_again_in_the_same_process(wanted: bytes, embed_with_report):
    def interrupt(now: EmbedProgress) -> None:
        if now.stage == "embedding" and now.frames > 50:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed_with_report(ROLLOUTS, small_encoder(), on_progress=interrupt)
    assert not any(thread.name.startswith("decoder") for thread in threading.enumerate())
    embedded, report = embed_with_report(ROLLOUTS, small_encoder())
    assert report.num_from_cache > 0
    assert embedded.features.tobytes() == wanted


def test_interrupted_while_files_are_read(embed_with_report):
    """Files that nobody looked at yet are not read for nothing."""
    looked_at: list[int] = []

    class Slow:
        num_frames, height, width, codec = 1, 1, 1, "none"

        def fingerprint(self) -> str:
            looked_at.append(1)
            threading.Event().wait(0.02)
            return "0" * 32

    from goalward import Episode, Outcome, Rollouts

    rollouts = Rollouts(
        [Episode(str(i), 1, Outcome.TIME_OUT, cameras={"a": Slow()}) for i in range(200)]
    )

    def interrupt(_: EmbedProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed_with_report(rollouts, small_encoder(), on_progress=interrupt)
    assert len(looked_at) < 50


# ---- claims --------------------------------------------------------------------------------------


def test_a_claim_is_held_by_one(cache: Path):
    store = EncoderCache.of(small_encoder())
    first = store.claim("ab")
    assert first is not None
    assert store.claim("ab") is None
    other = store.claim("cd")
    assert other is not None
    first.drop()
    again = store.claim("ab")
    assert again is not None
    again.drop()
    other.drop()
    assert os.listdir(store.folder / "claims") == []


def test_many_short_clips_do_not_take_all_files_that_may_be_open(
    embed_with_report, monkeypatch: pytest.MonkeyPatch
):
    """Each claim is an open file, and decoders run ahead of an encoder that takes its time."""
    resource = pytest.importorskip("resource")
    submit = TorchRunner.submit

    def submit_late(runner: TorchRunner, pixels: np.ndarray):
        time.sleep(0.02)
        return submit(runner, pixels)

    monkeypatch.setattr(TorchRunner, "submit", submit_late)
    rollouts = picture_rollouts([1] * 300)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) + 150, before[1]))
    try:
        embedded, report = embed_with_report(rollouts, small_encoder())
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert (len(embedded), report.num_encoded) == (300, 300)


def test_where_nothing_can_be_locked_everybody_may(
    cache: Path, monkeypatch: pytest.MonkeyPatch, embed_with_report, wanted: bytes
):
    monkeypatch.setattr("goalward.embeddings.cache.claims.fcntl", None)
    store = EncoderCache.of(small_encoder())
    assert store.claim("ab") is not None
    assert store.claim("ab") is not None
    embedded, _ = embed_with_report(ROLLOUTS, small_encoder())
    assert embedded.features.tobytes() == wanted
    shutil.rmtree(cache)

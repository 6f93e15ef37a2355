"""Processes that embed one data set: killed, interrupted, several at once.

    python embedding_processes.py kill|kill_in_write|together|interrupt <data set> <empty folder>

torch is imported once; each process that embeds is a fork. Prints what happened as json; an
AssertionError says what must not happen.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

import goalward
from goalward.embeddings.cache import encoder_cache as cache_module
from goalward.embeddings.cache.encoder_cache import EncoderCache
from goalward.embeddings.embed import embed
from goalward.embeddings.embed_report import EmbedReport

sys.path.insert(0, str(Path(__file__).parent.parent))

from rollout_files.small_encoder import small_encoder

NUM_KILLS = 20


class Runs:
    """Forked runs of `embed` on one data set, and what one undisturbed run gives."""

    def __init__(self, data_set: Path, folder: Path) -> None:
        self.rollouts = goalward.read(data_set)
        self.folder = folder
        self.features = self.finished("undisturbed")
        started = time.monotonic()
        assert self.finished("undisturbed again") == self.features
        self.duration_s = time.monotonic() - started
        self.entries = self.entries_of("undisturbed")
        assert len(self.entries) == len(self.rollouts) * len(self.rollouts.camera_names)

    def start(self, name: str, before: Callable[[], None] = lambda: None) -> int:
        """A process that embeds into a cache of this name."""
        process = os.fork()
        if process:
            return process
        status = 1
        try:
            before()
            reports: list[EmbedReport] = []
            embedded = embed(
                self.rollouts,
                small_encoder(),
                cache=self.folder / name,
                device="cpu",
                on_finish=reports.append,
            )
            assert embedded.features is not None
            counts = {"encoded": reports[0].num_encoded, "cached": reports[0].num_from_cache}
            (self.folder / f"{name}.{os.getpid()}.json").write_text(json.dumps(counts))
            (self.folder / f"{name}.{os.getpid()}").write_bytes(embedded.features.tobytes())
            status = 0
        except KeyboardInterrupt:
            status = 130
        finally:
            os._exit(status)

    def finished(self, name: str) -> bytes:
        process = self.start(name)
        assert os.waitpid(process, 0)[1] == 0, "a run that nobody disturbed failed"
        return (self.folder / f"{name}.{process}").read_bytes()

    def entries_of(self, name: str) -> dict[str, bytes]:
        """The files of a cache that have taken their name."""
        folder = EncoderCache.of(small_encoder(), self.folder / name).folder
        paths = [path for path in folder.glob("??/*") if not path.name.startswith(".")]
        return {str(path.relative_to(folder)): path.read_bytes() for path in paths}

    def check_part(self, name: str) -> int:
        """What a killed run left is right as far as it goes; how many clips that is."""
        left = self.entries_of(name)
        for path, content in left.items():
            assert self.entries.get(path) == content, f"{path} is not whole"
        return len(left)

    def check_resumed(self, name: str) -> None:
        assert self.finished(name) == self.features, "resumed features differ"
        assert self.entries_of(name) == self.entries, "resumed files differ"


def ended(process: int, within_s: float) -> int:
    """The exit status of a process that must end by itself soon."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    raise AssertionError(f"a process did not end within {within_s} s")


def kill(runs: Runs) -> dict[str, object]:
    """SIGKILL at random moments, two of them on the way to each result."""
    rng = random.Random(0)
    num_left: list[int] = []
    number = 0
    while len(num_left) < NUM_KILLS:
        name, number = f"killed{number}", number + 1
        share_to_do = 1.0
        for _ in range(2):
            process = runs.start(name)
            time.sleep(rng.uniform(0, 0.9 * runs.duration_s * share_to_do))
            os.kill(process, signal.SIGKILL)
            if os.WIFSIGNALED(os.waitpid(process, 0)[1]):
                num_left.append(runs.check_part(name))
                share_to_do = 1 - num_left[-1] / len(runs.entries)
        runs.check_resumed(name)
        shutil.rmtree(runs.folder / name)
    return {"num_left": num_left}


def kill_in_write(runs: Runs) -> dict[str, object]:
    """SIGKILL in the middle of writing each of the files in turn."""
    num_left: list[int] = []
    for victim in range(len(runs.entries)):
        name = f"victim{victim}"

        def sabotage(victim: int = victim) -> None:
            save_file, written = cache_module.save_file, []

            def half_written(tensors, path: Path, metadata) -> None:
                save_file(tensors, path, metadata)
                if len(written) == victim:
                    os.truncate(path, path.stat().st_size // 2)
                    os.kill(os.getpid(), signal.SIGKILL)
                written.append(path)

            cache_module.save_file = half_written

        assert ended(runs.start(name, sabotage), 20) == -signal.SIGKILL
        num_left.append(runs.check_part(name))
        runs.check_resumed(name)
    return {"num_left": num_left}


def together(runs: Runs) -> dict[str, object]:
    """Three processes at once, one of which is killed on the way."""
    counts = []
    for number in range(4):
        name = f"together{number}"
        processes = [runs.start(name) for _ in range(3)]
        time.sleep(0.3 * runs.duration_s)
        os.kill(processes[0], signal.SIGKILL)
        os.waitpid(processes[0], 0)
        for process in processes[1:]:
            assert ended(process, 20) == 0
            assert (runs.folder / f"{name}.{process}").read_bytes() == runs.features
            counts.append(json.loads((runs.folder / f"{name}.{process}.json").read_text()))
        assert runs.entries_of(name) == runs.entries
    return {"counts": counts, "num_frames": 2 * runs.rollouts.num_frames}


def interrupt(runs: Runs) -> dict[str, object]:
    """SIGINT while the last clip is another process's: this one."""
    store = EncoderCache.of(small_encoder(), runs.folder / "waiting")
    wanted = runs.rollouts[0].cameras[runs.rollouts.camera_names[0]].fingerprint()
    claim = store.claim(wanted)
    assert claim is not None
    process = runs.start("waiting")
    until = time.monotonic() + 20
    while len(runs.entries_of("waiting")) < len(runs.entries) - 1:
        assert time.monotonic() < until, "the other clips were not embedded"
        time.sleep(0.01)
    time.sleep(0.5)
    assert os.waitpid(process, os.WNOHANG)[0] == 0, "it does not wait for the last clip"
    started = time.monotonic()
    os.kill(process, signal.SIGINT)
    status = ended(process, 20)
    took_s = time.monotonic() - started
    claim.drop()
    runs.check_resumed("waiting")
    return {"status": status, "took_s": took_s}


def main() -> None:
    torch.set_num_threads(1)
    what, data_set, folder = sys.argv[1:]
    runs = Runs(Path(data_set), Path(folder))
    ways = {
        "kill": kill,
        "kill_in_write": kill_in_write,
        "together": together,
        "interrupt": interrupt,
    }
    print(json.dumps(ways[what](runs)))


if __name__ == "__main__":
    main()

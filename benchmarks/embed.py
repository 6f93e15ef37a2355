"""How fast frames become vectors, end to end, against the bare encoder on frames in memory.

    python benchmarks/embed.py                          # effnet-lite0 on the CPU, real videos
    python benchmarks/embed.py --encoder siglip2-shape  # a random network of SigLIP2-B's shape
    python benchmarks/embed.py --encoder siglip2-shape --videos 80000  # as many, to be decoded
    python benchmarks/embed.py --memory                 # 50,000 frames, memory watched
    python benchmarks/embed.py --cached 50000           # reading the cache alone

End to end is all of it: read files, decode, resize, encode, write to the cache. The bare encoder
runs the same network in the same precision and batch size on frames that are decoded and resized
already. Both are measured in turn, several times, in one process. A second run finds everything in
the cache. With `--made` frames are made on the fly instead of decoded. With `--videos` they are
those of the example, twice as large, in h264 videos of 250 frames that differ from each other; as
many processes as there are cores write them first, which no figure includes.
"""

import argparse
import itertools
import multiprocessing
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import torch

from goalward.devices import chosen_device
from goalward.embeddings.cache.encoder_cache import EncoderCache
from goalward.embeddings.embed import embed
from goalward.embeddings.embed_report import EmbedReport
from goalward.embeddings.encoders import Encoder, find_encoder
from goalward.embeddings.models.image_net import ImageNet, PixelNet, Runner
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.frames import Image

EXAMPLE = Path(__file__).parent.parent / "examples" / "libero_rollouts"
FPS = 10.0


@dataclass(frozen=True)
class MadeFrames:
    """A square that moves over noise, drawn when asked for; every frame differs."""

    num_frames: int
    seed: int
    height: int = 256
    width: int = 256
    codec: str = "made"

    def fingerprint(self) -> str:
        return f"{self.seed:016x}{self.num_frames:08x}{self.height:04x}{self.width:04x}"

    def __iter__(self) -> Iterator[Image]:
        return self.at(range(self.num_frames))

    def at(self, frame_indices: Sequence[int]) -> Iterator[Image]:
        shape = (self.height, self.width, 3)
        noise = np.random.default_rng(self.seed).integers(0, 256, shape, dtype=np.uint8)
        for index in frame_indices:
            frame = noise.copy()
            left = index % (self.width - 32)
            frame[100:132, left : left + 32] = index % 256
            yield frame


def made_rollouts(num_frames: int, frames_per_episode: int = 250) -> Rollouts:
    return Rollouts(
        [
            Episode(
                str(index),
                frames_per_episode,
                Outcome.TIME_OUT,
                cameras={"made": MadeFrames(frames_per_episode, index)},
            )
            for index in range(num_frames // frames_per_episode)
        ]
    )


def written_rollouts(folder: Path, num_frames: int, frames_per_episode: int = 250) -> Rollouts:
    """Real pictures in as many videos as it takes, each from another moment on, and shifted."""
    from goalward.rollouts.video.reading import VideoFrames

    count = num_frames // frames_per_episode
    files = [folder / f"{index}.mp4" for index in range(count)]
    with multiprocessing.get_context("spawn").Pool() as pool:
        pool.starmap(_write_video, ((path, i, frames_per_episode) for i, path in enumerate(files)))
    times = np.arange(frames_per_episode) / FPS
    return Rollouts(
        [
            Episode(
                path.stem,
                frames_per_episode,
                Outcome.TIME_OUT,
                cameras={"written": VideoFrames(path, times, FPS)},
            )
            for path in files
        ]
    )


def _write_video(path: Path, index: int, num_frames: int) -> None:
    from goalward.rollouts.readers import read
    from goalward.rollouts.video.writer import VideoWriter

    example = read(EXAMPLE)
    camera = example.camera_names[0]
    first = index % len(example)
    episodes = itertools.cycle([*example[first:], *example[:first]])
    pictures = itertools.chain.from_iterable(episode.camera(camera) for episode in episodes)
    with VideoWriter(path, FPS, for_browser=True) as video:
        for picture in itertools.islice(pictures, index, index + num_frames):
            larger = picture.repeat(2, axis=0).repeat(2, axis=1)
            video.add(np.ascontiguousarray(np.roll(larger, index, axis=1)))


def siglip2_shape(folder: Path, *, small: bool = False) -> Encoder:
    """Random weights: as fast as the real ones, and to be had without a hub."""
    import transformers

    config = transformers.SiglipVisionConfig(
        hidden_size=32 if small else 768,
        intermediate_size=64 if small else 3072,
        num_hidden_layers=1 if small else 12,
        num_attention_heads=2 if small else 12,
        image_size=224,
        patch_size=32 if small else 16,
    )
    torch.manual_seed(0)
    transformers.SiglipVisionModel(config).save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(
        '{"image_processor_type": "SiglipImageProcessor", "do_resize": true, "resample": 2, '
        '"size": {"height": 224, "width": 224}, "do_rescale": true, '
        '"rescale_factor": 0.00392156862745098, "do_normalize": true, '
        '"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}'
    )
    return find_encoder(str(folder))


def bare_speed(runner: Runner, batch: Image, seconds: float) -> tuple[float, float]:
    """Frames per second of the encoder alone, two batches under way as in the real thing; and
    per second of processor time."""
    results = [runner.submit(batch)]
    results.pop()()
    started, started_cpu, num_frames = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - started < seconds:
        results.append(runner.submit(batch))
        num_frames += len(batch)
        if len(results) == 2:
            results.pop(0)()
    for result in results:
        result()
    cpu = time.process_time() - started_cpu
    return num_frames / (time.perf_counter() - started), num_frames / cpu


def least_cosine(encoder: Encoder, rollouts: Rollouts, device: str) -> float:
    """Between what the device gives and torch in float32 on Pillow's pictures, over 8 frames."""
    frames = list(rollouts[0].camera(rollouts.camera_names[0]).at(range(8)))
    net = encoder.load()
    with torch.inference_mode():
        prepared = np.stack([net.resize(frame) for frame in frames])
        wanted = PixelNet(net.net, net.normalisation)(torch.from_numpy(prepared))
    runner = encoder.load().on(chosen_device(device), batch_size=len(frames))
    first = runner.prepare(frames[0])
    batch = runner.new_batch(*first.shape[:2])
    for row, frame in zip(batch, frames, strict=True):
        row[:] = runner.prepare(frame)
    got = torch.from_numpy(runner.submit(batch)())
    return torch.nn.functional.cosine_similarity(wanted, got).min().item()


def end_to_end(rollouts: Rollouts, encoder: Encoder, device: str, cache: Path) -> EmbedReport:
    reports: list[EmbedReport] = []
    embed(rollouts, encoder, device=device, cache=cache, on_finish=reports.append)
    return reports[0]


def measure(rollouts: Rollouts, encoder: Encoder, device: str, repeats: int) -> None:
    print(f"least cosine to float32: {least_cosine(encoder, rollouts, device):.6f}")
    net = encoder.load()
    runner = net.on(chosen_device(device))
    frame = next(iter(rollouts[0].frames(rollouts.camera_names[0])))
    prepared = runner.prepare(frame)
    batch = runner.new_batch(*prepared.shape[:2])
    batch[:] = prepared
    # Loading the network is no part of either figure: it is paid once.
    encoder = Encoder(encoder.name, encoder.id, encoder.revision, encoder.pool, lambda _: net)
    ratios: list[float] = []
    cpu_ratios: list[float] = []
    for repeat in range(repeats):
        bare, bare_cpu = bare_speed(runner, batch, seconds=5.0)
        with tempfile.TemporaryDirectory() as folder:
            started, started_cpu = time.perf_counter(), time.process_time()
            first = end_to_end(rollouts, encoder, device, Path(folder))
            first_s = time.perf_counter() - started
            first_cpu_s = time.process_time() - started_cpu
            started = time.perf_counter()
            end_to_end(rollouts, encoder, device, Path(folder))
            second_s = time.perf_counter() - started
        bare_after, bare_cpu_after = bare_speed(runner, batch, seconds=5.0)
        speed = first.num_encoded / first_s
        ratios.append(speed / ((bare + bare_after) / 2))
        cpu_ratios.append(first.num_encoded / first_cpu_s / ((bare_cpu + bare_cpu_after) / 2))
        print(
            f"run {repeat}: bare {bare:,.0f} and {bare_after:,.0f} frames/s, end to end "
            f"{speed:,.0f} ({ratios[-1]:.2f} of bare); from the cache {first_s / second_s:,.0f} x"
        )
    print(
        f"{encoder.label} on {device} ({runner.precision}, batches of {runner.batch_size}), "
        f"{rollouts.num_frames:,} frames of {frame.shape[1]} x {frame.shape[0]}: "
        f"end to end {median(ratios):.2f} of the bare encoder (median), "
        f"{median(cpu_ratios):.2f} per second of processor time"
    )


def watch_memory(encoder: Encoder, device: str, num_frames: int) -> None:
    """Resident memory while so many frames are embedded, at a fifth of the way and at most."""
    import psutil

    process = psutil.Process()
    sizes: list[int] = []
    stop = threading.Event()

    def sample() -> None:
        while not stop.wait(0.1):
            sizes.append(process.memory_info().rss)

    rollouts = made_rollouts(num_frames)
    with tempfile.TemporaryDirectory() as folder:
        watcher = threading.Thread(target=sample)
        watcher.start()
        try:
            end_to_end(rollouts, encoder, device, Path(folder))
        finally:
            stop.set()
            watcher.join()
    early = max(sizes[: max(len(sizes) // 5, 1)])
    print(
        f"{num_frames:,} frames: {early / 1e6:,.0f} MB in the first fifth, at most "
        f"{max(sizes) / 1e6:,.0f} MB after"
    )


def _never_loaded(_: str) -> ImageNet:
    raise AssertionError("all vectors are in the cache")


def read_cached(num_frames: int, repeats: int) -> None:
    """From a cache full of made up vectors, 768 numbers each, to features."""
    rollouts = made_rollouts(num_frames)
    encoder = Encoder("made", "tests/made", "0" * 40, "global", _never_loaded)
    with tempfile.TemporaryDirectory() as folder:
        store = EncoderCache.of(encoder, folder)
        random = np.random.default_rng(0)
        for episode in rollouts:
            vectors = random.normal(size=(episode.num_frames, 768)).astype(np.float16)
            store.write(episode.camera("made").fingerprint(), vectors, "float32")
        for repeat in range(repeats):
            started, started_cpu = time.perf_counter(), time.process_time()
            report = end_to_end(rollouts, encoder, "cpu", Path(folder))
            seconds, cpu_s = time.perf_counter() - started, time.process_time() - started_cpu
            assert report.num_from_cache == rollouts.num_frames
            print(
                f"run {repeat}: {rollouts.num_frames / seconds:,.0f} frames/s from the cache, "
                f"{rollouts.num_frames / cpu_s:,.0f} per second of processor time"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--encoder", default="effnet-lite0")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--made", type=int, default=0, help="so many frames made on the fly")
    parser.add_argument("--videos", type=int, default=0, help="so many frames in h264 videos")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--memory", action="store_true", help="watch memory over 50,000 frames")
    parser.add_argument("--cached", type=int, default=0, help="read so many frames from a cache")
    arguments = parser.parse_args()
    if arguments.cached:
        read_cached(arguments.cached, arguments.repeats)
        return
    with tempfile.TemporaryDirectory() as folder:
        if arguments.memory:
            watch_memory(siglip2_shape(Path(folder), small=True), arguments.device, 50_000)
            return
        if arguments.encoder == "siglip2-shape":
            encoder = siglip2_shape(Path(folder))
        else:
            encoder = find_encoder(arguments.encoder)
        if arguments.made:
            rollouts = made_rollouts(arguments.made)
        elif arguments.videos:
            rollouts = written_rollouts(Path(folder), arguments.videos)
        else:
            from goalward.rollouts.readers import read

            rollouts = read(EXAMPLE)
        measure(rollouts, encoder, arguments.device, arguments.repeats)


if __name__ == "__main__":
    main()

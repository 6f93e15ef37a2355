"""`goalward embed` from videos to a feature file, as a person runs it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from rollout_files.lerobot import make_episode, write_lerobot
from rollout_files.vision_models import write_model

import goalward
from goalward import GoalwardError
from goalward.cli.embed import EmbedArguments, embed_command
from goalward.cli.fit import fit_command
from goalward.cli.read_arguments import ReadArguments
from goalward.embeddings.embed import embed
from goalward.values.fitted import load

pytestmark = pytest.mark.usefixtures("one_thread")

COMMAND = [sys.executable, "-c", "from goalward.cli import main; main()", "embed"]


def environment(tmp_path: Path) -> dict[str, str]:
    """No hub, no terminal, a cache of its own."""
    return {
        **os.environ,
        "GOALWARD_CACHE": str(tmp_path / "cache"),
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_CACHE": str(tmp_path / "hub"),
        "NO_COLOR": "1",
        "OMP_NUM_THREADS": "1",
    }


def goalward_embed(tmp_path: Path, *arguments) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment(tmp_path),
    )


@pytest.fixture(scope="module")
def data_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four episodes of 6 to 9 frames, two cameras, three proprioceptive numbers."""
    episodes = [
        make_episode(6 + i, i % 2 == 0, seed=i, cameras=("front", "wrist")) for i in range(4)
    ]
    root = tmp_path_factory.mktemp("cli") / "rollouts"
    return write_lerobot(root, episodes, version="v2.1")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A vision model of 16 numbers per image."""
    return str(write_model(tmp_path_factory.mktemp("model") / "eyes", "siglip"))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GOALWARD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def arguments(encoder: str, **more) -> EmbedArguments:
    return EmbedArguments(encoder=encoder, device="cpu", **more)


def test_from_videos_to_value_functions(data_set: Path, tmp_path: Path):
    out = tmp_path / "features.npz"
    result = goalward_embed(tmp_path, data_set, "--encoder", "effnet-lite0", "--out", out)
    assert (result.returncode, result.stdout) == (0, "")
    first, second, third = (line for line in result.stderr.splitlines() if line)
    facts = "60 frames by effnet-lite0@579344248a93, pool global; 60 encoded in "
    assert first.startswith(facts)
    assert second.startswith(f"embeddings of 4 episodes: {tmp_path}/cache/embeddings/effnet-lite0-")
    assert third == f"features of 4 episodes, 2563 numbers per frame: {out}"
    features = goalward.read_features(out)
    # The cache of that process serves this one.
    wanted = embed(goalward.read(data_set), "effnet-lite0", device="cpu")
    assert features.features is not None
    assert features.features.shape == (30, 2 * 1280 + 3)
    assert np.array_equal(features.features, wanted.features)
    assert features.feature_layout == wanted.feature_layout
    assert list(features.outcomes) == list(wanted.outcomes)
    small = ("width=8", "num_layers=2", "num_steps=6", "batch_size=16")
    fit_command(out, out=tmp_path / "run", seeds=1, device="cpu", set_=small)
    assert load(tmp_path / "run").feature_layout == wanted.feature_layout


def test_a_second_run_reads_the_cache(
    data_set: Path, model: str, cache: Path, capsys: pytest.CaptureFixture[str]
):
    for words in ("60 encoded in", "60 from the cache"):
        embed_command(str(data_set), embedding=arguments(model))
        text = capsys.readouterr().err
        assert words in text
        assert f"embeddings of 4 episodes: {cache}/embeddings/folder-global-" in text


def test_options(data_set: Path, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "wrist.npz"
    embed_command(
        str(data_set),
        reading=ReadArguments(cameras=("wrist",)),
        embedding=arguments(
            model, pool="grid2", n_obs_steps=2, batch_size=4, cache=tmp_path / "elsewhere"
        ),
        out=out,
    )
    assert "134 numbers per frame" in capsys.readouterr().err
    features = goalward.read_features(out)
    wanted = embed(
        goalward.read(data_set),
        model,
        cameras=["wrist"],
        pool="grid2",
        n_obs_steps=2,
        batch_size=4,
        device="cpu",
    )
    assert np.array_equal(features.features, wanted.features)
    assert (tmp_path / "elsewhere" / "embeddings").is_dir()


def test_features_are_not_written_among_the_rollouts(data_set: Path, model: str):
    inside = data_set / "features.npz"
    with pytest.raises(GoalwardError, match=r"features\.npz: lies in the folder of the rollouts"):
        embed_command(str(data_set), embedding=arguments(model), out=inside)
    assert not inside.exists()


def test_no_camera_leaves_proprioception(
    data_set: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    out = tmp_path / "states.npz"
    embed_command(str(data_set), reading=ReadArguments(cameras=()), out=out)
    features = goalward.read_features(out)
    assert np.array_equal(features.features, goalward.read(data_set).proprioception)
    assert "features of 4 episodes, 3 numbers per frame" in capsys.readouterr().err


def test_what_was_left_out_and_made_again_is_said(
    model: str, tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str]
):
    episodes = [make_episode(6 + i, i % 2 == 0, seed=i) for i in range(3)]
    data_set = write_lerobot(tmp_path / "rollouts", episodes, version="v2.1")
    embed_command(str(data_set), embedding=arguments(model))
    next(cache.rglob("*.safetensors")).write_bytes(b"")
    (video,) = data_set.rglob("*_000002.mp4")
    content = bytearray(video.read_bytes())
    end = content.find(b"moov") - 40
    content[end - 260 : end] = b"\x55" * 260
    video.write_bytes(content)
    capsys.readouterr()
    embed_command(str(data_set), embedding=arguments(model))
    text = capsys.readouterr().err
    assert f"warning: episode 2 is left out: {video}: the video cannot be decoded" in text
    assert "embeddings of 2 episodes" in text
    strict = ReadArguments(strict=True)
    with pytest.raises(GoalwardError, match="episode 2: .*the video cannot be decoded"):
        embed_command(str(data_set), reading=strict, embedding=arguments(model))


def test_damage_to_the_cache_is_said(
    data_set: Path, model: str, cache: Path, capsys: pytest.CaptureFixture[str]
):
    embed_command(str(data_set), embedding=arguments(model))
    for path in sorted(cache.rglob("*.safetensors"))[:2]:
        path.write_bytes(path.read_bytes()[:-1])
    capsys.readouterr()
    embed_command(str(data_set), embedding=arguments(model))
    assert "warning: 2 damaged files of the cache were made again" in capsys.readouterr().err


def test_warnings_are_lines_for_people(
    data_set: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setitem(sys.modules, "goalward.embeddings.onnx.runner", None)
    front = ReadArguments(cameras=("front",))
    embed_command(str(data_set), reading=front, embedding=arguments("effnet-lite0"))
    first = capsys.readouterr().err.strip().splitlines()[0]
    assert first.startswith("warning: onnxruntime and onnx are not installed; with them")


@pytest.mark.parametrize(
    ("reading", "embedding", "message"),
    [
        ({}, {"encoder": "resnet"}, "no encoder 'resnet'; there are siglip2, clip, dinov2, effn"),
        ({}, {"encoder": "./none"}, "encoder ./none: there is no such folder"),
        ({}, {"pool": "mean"}, "no pooling 'mean'; there are global, grid2"),
        ({"cameras": ("side",)}, {}, "no camera side; cameras: .*front, .*wrist"),
        ({}, {"n_obs_steps": 0}, "--n-obs-steps 0: must be at least 1"),
        ({}, {"batch_size": 0}, "--batch-size 0: must be at least 1"),
        ({}, {"device": "gpu"}, "no device 'gpu'"),
    ],
)
def test_wrong_arguments_say_what_is_right(
    reading: dict, embedding: dict, message: str, data_set: Path
):
    with pytest.raises(GoalwardError, match=message):
        embed_command(
            str(data_set), reading=ReadArguments(**reading), embedding=EmbedArguments(**embedding)
        )


def test_without_a_hub_the_error_says_what_to_do(data_set: Path, tmp_path: Path):
    result = goalward_embed(tmp_path, data_set)
    assert (result.returncode, result.stdout) == (1, "")
    lines = result.stderr.splitlines()
    assert lines[0].startswith(
        "error: encoder google/siglip2-base-patch16-224: wanted its file config.json, but it is "
        "not in the hub's cache, and HF_HUB_OFFLINE forbids"
    )
    assert "--encoder ./folder" in lines[1]
    assert f"set HF_HUB_CACHE to it (now {tmp_path}/hub)" in lines[2]
    assert "--encoder effnet-lite0" in lines[3]
    assert len(lines) == 4


def test_an_interrupt_is_quiet_and_the_same_command_goes_on(tmp_path: Path):
    episodes = [make_episode(25, i % 2 == 0, seed=i) for i in range(8)]
    data_set = write_lerobot(tmp_path / "rollouts", episodes)
    command = ["--encoder", "effnet-lite0", "--out", str(tmp_path / "features.npz")]
    process = subprocess.Popen(
        [*COMMAND, str(data_set), *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(tmp_path),
    )
    until = time.monotonic() + 60
    while not list((tmp_path / "cache").rglob("*.safetensors")):
        assert time.monotonic() < until
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert (process.returncode, output) == (130, "")
    assert errors.splitlines()[-1] == "interrupted"
    assert "Traceback" not in errors
    assert not (tmp_path / "features.npz").exists()
    num_kept = len([p for p in (tmp_path / "cache").rglob("*.safetensors") if p.name[0] != "."])
    assert 0 < num_kept < 8
    result = goalward_embed(tmp_path, data_set, *command)
    assert result.returncode == 0
    facts = f"{25 * num_kept} from the cache; {25 * (8 - num_kept)} encoded"
    assert facts in result.stderr
    features = goalward.read_features(tmp_path / "features.npz")
    assert features.features is not None
    assert features.features.shape == (200, 1283)

"""`goalward embed`: the frames of a data set as vectors, once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cyclopts import Parameter

from goalward.cli.console import say
from goalward.cli.read_arguments import ReadArguments
from goalward.embeddings.encoders import DEFAULT_ENCODER
from goalward.errors import GoalwardError
from goalward.leftovers import sweep
from goalward.rollouts.findings import counted


@Parameter(name="*")
@dataclass(frozen=True)
class EmbedArguments:
    encoder: str = DEFAULT_ENCODER
    """siglip2 (the paper's), clip, dinov2, effnet-lite0 (needs no model hub), another vision
    model of transformers by its hub id (org/model or org/model@revision), or a folder that holds
    one (./model)."""
    pool: str = "global"
    """One vector for the whole picture (global), or one per cell of a grid (grid2, grid3, ...),
    which keeps where things are."""
    precision: Literal["float", "int8"] = "float"
    """float is float32 on a CPU and bfloat16 on a GPU; int8 runs a vision transformer in 8 bits on
    the CPU, two to three times as fast, with vectors a little off (docs/embedding.md)."""
    n_obs_steps: int = 1
    """How many observations the policy saw; so many stand side by side in a row."""
    every: int = 1
    """Embed one frame in so many, and always the first, the goal and the last, to save time. Steps
    and clocks stay those of the recording; values between are interpolated, and marked so."""
    device: str | None = None
    """cpu, cuda, ... Default: cuda where there is one."""
    batch_size: int | None = None
    """Frames per forward pass. Default: what suits the device."""
    cache: Path | None = None
    """The folder for embeddings, here or in a store (s3://bucket/cache). Default: GOALWARD_CACHE,
    else the platform's cache folder."""


def embed_command(
    path: str,
    /,
    *,
    reading: ReadArguments = ReadArguments(),  # noqa: B008 (frozen)
    embedding: EmbedArguments = EmbedArguments(),  # noqa: B008 (frozen)
    out: Path | None = None,
    on: str = "local",
    workers: int | None = None,
    shard: str | None = None,
) -> None:
    """Turn the frames of a data set into vectors, once, and keep them.

    Embeddings are filed by what the frames are: a second run reads them, whatever the data set
    is called and wherever it lies by then. After an interrupt the same command goes on.
    `goalward cache` shows what is kept.

    Examples:

    ```bash
    goalward embed my_rollouts  # all cameras, by the paper's encoder
    goalward embed my_rollouts --cameras front,wrist --encoder dinov2
    goalward embed my_rollouts --encoder effnet-lite0  # without a model hub
    goalward embed my_rollouts --encoder ./my-siglip --pool grid2
    goalward embed my_rollouts --precision int8  # faster without a GPU
    # proprioception alone
    goalward embed my_rollouts --cameras '' --out states.npz
    goalward embed my_rollouts --on ray  # the machines of a Ray cluster
    goalward embed my_rollouts --shard 3/16  # the third of 16 jobs
    goalward embed my_rollouts --out features.npz
    goalward fit features.npz --out run
    ```

    Parameters
    ----------
    path
        A folder or file of rollouts, here or in a store (s3://bucket/rollouts).
    out
        Write features and outcomes to this file (.npz), which `goalward fit` takes.
    on
        Who decodes and encodes: local (this process), ray (the cluster of RAY_ADDRESS, or one
        that is started here), or the address of a Ray cluster (ray://host:10001).
    workers
        How many workers of the cluster. Default: as many as it has GPUs, or cores if it has none.
    shard
        Only this share of the clips, as in 3/16; all shares fill one cache, from which the same
        command without it reads. For schedulers without Ray.
    """
    from goalward.executors.choice import Workers
    from goalward.executors.shard import Shard
    from goalward.runs.making.given import check_apart
    from goalward.runs.making.inputs import (
        embed_input,
        embed_share,
        is_feature_file,
        read_input,
    )

    who = Workers(on, workers)
    share = None if shard is None else Shard.of(shard)
    if out is not None:
        if not is_feature_file(out):
            raise GoalwardError(f"--out {out}: a feature file is known by its name: end it in .npz")
        check_apart(path, out)
        if share is not None:
            raise GoalwardError(
                f"--shard {share} fills the cache and no file: when all shares are there, the same "
                f"command with --out {out} and without --shard writes it"
            )
    options = dict(vars(embedding))
    device = options.pop("device")
    if is_feature_file(path):
        raise GoalwardError(f"{path}: is a feature file: what is in it was embedded before")
    rollouts = read_input(path, vars(reading), {})
    # The reader has left only the cameras that were asked for; none is a choice too.
    options["cameras"] = () if reading.cameras == () else None
    if share is not None:
        del options["n_obs_steps"]  # says how rows are made of what the cache holds
        embed_share(rollouts, share, options, device=device, strict=reading.strict, workers=who)
        return
    embedded = embed_input(rollouts, options, device=device, strict=reading.strict, workers=who)
    if out is not None:
        from goalward.training.stored.feature_file import write_features

        sweep(out.parent, name=out.name)
        write_features(out, embedded)
        size = 0 if embedded.features is None else embedded.features.shape[1]
        say(f"features of {counted(embedded)}, {size} numbers per frame: {out}")

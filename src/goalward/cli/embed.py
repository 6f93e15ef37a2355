"""`goalward embed`: the frames of a data set as vectors, once."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cyclopts import Parameter
from rich.console import Console

from goalward.cli.console import error_console, plain
from goalward.cli.progress import progress_bar
from goalward.cli.read_arguments import ReadArguments
from goalward.embeddings.embed import EmbedProgress, EmbedReport, embed
from goalward.embeddings.encoders import DEFAULT_ENCODER
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.findings import LeftOut, counted


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
    n_obs_steps: int = 1
    """How many observations the policy saw; so many stand side by side in a row."""
    device: str | None = None
    """cpu, cuda, ... Default: cuda where there is one."""
    batch_size: int | None = None
    """Frames per forward pass. Default: what suits the device."""
    cache: Path | None = None
    """The folder for embeddings. Default: GOALWARD_CACHE, else the platform's cache folder."""

    def embed(self, rollouts: Rollouts, reading: ReadArguments) -> Rollouts:
        """Rollouts with features, with a bar and a summary on the way."""
        console = error_console()
        _print_findings(rollouts, console)
        reports: list[EmbedReport] = []
        with (
            warnings.catch_warnings(record=True) as noticed,
            progress_bar("reading videos", console) as show_reading,
            progress_bar("embedding", console, unit="frames") as show_embedding,
        ):
            warnings.simplefilter("always", UserWarning)

            def show(now: EmbedProgress) -> None:
                update = show_reading if now.stage == "reading" else show_embedding
                update(now.frames, now.total_frames)

            embedded = embed(
                rollouts,
                self.encoder,
                # The reader has left only the cameras that were asked for; none is a choice too.
                cameras=() if reading.cameras == () else None,
                pool=self.pool,
                n_obs_steps=self.n_obs_steps,
                device=self.device,
                batch_size=self.batch_size,
                cache=self.cache,
                strict=reading.strict,
                on_progress=show,
                on_finish=reports.append,
            )
        for warning in noticed:
            console.print(plain(f"warning: {warning.message}"), soft_wrap=True)
        _print_report(reports[0], embedded, console)
        return embedded


def embed_command(
    path: str,
    /,
    *,
    reading: ReadArguments = ReadArguments(),  # noqa: B008 (frozen)
    embedding: EmbedArguments = EmbedArguments(),  # noqa: B008 (frozen)
    out: Path | None = None,
) -> None:
    """Turn the frames of a data set into vectors, once, and keep them.

    Embeddings are filed by what the frames are: a second run reads them, whatever the data set
    is called and wherever it lies by then. After an interrupt the same command goes on.
    `goalward cache` shows what is kept.

    Examples:

    - `goalward embed my_rollouts` all cameras, by the paper's encoder
    - `goalward embed my_rollouts --cameras front,wrist --encoder dinov2`
    - `goalward embed my_rollouts --encoder effnet-lite0` without a model hub
    - `goalward embed my_rollouts --encoder ./my-siglip --pool grid2`
    - `goalward embed my_rollouts --cameras '' --out states.npz` proprioception alone
    - `goalward embed my_rollouts --out features.npz`, then `goalward fit features.npz --out run`

    Parameters
    ----------
    path
        A folder or file of rollouts.
    out
        Write features and outcomes to this file (.npz), which `goalward fit` takes.
    """
    embedded = embedding.embed(reading.read(path), reading)
    if out is not None:
        from goalward.training.feature_file import write_features

        write_features(out, embedded)
        console = error_console()
        size = 0 if embedded.features is None else embedded.features.shape[1]
        text = f"features of {counted(embedded)}, {size} numbers per frame: {out}"
        console.print(plain(text), soft_wrap=True)


def _print_findings(rollouts: Rollouts, console: Console) -> None:
    """What reading the rollouts brought to light: rates are of the episodes that are left."""
    for text in rollouts.warnings:
        console.print(plain(f"warning: {text}"), soft_wrap=True)
    _print_left_out(rollouts.left_out, console)


def _print_left_out(left_out: Sequence[LeftOut], console: Console) -> None:
    for episode in left_out:
        text = f"warning: episode {episode.episode_id} is left out: {episode.reason}"
        console.print(plain(text), soft_wrap=True)


def _print_report(report: EmbedReport, embedded: Rollouts, console: Console) -> None:
    _print_left_out(report.left_out, console)
    if report.num_rebuilt_clips:
        text = f"warning: {report.num_rebuilt_clips} damaged files of the cache were made again"
        console.print(plain(text), soft_wrap=True)
    facts = [f"{report.num_frames:,} frames by {report.encoder}"]
    if report.num_from_cache:
        facts.append(f"{report.num_from_cache:,} from the cache")
    if report.num_encoded:
        facts.append(f"{report.num_encoded:,} encoded in {report.seconds:,.1f} s")
    if report.num_unchanged:
        facts.append(f"{report.num_unchanged:,} the same as the frame before")
    console.print(plain("; ".join(facts)), soft_wrap=True)
    console.print(plain(f"embeddings of {counted(embedded)}: {report.cache}"), soft_wrap=True)

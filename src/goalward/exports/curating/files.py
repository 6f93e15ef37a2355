"""A curation as files: episodes, stretches and effect as csv, weights by frame as parquet."""

import csv
import io
import logging
import shlex
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa

from goalward.errors import GoalwardError
from goalward.exports.curating.curation import Curation, Decision, Effect
from goalward.exports.lerobot_frames import LeRobotFrames, read_lerobot_frames
from goalward.exports.written import write_parquet
from goalward.files import write_text, written_whole
from goalward.rollouts.readers import lerobot
from goalward.runs.run import Run

_log = logging.getLogger("goalward.exports")
EPISODES, STRETCHES, EFFECT = "episodes.csv", "stretches.csv", "effect.csv"
WEIGHTS, COMMANDS = "weights.parquet", "commands.sh"
_EPISODE_COLUMNS = (
    *("episode", "task", "outcome", "decision", "frames", "frames_kept", "weight", "reasons"),
)
_EFFECT_COLUMNS = (
    *("task", "outcome", "episodes", "episodes_kept", "frames", "frames_kept"),
    *("share_before", "share_after"),
)


def write_curation(
    curation: Curation, run: Run, folder: Path, data: str | Path | None = None
) -> None:
    """Write episodes.csv, stretches.csv, effect.csv, weights.parquet and commands.sh.

    `index` in the weights is that of the LeRobot data set, else the place of the frame among all
    of the run.
    """
    frames = _lerobot_frames(run, data)
    write_text(folder / EPISODES, _as_csv(_EPISODE_COLUMNS, _episode_rows(curation)))
    rows = [(one.episode, one.first, one.last, one.rule) for one in curation.stretches]
    write_text(folder / STRETCHES, _as_csv(("episode", "first", "last", "rule"), rows))
    write_text(folder / EFFECT, _as_csv(_EFFECT_COLUMNS, map(_effect_row, curation.effects)))
    made_with = {
        "run": run.folder.path.name,
        "method": curation.method,
        "drop": list(curation.rules),
        "weigh": curation.weighed,
    }
    with written_whole(folder / WEIGHTS) as temporary:
        write_parquet(weight_table(curation, run, frames), temporary, made_with)
    write_text(folder / COMMANDS, commands(curation, frames, folder))


def weight_table(curation: Curation, run: Run, frames: LeRobotFrames | None) -> pa.Table:
    """index, weight, and whose frame it is; a row per frame of the run, in the order of index."""
    weights = curation.weights.astype(np.float32)
    if frames is not None:
        whole = frames.by_index
        known = whole["position"] >= 0
        return pa.table(
            {
                "index": whole["index"][known],
                "weight": weights[whole["position"][known]],
                "episode_index": whole["episode"][known],
                "frame_index": whole["frame"][known],
            }
        )
    lengths = [episode.num_frames for episode in run.episodes]
    return pa.table(
        {
            "index": np.arange(len(weights)),
            "weight": weights,
            "episode": np.repeat([episode.id for episode in run.episodes], lengths),
            "frame_index": np.concatenate([np.arange(length) for length in lengths]),
        }
    )


def commands(curation: Curation, frames: LeRobotFrames | None, folder: Path) -> str:
    """What to type next, as a script with reasons; of a LeRobot data set with its tools."""
    dropped = curation.ids(Decision.DROP)
    lines = ["# Written by goalward curate: what to do with its result. Nothing here was run."]
    if frames is None:
        lines += [
            f"# The data are no LeRobot data set (or not to be found): {folder / EPISODES} says",
            f"# which episodes to keep, {folder / WEIGHTS} how much each frame counts.",
        ]
        return "\n".join([*lines, ""])
    root = frames.root
    name = root.name or "data"
    if dropped:
        numbers = f"[{', '.join(dropped)}]"
        lines += [
            "",
            "# A copy of the data set without the episodes of which nothing is kept.",
            "lerobot-edit-dataset \\",
            f"    --repo_id {shlex.quote(name)} --root {shlex.quote(str(root))} \\",
            f"    --new_repo_id {shlex.quote(f'{name}_curated')} \\",
            "    --operation.type delete_episodes \\",
            f"    --operation.episode_indices {shlex.quote(numbers)}",
        ]
    lines += [
        "",
        "# Parts of episodes cannot be deleted there. weights.parquet has the weight of every",
        "# frame of the data set as it is (index, weight), for a sampler or a loss with weights:",
        "#     torch.utils.data.WeightedRandomSampler(weights, num_samples=len(weights))",
        "# A policy that predicts chunks of actions learns from the frame where a chunk begins.",
        f"#     {folder / WEIGHTS}",
    ]
    return "\n".join([*lines, ""])


def _lerobot_frames(run: Run, data: str | Path | None) -> LeRobotFrames | None:
    """The frames of the data set, if it is LeRobot's and is there; what `data` names must be."""
    positions = list(range(len(run.episodes)))
    if data is not None:
        return read_lerobot_frames(run, positions, run.data_path(data))
    try:
        root = run.data_path()
        if root.exists() and not lerobot.recognises(root):
            return None
        return read_lerobot_frames(run, positions, root)
    except GoalwardError as error:
        _log.warning("weights are numbered by the run's own frames: %s", error)
        return None


def _as_csv(columns: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    return text.getvalue()


def _episode_rows(curation: Curation) -> Iterable[tuple[object, ...]]:
    for one in curation.episodes:
        yield (
            *(one.id, one.task, str(one.outcome), str(one.decision), one.num_frames, one.num_kept),
            *(f"{one.weight:.4f}", " ".join(one.reasons)),
        )


def _effect_row(effect: Effect) -> tuple[object, ...]:
    return (
        *(effect.task, str(effect.outcome), effect.num_episodes, effect.num_episodes_kept),
        *(effect.num_frames, effect.num_frames_kept),
        *(f"{effect.share_before:.4f}", f"{effect.share_after:.4f}"),
    )

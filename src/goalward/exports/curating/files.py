"""A curation as files: episodes, stretches and effect as csv, weights by frame as parquet."""

import csv
import io
import shlex
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from goalward.checksums import noted_checksums, write_checksums
from goalward.errors import GoalwardError, argument, command_line
from goalward.exports.curating.curation import Curation, Decision, Effect
from goalward.exports.lerobot_frames import LeRobotFrames, read_lerobot_frames
from goalward.exports.written import MADE_BY, write_parquet
from goalward.files import write_text, written_whole
from goalward.rollouts.readers import lerobot
from goalward.runs.run import Run

EPISODES, STRETCHES, EFFECT = "episodes.csv", "stretches.csv", "effect.csv"
WEIGHTS, COMMANDS = "weights.parquet", "commands.sh"
CHECKSUMS = "checksums.txt"
# By its way from a curation in the run's folder.
_VALUES = "../values.parquet"
_EPISODE_COLUMNS = (
    *("episode", "task", "outcome", "decision", "frames", "frames_kept", "weight", "reasons"),
)
_STRETCH_COLUMNS = ("episode", "first", "last", "rule")
_EFFECT_COLUMNS = (
    *("task", "outcome", "episodes", "episodes_kept", "frames", "frames_kept"),
    *("share_before", "share_after"),
)
_FIRST_LINE = "# Written by goalward curate: what to do with its result. Nothing here was run."
# How the text files begin; anything else of these names is somebody's own.
_BEGINNINGS = {
    EPISODES: ",".join(_EPISODE_COLUMNS),
    STRETCHES: ",".join(_STRETCH_COLUMNS),
    EFFECT: ",".join(_EFFECT_COLUMNS),
    COMMANDS: _FIRST_LINE,
}


def check_nothing_else_is_there(folder: Path) -> None:
    """An error if files of these names lie there that no curation wrote: a run's own episodes.csv.

    What an earlier curation wrote is replaced.
    """
    foreign = [
        *(name for name, begins in _BEGINNINGS.items() if not _begins(folder / name, begins)),
        *(() if _is_weights(folder / WEIGHTS) else (WEIGHTS,)),
        *(() if _is_list_of_ours(folder / CHECKSUMS) else (CHECKSUMS,)),
    ]
    if foreign:
        raise GoalwardError(
            f"{folder / foreign[0]}: is there and was not written by curate; give another "
            f"{argument('out')}"
        )


def write_curation(
    curation: Curation, run: Run, folder: Path, frames: LeRobotFrames | None
) -> None:
    """Write episodes.csv, stretches.csv, effect.csv, weights.parquet and commands.sh, and a list
    of their checksums for who reads them again.

    `index` in the weights is that of the LeRobot data set, else the place of the frame among all
    of the run.
    """
    write_text(folder / EPISODES, _as_csv(_EPISODE_COLUMNS, _episode_rows(curation)))
    rows = [(one.episode, one.first, one.last, one.rule) for one in curation.stretches]
    write_text(folder / STRETCHES, _as_csv(_STRETCH_COLUMNS, rows))
    write_text(folder / EFFECT, _as_csv(_EFFECT_COLUMNS, map(_effect_row, curation.effects)))
    made_with = {
        "run": run.folder.path.name,
        "method": curation.method,
        "drop": list(curation.rules),
        "weigh": curation.weighed,
    }
    with written_whole(folder / WEIGHTS) as temporary:
        write_parquet(weight_table(curation, run, frames), temporary, made_with)
    write_text(folder / COMMANDS, commands(curation, run.folder.path, frames, folder))
    written = [folder / name for name in (*_BEGINNINGS, WEIGHTS)]
    if folder.parent == run.folder.path and run.folder.values.is_file():
        # Beside the values, the list also says which they were.
        written.append(folder / _VALUES)
    write_checksums(folder / CHECKSUMS, written)


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


def commands(
    curation: Curation, run_folder: Path, frames: LeRobotFrames | None, folder: Path
) -> str:
    """What to type next, as a script with reasons; of a LeRobot data set with its tools."""
    # In a comment, where a line break would begin a command.
    episodes, weights = (_in_a_line(folder.absolute() / name) for name in (EPISODES, WEIGHTS))
    run_path = run_folder.absolute()
    lines = [_FIRST_LINE]
    if frames is None:
        lines += [
            f"# The data are no LeRobot data set, or were in memory: {episodes}",
            f"# says which episodes to keep, {weights} how much each frame counts.",
        ]
        return "\n".join([*lines, ""])
    dropped = curation.ids(Decision.DROP)
    if dropped:
        kept = curation.ids(Decision.KEEP, Decision.PART)
        lines += ["", *_deletion(frames, dropped), *_split(kept, dropped)]
    lines += [
        "",
        "# Parts of episodes cannot be deleted there. weights.parquet has the weight of every",
        "# frame of the data set as it is (index, weight), for a sampler or a loss with weights:",
        "#     torch.utils.data.WeightedRandomSampler(weights, num_samples=len(weights))",
        "# A policy that predicts chunks of actions learns from the frame where a chunk begins.",
        f"#     {weights}",
    ]
    exports = ("lerobot-progress", "rlinf-advantages", "evo-rl")
    lines += [
        "# Values and advantages of every frame, for trainers that weigh by themselves:",
        *(f"#     {_in_a_line(command_line('export', run_path, to=name))}" for name in exports),
    ]
    num_episodes, num_frames = frames.without_values
    if num_frames:
        lines += [
            f"# {num_frames} frames of {num_episodes} episodes are not in it: the run has no "
            "values of them.",
        ]
    return "\n".join([*lines, ""])


def _in_a_line(text: Path | str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in str(text))


def _deletion(frames: LeRobotFrames, dropped: tuple[str, ...]) -> list[str]:
    root = frames.root.absolute()
    name = root.name or "data"
    numbers = f"[{', '.join(dropped)}]"
    return [
        "# A copy of the data set without the episodes of which nothing is kept.",
        *(
            ()
            if frames.info.packs_episodes
            else ("# LeRobot edits version 3.0: convert the data set first.",)
        ),
        *(
            ()
            if frames.has_episode_stats
            else (
                "# This data set has no statistics by episode, from which LeRobot makes those of a",
                "# part: the meta/stats.json of the copy will be empty, without a word about it.",
            )
        ),
        "lerobot-edit-dataset \\",
        f"    --repo_id {shlex.quote(name)} --root {shlex.quote(str(root))} \\",
        f"    --new_repo_id {shlex.quote(f'{name}_curated')} \\",
        f"    --new_root {shlex.quote(f'{name}_curated')} \\",
        "    --operation.type delete_episodes \\",
        f"    --operation.episode_indices {shlex.quote(numbers)}",
    ]


def _split(kept: tuple[str, ...], dropped: tuple[str, ...]) -> list[str]:
    splits = f'{{"kept": [{", ".join(kept)}], "dropped": [{", ".join(dropped)}]}}'
    return [
        "# Or both as data sets of their own, in place of the last two lines:",
        f"#     --operation.type split --operation.splits {shlex.quote(splits)}",
    ]


def lerobot_frames(run: Run, data: str | Path | None) -> LeRobotFrames | None:
    """The frames of the data set, if it is LeRobot's; one that has moved is an error.

    None for other data, and for rollouts that were in memory alone.
    """
    if data is None and not run.settings.data.path:
        return None
    root = run.data_folder(data)
    if not lerobot.recognises(root):
        if not any(source.startswith("lerobot") for source in run.settings.data.sources):
            return None
        raise GoalwardError(
            f"{root}: the LeRobot data set of the run is not there; say with {argument('data')} "
            "where it lies now"
        )
    return read_lerobot_frames(run, list(range(len(run.episodes))), root)


def _begins(path: Path, line: str) -> bool:
    """Whether a file's first line is this one; a file that is not there is no obstacle."""
    if not path.exists():
        return True
    with path.open("rb") as file:
        return file.readline(4096).rstrip(b"\r\n") == line.encode()


def _is_weights(path: Path) -> bool:
    if not path.exists():
        return True
    try:
        return MADE_BY in (pq.read_schema(path).metadata or {})
    except (OSError, pa.ArrowException):
        return False


def _is_list_of_ours(path: Path) -> bool:
    """Whether a list of checksums is one of a curation's files; one that was emptied may be."""
    if not path.exists() or path.stat().st_size == 0:
        return True
    try:
        names = noted_checksums(path).keys()
    except GoalwardError:
        return False
    return bool(names) and names <= {*_BEGINNINGS, WEIGHTS, _VALUES}


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

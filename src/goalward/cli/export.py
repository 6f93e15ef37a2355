"""`goalward export`: values of a run as files that other tools read."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

import goalward
from goalward.cli.console import say
from goalward.cli.read_arguments import CommaList
from goalward.exports.tools import ToolName

if TYPE_CHECKING:
    from goalward.runs.run import Run


@Parameter(name="*")
@dataclass(frozen=True)
class AdvantageArguments:
    n: str | None = None
    """What an advantage compares the value with: hindsight (default), the value so many steps
    later (RLinf itself looks 10 steps ahead, Evo-RL 50), or the end of the episode (end)."""
    unit: Literal["steps", "value"] | None = None
    """Count advantages in steps (default) or in value."""
    positive: str | None = None
    """Which frames count as positive: top:0.3, task-top:0.3, percentile:30 or above:0.0. Default:
    top:0.3 for rlinf-advantages, task-top:0.3 for evo-rl, as these tools do."""
    tag: str | None = None
    """A name for the result: advantages_TAG.parquet, complementary_info.value_TAG."""


def export_command(
    run: Path,
    /,
    *,
    to: ToolName,
    out: Path | None = None,
    method: str | None = None,
    episodes: CommaList = None,
    data: Path | None = None,
    in_place: Annotated[bool, Parameter(negative=())] = False,
    scale: Literal["value", "steps"] | None = None,
    false_alarms: float | None = None,
    anyway: Annotated[bool, Parameter(negative=())] = False,
    advantages: AdvantageArguments = AdvantageArguments(),  # noqa: B008 (frozen)
) -> None:
    """Write the values of a run as files that other tools read.

    - `lerobot-progress`: sarm_progress.parquet, for LeRobot's RA-BC weighting and visualizer
    - `rlinf-advantages`: advantages.parquet, for RLinf's RECAP
    - `evo-rl`: the columns complementary_info.value, .advantage and .acp_indicator
    - `rerun`: a recording per episode, with videos, values and events (needs goalward[rerun])
    - `mp4`: a video per episode, with the curve under it
    - `csv`: a row per frame
    - `onnx`: a folder that `goalward monitor` runs beside a robot (needs goalward[onnx])

    The first three need a LeRobot data set. It is not changed, unless `--in-place` says so; files
    that are changed then have a backup beside them, ending in .goalward.bak.

    Examples:

    ```bash
    goalward export run --to csv
    # for lerobot-train --dataset.root=...
    goalward export run --to lerobot-progress --in-place
    goalward export run --to rlinf-advantages --n end --positive above:0 --tag v1
    goalward export run --to mp4 --episodes 3,7
    # then goalward monitor run/exports/onnx --video a.mp4
    goalward export run --to onnx
    ```

    Parameters
    ----------
    run
        A folder that `goalward evaluate` wrote.
    to
        For which tool.
    out
        Where to write. Default: a file or folder in RUN/exports.
    method
        Whose values. Default: the first of the run; for csv and rerun all of them.
    episodes
        Only these, separated by commas.
    data
        Where the rollouts lie now, if they have moved.
    in_place
        Write into the data set itself.
    scale
        For lerobot-progress: progress is discount^(steps to go) (value, the default) or falls by
        the same amount in each step (steps).
    false_alarms
        For onnx: at most this share of successful episodes may have an alarm. Default: 0.05.
    anyway
        Hand values to a trainer though the run itself does not trust them.
    """
    opened = goalward.open_run(run)
    written = goalward.export(
        opened,
        to,
        out=out,
        method=method,
        episodes=_whole_id(opened, episodes),
        data=data,
        in_place=in_place,
        scale=scale,
        false_alarms=false_alarms,
        anyway=anyway,
        **asdict(advantages),
    )
    for note in written.notes:
        say(f"note: {note}")
    say(f"written: {written.path}")
    say(f"next: {written.next_step}")


def _whole_id(run: "Run", episodes: tuple[str, ...] | None) -> str | tuple[str, ...] | None:
    """What was split at its commas is one episode after all, if one has that very id."""
    whole = ",".join(episodes or ())
    return whole if any(episode.id == whole for episode in run.episodes) else episodes

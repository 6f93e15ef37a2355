"""`goalward sheet`: an episode as a figure for a paper."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import goalward
from goalward.cli.console import say
from goalward.cli.read_arguments import CommaList


def sheet_command(
    run: Path,
    episodes: Annotated[tuple[str, ...], Parameter(name="EPISODE", negative=())],
    /,
    *,
    method: str | None = None,
    out: Path | None = None,
    data: Path | None = None,
    cameras: CommaList = None,
    columns: int = 6,
) -> None:
    """Draw episodes as contact sheets: telling frames, and the curve.

    One figure per episode, as PNG, SVG and PDF. Frames are chosen by rule: the start, what the
    value says happened (setbacks, recoveries, stalls, where it was lost), the goal or the end, and
    some between. Where `goalward truth` measured frames of the episode, they are in the figure.

    Examples:

    ```bash
    goalward sheet run 12  # writes run/sheets/episode_12.png, .svg and .pdf
    goalward sheet run 12 40 7 --method td --cameras front
    goalward sheet run 12 --cameras ""  # the curve alone; needs no data
    ```

    Parameters
    ----------
    run
        A folder that `goalward evaluate` wrote.
    episodes
        The ids of episodes.
    method
        Whose value is drawn thick and finds the events. Default: the one that speaks for the
        policy.
    out
        The folder for the figures. Default: sheets in the run's folder.
    data
        Where the rollouts lie now, if they have moved.
    cameras
        Cameras to show, separated by commas; the last part of a name is enough. Default: all.
    columns
        How many frames, at most; 2 to 12.
    """
    # Drawing takes a second to import: only commands that draw pay.
    from goalward.report.figures.sheet import write_sheets

    written = write_sheets(
        goalward.open_run(run),
        episodes,
        method=method,
        out=out,
        data=data,
        cameras=cameras,
        columns=columns,
    )
    for episode_id, (first, *others) in written.items():
        suffixes = ", ".join(path.suffix for path in others)
        say(f"episode {episode_id}: {first} and {suffixes}")

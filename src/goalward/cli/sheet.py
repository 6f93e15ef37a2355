"""`goalward sheet`: an episode as a figure for a paper."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from goalward.cli.console import error_console, plain
from goalward.cli.progress import progress_bar
from goalward.cli.read_arguments import CommaList
from goalward.errors import GoalwardError
from goalward.files import check_folder


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
    """Draw episodes as contact sheets: their telling frames, and the value over time.

    One figure per episode, as PNG, SVG and PDF. Frames are chosen by rule: the start, what the
    value says happened (setbacks, recoveries, stalls, where it was lost), the goal or the end, and
    some between. Where `goalward truth` measured frames of the episode, they are in the figure.

    Examples:

    - `goalward sheet run 12` writes run/sheets/episode_12.png, .svg and .pdf
    - `goalward sheet run 12 40 7 --method td --cameras front`
    - `goalward sheet run 12 --cameras ""` the curve alone; needs no data

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
    from goalward.report.figures.sheet import (
        check_columns,
        run_episode,
        truth_beside,
        write_sheet,
    )
    from goalward.values.events import run_events
    from goalward.values.finished_run import read_run

    console = error_console()
    check_columns(columns)
    finished = read_run(run)
    wanted = [run_episode(finished, episode_id) for episode_id in dict.fromkeys(episodes)]
    events = run_events(finished, method)
    folder = finished.folder.sheets if out is None else out
    check_folder(folder)
    if cameras == ():
        rollouts = None
    else:
        with progress_bar("reading", console) as update:
            try:
                rollouts = finished.read_rollouts(data, update)
            except GoalwardError as error:
                raise GoalwardError(
                    f"{error} (--data says where the rollouts lie now; "
                    '--cameras "" draws the curve alone)'
                ) from error
    truth = truth_beside(finished, data)
    with progress_bar("drawing", console) as update:
        for number, chosen in enumerate(wanted):
            update(number, len(wanted))
            name = finished.file_stem(finished.episodes.index(chosen))
            written = write_sheet(
                finished,
                rollouts,
                chosen.id,
                folder / name,
                method=method,
                cameras=cameras,
                columns=columns,
                events=events[chosen.id],
                truth=truth,
            )
            suffixes = ", ".join(path.suffix for path in written[1:])
            text = f"episode {chosen.id}: {written[0]} and {suffixes}"
            console.print(plain(text), soft_wrap=True)

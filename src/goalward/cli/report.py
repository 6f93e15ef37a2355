"""`goalward report`: a run as pages that open in a browser."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from goalward.cli.console import error_console, plain
from goalward.cli.progress import progress_bar
from goalward.errors import GoalwardError


def report_command(
    run: Path,
    /,
    *,
    data: Path | None = None,
    out: Path | None = None,
    videos: bool = True,
    max_height: Annotated[int, Parameter(name="--max-height")] = 480,
) -> None:
    """Write a run as pages to look at: the answer, the methods, every episode with its video.

    `report/index.html` opens in any browser, from disk, without a server and without a network.
    Each episode plays beside its value curve, and drags along when the curve is dragged. Stopped
    at any moment, the same command goes on; videos are made once.

    Examples:

    - `goalward report run` writes run/report/index.html
    - `goalward report run --data /mnt/rollouts` the rollouts lie elsewhere by now
    - `goalward report run --no-videos --out small` curves and pictures of events, to send around

    Parameters
    ----------
    run
        A folder that `goalward evaluate` wrote.
    data
        Where the rollouts are. Default: where they were when the run was made.
    out
        The folder of the report. Default: report in the folder of the run.
    videos
        Videos of all cameras; without them the curves play alone.
    max_height
        Videos higher than this many pixels are made smaller.
    """
    from goalward.report.pages.files import write_report
    from goalward.values.finished_run import read_run

    if max_height < 16:
        raise GoalwardError(f"--max-height must be at least 16 pixels, got {max_height}")
    console = error_console()
    finished = read_run(run)
    try:
        with progress_bar("reading", console) as update:
            rollouts = finished.read_rollouts(data, on_progress=update)
    except GoalwardError as error:
        if data is not None:
            raise
        rollouts = None
        console.print(plain(f"warning: no pictures: {error}"), soft_wrap=True)
        console.print(plain("give --data if the rollouts lie elsewhere"), soft_wrap=True)
    folder = finished.folder.report if out is None else out
    with progress_bar("report", console, unit="episodes") as update:
        index = write_report(
            finished,
            rollouts,
            folder,
            data=data,
            videos=videos,
            max_height=max_height,
            on_progress=update,
        )
    print(index)

"""`goalward report`: a run as pages that open in a browser."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def report_command(
    run: Path,
    /,
    *,
    data: Path | None = None,
    out: Path | None = None,
    videos: bool = True,
    max_height: Annotated[int, Parameter(name="--max-height")] = 480,
) -> None:
    """Write a run as pages to look at: the answer, and every episode.

    `report/index.html` opens in any browser, from disk, without a server and without a network.
    Each episode plays beside its value curve, and drags along when the curve is dragged. Stopped
    at any moment, the same command goes on; videos are made once.

    Examples:

    ```bash
    goalward report run  # writes run/report/index.html
    goalward report run --data /mnt/rollouts  # the rollouts lie elsewhere by now
    # curves and pictures of events, to send around
    goalward report run --no-videos --out small
    ```

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

    print(write_report(run, out, data=data, videos=videos, max_height=max_height))

"""`goalward report`: a run as pages that open in a browser."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def report_command(
    run: Path,
    /,
    *others: Path,
    data: Path | None = None,
    out: Path | None = None,
    videos: bool = True,
    max_height: Annotated[int, Parameter(name="--max-height")] = 480,
) -> None:
    """Write a run, or several on one page, as pages to look at.

    `report/index.html` opens in any browser, from disk, without a server and without a network.
    Each episode plays beside its value curve, and drags along when the curve is dragged. Stopped
    at any moment, the same command goes on; videos are made once. Several runs, checkpoints of one
    training perhaps, come onto one page: rates, values, curves and episodes beside each other, the
    trend from the first to the last; runs without a report get theirs.

    Examples:

    ```bash
    goalward report run  # writes run/report/index.html
    goalward report run_a run_b run_c --out all_runs  # several on one page
    goalward report run --data /mnt/rollouts  # the rollouts lie elsewhere by now
    goalward report run --no-videos --out small  # to send around
    ```

    Parameters
    ----------
    run
        A folder that `goalward evaluate` wrote.
    others
        More of them, in the order in which they are to be shown.
    data
        Where the rollouts lie now, if they have moved. Of one run only.
    out
        The folder of the report. Default: report in the folder of the run; of several runs,
        runs_report here.
    videos
        Videos of all cameras; without them the curves play alone.
    max_height
        Videos higher than this many pixels are made smaller.
    """
    from goalward.report.pages.files import write_report

    if not others:
        print(write_report(run, out, data=data, videos=videos, max_height=max_height))
        return
    from goalward.errors import GoalwardError
    from goalward.report.pages.runs_page import write_runs_page
    from goalward.run_folder import RunFolder
    from goalward.runs.folder.stored import open_run

    if data is not None:
        raise GoalwardError("--data is for one run; write the reports of several one by one first")
    folders = list(dict.fromkeys((run, *others)))
    runs = [open_run(folder) for folder in folders]
    for folder in folders:
        if not (RunFolder(folder).report / "index.html").is_file():
            write_report(folder, videos=videos, max_height=max_height)
    print(write_runs_page(runs, Path("runs_report") if out is None else out))

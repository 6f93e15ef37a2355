"""`goalward view`: the report of a run in a browser."""

import os
import sys
import threading
import webbrowser
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from goalward.checksums import damage_explained
from goalward.cli.console import error_console, say
from goalward.errors import GoalwardError, command_line
from goalward.run_folder import RunFolder
from goalward.stops import Stopped


def view_command(
    run: Path,
    /,
    *,
    port: Annotated[int, Parameter(show_default=False)] = 0,
    browser: bool = True,
) -> None:
    """Show the report of a run in a browser, until Ctrl-C.

    The pages are served on this machine's own address, 127.0.0.1: other machines cannot reach
    them, and nothing outside the report's folder can be read. Notes that you take on episodes are
    kept in notes.json in the folder of the run. On a machine without a screen,
    choose a port and open it through a tunnel; the port at home may be another one.

    Examples:

    ```bash
    goalward view run
    goalward view run --port 8000 --no-browser  # on a machine without a screen
    ssh -L 8000:localhost:8000 machine  # at home: http://localhost:8000/
    ```

    Parameters
    ----------
    run
        A folder that `goalward evaluate` wrote, or a report's own folder.
    port
        Where to listen. Default: any port that is free.
    browser
        Open the page in a browser.
    """
    from goalward.report.pages.scripts import check_scripts
    from goalward.report.pages.serving import PageServer

    folder = report_folder(run)
    with damage_explained(f"`{command_line('report', run)}` writes it again"):
        check_scripts(folder)
    with PageServer(folder, port, notes=notes_file(folder)) as server:
        print(server.url, flush=True)
        say(f"the report of {run}; Ctrl-C ends it")
        if browser and _has_screen():
            # A browser that does not come back must not keep us from answering it.
            threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
        try:
            server.serve_forever()
        except Stopped:
            raise
        except KeyboardInterrupt:
            # How it is meant to end.
            error_console().print()


def report_folder(run: Path) -> Path:
    """Where the pages of a run are; an error says how to make them."""
    if not run.is_dir():
        raise GoalwardError(f"{run}: {'is a file' if run.exists() else 'no such folder'}")
    names = RunFolder(run)
    for folder in (names.report, run):
        if (folder / "index.html").is_file():
            return folder
    if names.values.is_file() and names.episodes.is_file():
        raise GoalwardError(f"{run}: has no report yet; `{command_line('report', run)}` writes it")
    if names.config.is_file():
        raise GoalwardError(
            f"{run}: is not finished; run its `goalward evaluate` again to the end, then "
            f"`{command_line('report', run)}`"
        )
    raise GoalwardError(f"{run}: holds no report, nor is it a folder of `goalward evaluate`")


def notes_file(report: Path) -> Path:
    """Where notes taken on these pages are kept: beside the run, or in a report sent around."""
    around = RunFolder(report.resolve().parent)
    is_in_run = around.report == report.resolve() and around.config.is_file()
    return around.notes if is_in_run else report / around.notes.name


def _has_screen() -> bool:
    """Without one a browser for terminals would take over this one; BROWSER says what is wanted."""
    is_elsewhere = not sys.platform.startswith("linux")
    return is_elsewhere or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )

"""`goalward audit`: which labels and which copies somebody should look at."""

import json
import sys
from pathlib import Path
from typing import Literal

import goalward
from goalward.cli.console import output_console, say
from goalward.cli.evaluate import given
from goalward.cli.read_arguments import ReadArguments
from goalward.errors import GoalwardError


def audit_command(
    path: str,
    /,
    *,
    reading: ReadArguments = ReadArguments(),  # noqa: B008 (frozen)
    against: str | None = None,
    data: Path | None = None,
    out: Path | None = None,
    top: int = 10,
    to: Literal["words", "csv", "json"] = "words",
) -> None:
    """Find labels that are probably wrong, and episodes recorded twice.

    Of a run: successes that never looked near the goal, time-outs that looked done, goal frames
    marked too early or too late, by networks that never saw the episode, ranked by how sure that
    is; and copies, above all of episodes that were learned from among those that were held out. Of
    a data set: copies alone, as labels take values. Nothing is changed: you get frames to look at
    (sheet.png) and a list of labels to correct (labels.csv), which --labels reads back.

    Examples:

    ```bash
    goalward audit run  # what to look at first; files in run/audit
    # with the labels corrected
    goalward evaluate my_rollouts --out run-2 --labels run/audit/labels.csv
    # episodes of one that are in the other
    goalward audit train_set --against test_set
    goalward audit run --to csv > findings.csv  # all findings
    ```

    Parameters
    ----------
    path
        A folder that `goalward evaluate` wrote, or a folder or file of rollouts.
    against
        Another data set, whose episodes should not be among these.
    data
        Where the rollouts lie now, if they have moved.
    out
        The folder for audit.json, audit.csv, audit.md, labels.csv and sheet.png. Default: audit in
        the run's folder; of a data set nothing is written.
    top
        How many findings to print.
    to
        Words to read, or all findings as csv or json.
    """
    if top < 1:
        raise GoalwardError(f"--top must be at least 1, got {top}")
    from goalward.report.audit_files import SHEET, findings_csv, labels_path
    from goalward.report.pages.marks import refresh_marks
    from goalward.report.words.audit import audit_document
    from goalward.report.words.rendering import print_document
    from goalward.run_folder import RunFolder
    from goalward.runs.folder.codec import encoded

    found = goalward.audit(path, against=against, data=data, reading=given(reading), out=out)
    folder = out or (RunFolder(Path(path)).audit if found.method else None)
    has_sheet = folder is not None and (folder / SHEET).is_file()
    if to == "csv":
        sys.stdout.write(findings_csv(found))
    elif to == "json":
        print(json.dumps(encoded(found, in_full=True), indent=2, ensure_ascii=False))
    else:
        labels = None if folder is None else labels_path(found, folder)
        document = audit_document(found, top, labels, has_sheet=has_sheet)
        print_document(document, output_console())
    if folder is not None:
        files = "findings, a list of labels and frames to look at"
        say(f"{files if has_sheet else 'findings and a list of labels'}: {folder}")
    if found.method and out is None:
        page = refresh_marks(RunFolder(Path(path)))
        if page is not None and found.findings:
            say(f"marked in the report: {page}#episodes?marked=audit")

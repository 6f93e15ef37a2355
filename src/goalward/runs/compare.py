"""Which of several policies is better: from runs, or from tables of outcomes."""

from pathlib import Path

import goalward
from goalward.errors import GoalwardError
from goalward.metrics.comparing.comparison import compare as compare_outcomes
from goalward.metrics.comparing.outcome_file import read_outcomes
from goalward.metrics.comparing.result import Comparison
from goalward.metrics.comparing.steps_comparison import success_curves
from goalward.runs.run import Run


def compare(
    *policies: Run | str | Path,
    paired: bool | None = None,
    pair_by: str | None = None,
    level: float = 0.95,
    out: str | Path | None = None,
) -> Comparison:
    """Say which policy is better and how sure that is: what `goalward compare` does.

    Each of `policies` is a run, the folder of one, or a csv file with a row per episode (columns
    success or outcome, and perhaps policy, steps, task, initial_state). `paired` compares episodes
    from the same initial state with each other (None: if every policy started from the same ones),
    `pair_by` names the column that says which those are. `level` is how sure to be. With `out`, a
    folder, the comparison is written there as JSON, Markdown and figures.
    """
    folder = None if out is None else Path(out)
    if folder is not None and folder.exists() and not folder.is_dir():
        raise GoalwardError(f"{folder}: a file; wanted a folder to write to")
    paths = [policy.folder.path if isinstance(policy, Run) else Path(policy) for policy in policies]
    outcomes = read_outcomes(paths, pair_by=pair_by)
    found = compare_outcomes(outcomes, level=level, paired=paired)
    if folder is not None:
        curves = {} if found.horizon is None else success_curves(outcomes, found.horizon)
        goalward.write_comparison(found, curves, folder)
    return found

"""Which of several policies is better: from runs, or from tables of outcomes."""

from collections.abc import Sequence
from pathlib import Path

import goalward
from goalward.errors import GoalwardError, argument
from goalward.metrics.comparing.comparison import compare as compare_outcomes
from goalward.metrics.comparing.episode_pairs import episode_pairs
from goalward.metrics.comparing.result import Comparison
from goalward.metrics.comparing.special_results import Regression
from goalward.metrics.comparing.steps.comparison import success_curves
from goalward.metrics.comparing.tables.outcome_file import read_outcomes
from goalward.metrics.comparing.tables.outcome_table import OutcomeTable
from goalward.metrics.comparing.watching.curves import watching_curves
from goalward.progress import progress_bar
from goalward.run_folder import RunFolder
from goalward.runs.folder.whole import check_files
from goalward.runs.run import Run


def compare(
    *policies: Run | str | Path,
    paired: bool | None = None,
    pair_by: str | None = None,
    columns: Sequence[str] | None = None,
    level: float = 0.95,
    budget: int | None = None,
    ordered: bool = False,
    posterior: bool = False,
    out: str | Path | None = None,
    progress: bool = False,
) -> Comparison:
    """Say which policy is better and how sure that is: what `goalward compare` does.

    Each of `policies` is a run, the folder of one, or a csv file: a row per episode (columns
    success or outcome, and perhaps policy, steps, task, initial_state), counts (policy, successes,
    rollouts), or, where `columns` names them, a column per policy. `paired` compares episodes from
    the same initial state with each other (None: where two policies started from the same ones),
    `pair_by` names the column that says which those are. `level` is how sure to be. `budget` is how
    many rollouts of each there will be at most, for those who look while they come in. `ordered`:
    policies are checkpoints, whose training step is in their names or in a column training_step.
    `posterior`: also how likely each is better than each other, with figures. With `out`, a folder,
    the comparison is written there as a page, JSON, Markdown and figures.
    """
    folder = folder_for(out)
    paths = [policy.folder.path if isinstance(policy, Run) else Path(policy) for policy in policies]
    for path in paths:
        check_files(RunFolder(path), RunFolder(path).outcomes)
    with progress_bar("reading rows", is_shown=progress) as update:
        outcomes = read_outcomes(
            paths, pair_by=pair_by, columns=columns, on_rows=lambda rows: update(rows, 0)
        )
    with progress_bar("comparing policies", is_shown=progress) as update:
        found = compare_outcomes(
            outcomes,
            level=level,
            paired=paired,
            budget=budget,
            ordered=ordered,
            posterior=posterior,
            on_progress=update,
        )
    if folder is not None:
        curves = {} if found.horizon is None else success_curves(outcomes, found.horizon)
        runs = _runs_of(outcomes, paths)
        goalward.write_comparison(
            found,
            curves,
            folder,
            watching=watching_curves(outcomes, found),
            runs=runs,
            together=episode_pairs(outcomes, found, runs),
        )
    return found


def _runs_of(outcomes: OutcomeTable, paths: Sequence[Path]) -> dict[str, Path]:
    """The folder of each policy all of whose episodes are those of one run."""
    folders = {str(RunFolder(path).outcomes): path for path in paths if path.is_dir()}
    found: dict[str, Path] = {}
    for policy in outcomes.policies:
        files = {episode.where.rpartition(", line ")[0] for episode in policy.episodes}
        folder = folders.get(files.pop()) if len(files) == 1 else None
        if folder is not None:
            found[policy.policy] = folder
    return found


def worse_ones(found: Comparison) -> tuple[Regression, ...]:
    """Policies that are worse than the one before: of two the second, of checkpoints any."""
    if found.checkpoints is not None:
        return found.checkpoints.regressions
    if len(found.policies) != 2:
        raise GoalwardError(
            f"{argument('fail_if_worse', True)} wants two policies, the old one and the new one, "
            f"or checkpoints ({argument('ordered', True)}); got {len(found.policies)} policies"
        )
    by_scores = found.scores_only and found.scores is not None
    (pair,) = found.scores.pairs if by_scores and found.scores else found.pairs
    if pair.better != pair.first:
        return ()
    return (Regression(pair.first, pair.second, pair.difference, pair.adjusted_p_value),)


def folder_for(out: str | Path | None) -> Path | None:
    """Where to write to; an error if a file is in the way."""
    folder = None if out is None else Path(out)
    if folder is not None and folder.exists() and not folder.is_dir():
        raise GoalwardError(f"{folder}: a file; wanted a folder to write to")
    return folder

"""What people read of a run, beside its pages: summary, tables and figures as files."""

from pathlib import Path

from goalward.files import write_text
from goalward.metrics.scores.table import SCORES, scores_shown
from goalward.metrics.trust import caution_words
from goalward.report.figures.scores import metric_bars, reliability_figure, save_figure
from goalward.report.figures.training import training_figure
from goalward.report.figures.truth import truth_figure
from goalward.report.words.summary import summary
from goalward.report.words.tables import score_table, write_table
from goalward.report.words.tasks import TABLE_NAME, task_csv, task_table
from goalward.report.words.truth_table import chance_table, truth_csv, value_table
from goalward.runs.folder.stored import as_run
from goalward.runs.run import Run


def write_summary(run: Run | str | Path) -> list[Path]:
    """Write summary.md, tables/ and figures/ of a run, and name what was written."""
    run = as_run(run)
    folder, scores, truth = run.folder, run.scores, run.truth
    write_text(folder.summary, summary(run))
    written = [folder.summary]
    tables = {
        "paper_metrics": score_table(scores.cards, scores_shown("paper"), scores.tests),
        "all_scores": score_table(scores.cards, SCORES, scores.tests),
    }
    figures = {
        "paper_metrics": metric_bars(scores.cards, scores_shown("paper"), scores.tests),
        "calibration": reliability_figure(scores.calibration),
    }
    by_task = task_table(scores, caution_words(run.trust))
    if by_task is not None:
        tables[TABLE_NAME] = by_task
        written.append(folder.tables / f"{TABLE_NAME}.csv")
        write_text(written[-1], task_csv(scores))
    if run.has_training_log:
        figures["training"] = training_figure(run.training_log())
    if truth is not None:
        tables |= {"truth": value_table(truth), "truth_chances": chance_table(truth)}
        figures["truth"] = truth_figure(truth)
        write_text(folder.tables / "truth.csv", truth_csv(truth))
        written.append(folder.tables / "truth.csv")
    for name, table in tables.items():
        written += write_table(table, folder.tables / name)
    for name, figure in figures.items():
        written += save_figure(figure, folder.figures / name)
    return written

"""A case study's results as files: tables, figures, and the page beside the paper."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from goalward.experiments.grid import Grid, file_name
from goalward.experiments.paper_comparison import (
    REFERENCE,
    Beside,
    PaperClaim,
    beside_the_paper,
    claims,
    read_paper_results,
)
from goalward.experiments.recipe import Recipe
from goalward.experiments.results import Results, differences_between
from goalward.files import write_text
from goalward.metrics.scores.table import ScoreKind, scores_by_seed, scores_shown
from goalward.report.figures.scores import (
    SizePoint,
    metric_bars,
    save_figure,
    success_failure_scatter,
)
from goalward.report.words.blocks import Document, Section, code, paragraph
from goalward.report.words.rendering import markdown
from goalward.report.words.tables import (
    Cell,
    Table,
    card_cell,
    score_table,
    with_best,
    write_table,
)

_PAPER = scores_shown("paper")
COMPARISON_FILE = "comparison_with_paper.md"


def write_reproduction(folder: Path, recipe: Recipe, grid: Grid, results: Results) -> None:
    """Everything people look at, next to `results.parquet`.

    | file | what |
    |---|---|
    | `tables/*.md`, `*.tex` | by encoder and size the paper's metrics and all scores; encoders |
    | `figures/*.png`, `*.svg` | bars at the largest size, success against failure, encoders |
    | `comparison_with_paper.md` | ours beside the paper's, if there is something of the paper |
    """
    for name, table in _tables(results):
        write_table(table, folder / "tables" / name)
    _write_figures(folder / "figures", results)
    paper = read_paper_results(recipe.paper_results)
    if paper:
        tables = beside_the_paper(results, paper)
        page = markdown(comparison_document(recipe, grid, tables, claims(results)))
        write_text(folder / COMPARISON_FILE, page)


def comparison_document(
    recipe: Recipe, grid: Grid, tables: Sequence[Beside], asked: Sequence[PaperClaim]
) -> Document:
    """Ours beside the paper's."""
    settings = [f"preset {grid.preset}"]
    settings += [f"{name} = {value}" for name, value in sorted(grid.overrides.items())]
    start = paragraph(
        f"{len(grid.seeds)} seeds, {', '.join(settings)}, standard horizon "
        f"{grid.standard_horizon} steps. Mean ± standard deviation over seeds, of which the paper "
        "has 5. The paper's numbers are from its own rollouts, ours from the ones given here."
    )
    sections = [Section("", (start,))]
    sections += [Section(beside.heading, (beside.table,)) for beside in tables]
    if asked:
        question = paragraph(
            "Is ",
            code(REFERENCE),
            " above every other method by more than seeds explain (Alexander-Govern, then Welch in "
            "pairs with Benjamini-Hochberg, alpha = 0.05)?",
        )
        sections.append(Section("The paper's claim", (question, _claim_table(asked))))
    return Document(f"{recipe.title}: beside the paper", tuple(sections))


def _claim_table(asked: Sequence[PaperClaim]) -> Table:
    rows = [
        (claim.encoder, tuple(Cell(words=text) for text in (str(claim.size), claim.metric, told)))
        for claim in asked
        for told in (claim.in_words,)
    ]
    return Table("encoder", ("training episodes", "metric", "here"), tuple(rows))


def _tables(results: Results) -> Iterator[tuple[str, Table]]:
    """(file name without suffix, table)."""
    for encoder in results.encoders:
        for size in results.sizes:
            cards = results.cards(encoder, size)
            for name, kinds in (("paper_metrics", _PAPER), ("all_scores", scores_by_seed())):
                tests = differences_between(cards, list(kinds))
                yield f"{name}_{file_name(encoder)}_{size}", score_table(cards, kinds, tests)
        for metric, kind in _PAPER.items():
            yield f"{metric}_by_size_{file_name(encoder)}", _size_table(results, encoder, kind)
    for method in results.methods if len(results.encoders) > 1 else ():
        cards = results.encoder_cards(method, max(results.sizes))
        tests = differences_between(cards, list(_PAPER))
        table = score_table(cards, _PAPER, tests, corner="encoder")
        yield f"encoders_{method}_{max(results.sizes)}", table


def _size_table(results: Results, encoder: str, kind: ScoreKind) -> Table:
    """Methods down, numbers of training episodes across: one metric, as the paper's ablation."""
    columns = [
        with_best([card_cell(card[kind.name], kind) for card in cards.values()], kind.better)
        for cards in (results.cards(encoder, size) for size in results.sizes)
    ]
    rows = tuple(zip(results.methods, zip(*columns, strict=True), strict=True))
    notes = (f"{kind.shown} by the number of training episodes. Bold: the best mean of a column.",)
    return Table("method", tuple(map(str, results.sizes)), rows, notes)


def _write_figures(folder: Path, results: Results) -> None:
    size = max(results.sizes)
    for encoder in results.encoders:
        cards = results.cards(encoder, size)
        tests = differences_between(cards, list(_PAPER))
        name = f"paper_metrics_{file_name(encoder)}_{size}"
        save_figure(metric_bars(cards, _PAPER, tests), folder / name)
        if len(results.sizes) > 1:
            figure = success_failure_scatter(_size_points(results, encoder))
            save_figure(figure, folder / f"success_failure_{file_name(encoder)}")
    if len(results.encoders) > 1:
        method = REFERENCE if REFERENCE in results.methods else results.methods[0]
        cards = results.encoder_cards(method, size)
        tests = differences_between(cards, list(_PAPER))
        figure = metric_bars(cards, _PAPER, tests)
        save_figure(figure, folder / f"encoders_{method}_{size}")


def _size_points(results: Results, encoder: str) -> list[SizePoint]:
    return [
        SizePoint(method, size, card["success"].over_seeds, card["failure"].over_seeds)
        for size in results.sizes
        for method, card in results.cards(encoder, size).items()
    ]

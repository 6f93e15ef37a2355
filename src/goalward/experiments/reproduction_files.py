"""A case study's results as files: tables, figures, and the page beside the paper."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from goalward.experiments.grid import Grid, file_name
from goalward.experiments.paper_comparison import (
    PAPER_METRICS,
    REFERENCE,
    Beside,
    Claim,
    beside_the_paper,
    claims,
    read_paper_results,
)
from goalward.experiments.recipe import Recipe
from goalward.experiments.results import Results, differences_between
from goalward.files import written_whole
from goalward.metrics.scores.card import MEANINGS
from goalward.report.figures.scores import (
    SizePoint,
    encoder_bars,
    metric_bars,
    save_figure,
    success_failure_scatter,
)
from goalward.report.words.tables import (
    Table,
    card_cell,
    escaped_markdown,
    score_table,
    shown_metric,
    with_best,
)

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
        for suffix, text in ((".md", table.markdown()), (".tex", table.latex())):
            with written_whole(folder / "tables" / f"{name}{suffix}") as temporary:
                temporary.write_text(text, encoding="utf-8")
    _write_figures(folder / "figures", results)
    paper = read_paper_results(recipe.paper_results)
    if paper:
        page = comparison_page(recipe, grid, beside_the_paper(results, paper), claims(results))
        with written_whole(folder / COMPARISON_FILE) as temporary:
            temporary.write_text(page, encoding="utf-8")


def comparison_page(
    recipe: Recipe, grid: Grid, tables: Sequence[Beside], asked: Sequence[Claim]
) -> str:
    """Ours beside the paper's as one page of Markdown."""
    settings = [f"preset {grid.preset}"]
    settings += [f"{name} = {value}" for name, value in sorted(grid.overrides.items())]
    parts = [
        f"# {escaped_markdown(recipe.title)}: beside the paper",
        f"{len(grid.seeds)} seeds, {escaped_markdown(', '.join(settings))}, standard horizon "
        f"{grid.standard_horizon} steps. Mean ± standard deviation over seeds, of which the paper "
        "has 5. The paper's numbers are from its own rollouts, ours from the ones given here.",
    ]
    for beside in tables:
        parts += [f"## {escaped_markdown(beside.heading)}", beside.table.markdown().rstrip()]
    if asked:
        parts += [
            "## The paper's claim",
            f"Is `{REFERENCE}` above every other method by more than seeds explain "
            "(Alexander-Govern, then Welch in pairs with Benjamini-Hochberg, alpha = 0.05)?",
            _claim_table(asked),
        ]
    return "\n\n".join(parts) + "\n"


def _claim_table(asked: Sequence[Claim]) -> str:
    lines = ["| encoder | training episodes | metric | here |", "| --- | ---: | --- | --- |"]
    for claim in asked:
        cells = (claim.encoder, str(claim.size), claim.metric, claim.in_words)
        lines.append(f"| {' | '.join(map(escaped_markdown, cells))} |")
    return "\n".join(lines)


def _tables(results: Results) -> Iterator[tuple[str, Table]]:
    """(file name without suffix, table)."""
    for encoder in results.encoders:
        for size in results.sizes:
            cards = results.cards(encoder, size)
            for name, metrics in (
                ("paper_metrics", PAPER_METRICS),
                ("all_scores", tuple(MEANINGS)),
            ):
                tests = differences_between(cards, metrics)
                yield f"{name}_{file_name(encoder)}_{size}", score_table(cards, metrics, tests)
        for metric in PAPER_METRICS:
            yield f"{metric}_by_size_{file_name(encoder)}", _size_table(results, encoder, metric)
    for method in results.methods if len(results.encoders) > 1 else ():
        cards = results.encoder_cards(method, max(results.sizes))
        tests = differences_between(cards, PAPER_METRICS)
        table = score_table(cards, PAPER_METRICS, tests, corner="encoder")
        yield f"encoders_{method}_{max(results.sizes)}", table


def _size_table(results: Results, encoder: str, metric: str) -> Table:
    """Methods down, numbers of training episodes across: one metric, as the paper's ablation."""
    columns = [
        with_best([card_cell(card[metric], metric) for card in cards.values()])
        for cards in (results.cards(encoder, size) for size in results.sizes)
    ]
    rows = tuple(zip(results.methods, zip(*columns, strict=True), strict=True))
    notes = (
        f"{shown_metric(metric)} by the number of training episodes. Bold: the best mean of a "
        "column.",
    )
    return Table("method", tuple(map(str, results.sizes)), rows, notes)


def _write_figures(folder: Path, results: Results) -> None:
    size = max(results.sizes)
    for encoder in results.encoders:
        cards = results.cards(encoder, size)
        tests = differences_between(cards, PAPER_METRICS)
        name = f"paper_metrics_{file_name(encoder)}_{size}"
        save_figure(metric_bars(cards, PAPER_METRICS, tests), folder / name)
        if len(results.sizes) > 1:
            figure = success_failure_scatter(_size_points(results, encoder))
            save_figure(figure, folder / f"success_failure_{file_name(encoder)}")
    if len(results.encoders) > 1:
        method = REFERENCE if REFERENCE in results.methods else results.methods[0]
        cards = results.encoder_cards(method, size)
        tests = differences_between(cards, PAPER_METRICS)
        figure = encoder_bars(cards, PAPER_METRICS, tests)
        save_figure(figure, folder / f"encoders_{method}_{size}")


def _size_points(results: Results, encoder: str) -> list[SizePoint]:
    return [
        SizePoint(method, size, card["success"].over_seeds, card["failure"].over_seeds)
        for size in results.sizes
        for method, card in results.cards(encoder, size).items()
    ]

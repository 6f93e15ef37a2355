"""A grid's values against the truth of some test frames: tables and a figure per encoder."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from goalward.experiments.grid import Grid, file_name, values_file
from goalward.files import written_whole
from goalward.metrics.truth.card import TruthCard, truth_card
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.metrics.truth.known_frames import KnownFrames, known_frames
from goalward.report.figures.scores import save_figure
from goalward.report.words.truth import truth_lines
from goalward.report.words.truth_table import chance_table, truth_csv, truth_figure, value_table
from goalward.rollouts.dataset import Rollouts
from goalward.training.presets import hyperparameters
from goalward.values.table import read_values

TRUTH_PAGE = "truth.md"


def write_grid_truth(folder: Path, grid: Grid, test: Rollouts, truth: FrameTruth) -> None:
    """How far each method is from the truth, by encoder and number of training episodes.

    | file | what |
    |---|---|
    | `truth.md` | the largest size in words and tables |
    | `tables/truth_*.md`, `.tex`, `.csv` | every size: bias and error of value and of chances |
    | `figures/truth_*` | true against predicted value, largest size |
    """
    known = known_frames(truth, test, np.ones(len(test), dtype=np.bool_))
    parts = ["# Against the truth"]
    for encoder, size, card in _cards(folder, grid, test, known):
        name = f"{file_name(encoder)}_{size}"
        tables = {"truth": value_table(card), "truth_chances": chance_table(card)}
        for kind, table in tables.items():
            path = folder / "tables" / f"{kind}_{name}"
            _write(path.with_name(f"{path.name}.md"), table.markdown())
            _write(path.with_name(f"{path.name}.tex"), table.latex())
        _write(folder / "tables" / f"truth_{name}.csv", truth_csv(card))
        if size == max(grid.sizes):
            save_figure(truth_figure(card), folder / "figures" / f"truth_{name}")
            parts += [f"## {encoder}, {size} training episodes", " ".join(truth_lines(card))]
            parts += [table.markdown().rstrip() for table in tables.values()]
    _write(folder / TRUTH_PAGE, "\n\n".join(parts) + "\n")


def _cards(
    folder: Path, grid: Grid, test: Rollouts, known: KnownFrames
) -> Iterator[tuple[str, int, TruthCard]]:
    longest = max(episode.num_frames for episode in test)
    discount = hyperparameters(grid.preset, **grid.overrides).for_horizon(longest).discount
    assert discount is not None
    for encoder in grid.encoders:
        for size in grid.sizes:
            values = read_values(values_file(folder, encoder, size))
            card = truth_card(
                values, known, discount=discount, standard_horizon=grid.standard_horizon
            )
            yield encoder, size, card


def _write(path: Path, text: str) -> None:
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")

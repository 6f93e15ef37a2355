"""A grid's values against the truth of some test frames: tables and a figure per encoder."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from goalward.experiments.grid import Grid, chances_file, file_name, values_file
from goalward.files import write_text
from goalward.metrics.truth.card import TruthCard, truth_card
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.metrics.truth.known_frames import KnownFrames, known_frames
from goalward.report.figures.scores import save_figure
from goalward.report.figures.truth import truth_figure
from goalward.report.words.blocks import Document, Section
from goalward.report.words.rendering import markdown
from goalward.report.words.tables import write_table
from goalward.report.words.truth import truth_paragraphs
from goalward.report.words.truth_table import chance_table, truth_csv, value_table
from goalward.rollouts.dataset import Rollouts
from goalward.training.methods.presets import hyperparameters
from goalward.values.chances import read_chances
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
    sections: list[Section] = []
    for encoder, size, card in _cards(folder, grid, test, known):
        name = f"{file_name(encoder)}_{size}"
        values, chances = value_table(card), chance_table(card)
        write_table(values, folder / "tables" / f"truth_{name}")
        write_table(chances, folder / "tables" / f"truth_chances_{name}")
        write_text(folder / "tables" / f"truth_{name}.csv", truth_csv(card))
        if size == max(grid.sizes):
            save_figure(truth_figure(card), folder / "figures" / f"truth_{name}")
            blocks = (*truth_paragraphs(card), values, chances)
            sections.append(Section(f"{encoder}, {size} training episodes", blocks))
    write_text(folder / TRUTH_PAGE, markdown(Document("Against the truth", tuple(sections))))


def _cards(
    folder: Path, grid: Grid, test: Rollouts, known: KnownFrames
) -> Iterator[tuple[str, int, TruthCard]]:
    longest = max(episode.num_frames for episode in test)
    discount = hyperparameters(grid.preset, **grid.overrides).for_horizon(longest).discount
    assert discount is not None
    for encoder in grid.encoders:
        for size in grid.sizes:
            card = truth_card(
                read_values(values_file(folder, encoder, size)),
                read_chances(chances_file(folder, encoder, size)),
                known,
                discount=discount,
                standard_horizon=grid.standard_horizon,
            )
            yield encoder, size, card

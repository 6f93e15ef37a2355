"""The notebooks run from top to bottom, and show what they say they show."""

from pathlib import Path

import pytest

from docs_site.notebooks import code_cells, read, run_cells, stored

NOTEBOOKS = sorted((Path(__file__).parent.parent.parent / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_is_stored_in_it(path, one_thread, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = run_cells(path)
    assert shown == [stored(cell) for cell in code_cells(path)]


def test_there_is_one_for_users_and_one_for_researchers():
    assert [path.stem for path in NOTEBOOKS] == ["a_new_method", "from_lerobot_to_values"]


def test_a_new_method_takes_forty_lines():
    """The cells about the method itself, not the world it is judged in."""
    cells = ["".join(cell["source"]) for cell in code_cells(NOTEBOOKS[0])]
    method = [cell for cell in cells if "median_loss" in cell or "goalward.fit" in cell]
    assert sum(len(cell.splitlines()) for cell in method) <= 45


def test_notebooks_are_what_jupyter_reads():
    for path in NOTEBOOKS:
        notebook = read(path)
        assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
        assert all({"cell_type", "id", "metadata", "source"} <= set(c) for c in notebook["cells"])

"""Runs notebooks without a kernel: cells are Python, and what they show is text.

    python tests/docs_site/notebooks.py examples/*.ipynb      # runs them and keeps what they showed

A kernel would be fifteen packages more; these notebooks use none of its magic.
"""

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any


def run_cells(path: Path) -> list[list[str]]:
    """What each code cell shows: what it prints, and its last expression, line by line."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [_run(cell, names) for cell in code_cells(path)]


def code_cells(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in read(path)["cells"] if cell["cell_type"] == "code"]


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text())


def _run(cell: dict[str, Any], names: dict[str, Any]) -> list[str]:
    tree = ast.parse("".join(cell["source"]))
    last = tree.body[-1] if tree.body else None
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        if isinstance(last, ast.Expr):
            tree.body.pop()
            exec(compile(tree, "<cell>", "exec"), names)
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
            if value is not None:
                print(repr(value))
        else:
            exec(compile(tree, "<cell>", "exec"), names)
    return shown.getvalue().splitlines(keepends=True)


def stored(cell: dict[str, Any]) -> list[str]:
    return [line for output in cell["outputs"] for line in output["text"]]


def keep(path: Path) -> None:
    notebook = read(path)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells, start=1):
        text = _run(cell, names)
        cell["execution_count"] = number
        cell["outputs"] = (
            [{"name": "stdout", "output_type": "stream", "text": text}] if text else []
        )
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        keep(Path(name))

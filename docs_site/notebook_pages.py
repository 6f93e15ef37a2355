"""Notebooks as pages: what they say, do and show; a link to a notebook leads to its page.

Their cells are text and Python, and show text (tests/docs_site/notebooks.py runs them so).
"""

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent


def on_files(files: Files, config: Any) -> Files:
    for path in sorted((ROOT / "examples").glob("*.ipynb")):
        name = path.relative_to(ROOT).as_posix()
        page = name.removesuffix(".ipynb") + ".md"
        files.append(File.generated(config, name, abs_src_path=str(path)))
        files.append(File.generated(config, page, content=notebook_page(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    if page.file.src_uri.startswith("examples/"):
        return markdown
    return re.sub(r"(\]\([^)\s]*examples/\w+)\.ipynb\)", r"\1.md)", markdown)


def notebook_page(path: Path) -> str:
    cells = json.loads(path.read_text())["cells"]
    file = f'<p><a href="{path.name}" download>{path.name}</a>, to run it yourself</p>'
    return "\n\n".join([_shown(cells[0]), file, *map(_shown, cells[1:])]) + "\n"


def _shown(cell: dict[str, Any]) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    printed = "".join(line for output in cell["outputs"] for line in output["text"])
    told = f"\n\n```text\n{printed.rstrip()}\n```" if printed else ""
    return f"```python\n{source}\n```{told}"

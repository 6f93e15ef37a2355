"""Pages that nobody writes: the reference of Python names, commands and files, the live report."""

import json
import os
import re
from pathlib import Path
from typing import Any, get_type_hints

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

import goalward
from goalward.cli.app import app
from goalward.runs.folder.described import RunFile, run_files
from goalward.runs.folder.json_schema import described_types, field_meanings, kind_in_words

ROOT = Path(__file__).parent.parent
# Every public name, in the order in which somebody needs them.
SECTIONS = {
    "Reading rollouts": ("read", "from_arrays", "concatenate", "Rollouts", "Episode", "Outcome"),
    "Evaluating": ("plan", "Plan", "evaluate", "open_run", "Run", "summary"),
    "Comparing and auditing": ("compare", "rank_preferences", "audit", "Audit"),
    "Learning from it": ("curate", "Curation"),
    "Files": (
        *("export", "write_report", "write_summary", "write_comparison", "write_preferences"),
        "write_audit",
        "push",
    ),
    "Step by step": (
        *("embed", "read_features", "write_features", "fit", "Fitted", "load"),
        *("ValueTable", "read_values"),
    ),
    "On a robot, in a tracker": ("Monitor", "track"),
    "Errors": ("GoalwardError", "RolloutError"),
}
REPORT_MARK = "<!-- the live report -->"
REPORT = Path(os.environ.get("GOALWARD_DOCS_REPORT", ROOT / "build" / "gallery_run" / "report"))
NO_REPORT = "*This copy of the site was built without it; `make docs` makes one.*"


def on_files(files: Files, config: Any) -> Files:
    pages = {
        "docs/reference/python.md": python_page(),
        "docs/reference/commands.md": commands_page(),
        "docs/reference/run_files.md": run_files_page(),
    }
    for name, text in pages.items():
        file = File.generated(config, name, content=text)
        file.dest_uri = name.removeprefix("docs/").replace(".md", ".html")
        files.append(file)
    for described in run_files():
        if described.content is not None:
            text = json.dumps(described.schema(), indent=1)
            files.append(File.generated(config, schema_address(described), content=text))
    for path in sorted(REPORT.rglob("*")) if REPORT.is_dir() else []:
        if path.is_file() and not path.name.startswith("."):
            name = f"report/{path.relative_to(REPORT).as_posix()}"
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    frame = (
        '<iframe class="report" src="report/index.html" title="a report" loading="lazy"></iframe>'
        '\n<p><a href="report/index.html">alone in the window</a></p>'
    )
    return markdown.replace(REPORT_MARK, frame if REPORT.is_dir() else NO_REPORT)


def python_page() -> str:
    """Signatures and docstrings of every public name, which mkdocstrings fills in."""
    placed = {name for names in SECTIONS.values() for name in names}
    gone = sorted(placed - set(goalward.__all__))
    if gone:
        raise PluginError(f"docs_site/generated_pages.py: SECTIONS names {gone}, which are gone")
    others = tuple(name for name in goalward.__all__ if name not in placed)
    sections = SECTIONS | ({"Others": others} if others else {})
    lines = ["# Python", "", "Every public name. All are imported from `goalward` itself.", ""]
    for section, names in sections.items():
        lines += [f"## {section}", ""]
        for name in names:
            lines += [f"::: goalward.{goalward._HOMES[name]}.{name}", ""]
    return "\n".join(lines)


def commands_page() -> str:
    """What every verb's own `--help` says, after one list of them, by the order of use."""
    text = app.generate_docs(heading_level=1)
    text = re.sub(r"## Table of Contents\n.*?(?=^\*\*)", "", text, flags=re.DOTALL | re.MULTILINE)
    return text.replace("# goalward\n", "# Commands\n", 1)


def schema_address(file: RunFile) -> str:
    """
    >>> schema_address(RunFile("networks/run.json", ""))
    'reference/schemas/networks.run.schema.json'
    """
    return f"reference/schemas/{file.path.rpartition('.')[0].replace('/', '.')}.schema.json"


def run_files_page() -> str:
    """Every file of a run: columns of tables, fields of JSON and TOML, by what writes them."""
    files = run_files()
    lines = [
        *("# Files of a run", ""),
        "Made from the code that writes them; a test holds the files of a real run against it.",
        "What is promised of them: [what is stable](../stability.md). How a run is made, opened",
        *("and made again: [a run's folder](../runs.md).", ""),
        *("| file | what |", "|---|---|"),
    ]
    for file in files:
        is_told = file.columns or file.content is not None
        name = f"[`{file.path}`](#{_anchor(file.path)})" if is_told else f"`{file.path}`"
        lines.append(f"| {name} | {file.what} |")
    for file in files:
        if file.columns:
            lines += ["", f"## {file.path}", "", file.what, "", *_columns_table(file)]
        elif file.content is not None:
            lines += ["", f"## {file.path}", "", file.what, "", *_fields_tables(file)]
    return "\n".join(lines) + "\n"


def _columns_table(file: RunFile) -> list[str]:
    lines = ["| column | holds | unit | what it means |", "|---|---|---|---|"]
    for column in file.columns:
        empty = f"; empty: {column.empty}" if column.empty else ""
        lines.append(
            f"| `{column.name}` | {column.kind} | {column.unit} | {column.meaning}{empty} |"
        )
    return lines


def _fields_tables(file: RunFile) -> list[str]:
    address = schema_address(file).removeprefix("reference/")
    lines = [
        f'JSON Schema: <a href="{address}">{address.rpartition("/")[2]}</a>. At the top lies '
        f"{kind_in_words(file.content)}."
    ]
    for kind in described_types(file.content):
        words = " ".join((kind.__doc__ or "").partition("\n\n")[0].split())
        lines += ["", f"**{kind.__name__}**: {words}", ""]
        lines += ["| field | holds | what it means |", "|---|---|---|"]
        hints = get_type_hints(kind)
        for name, meaning in field_meanings(kind).items():
            holds = kind_in_words(hints[name]).replace("|", "\\|")
            said = meaning.replace("|", "\\|")
            lines.append(f"| `{name}` | {holds} | {said} |")
    return lines


def _anchor(path: str) -> str:
    """As the headings' own anchors are made."""
    return "".join(letter for letter in path.lower() if letter.isalnum() or letter in "-_")

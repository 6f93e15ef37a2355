"""Pages that nobody writes: the reference of Python names and of commands, and the live report."""

import os
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

import goalward
from goalward.cli.app import app

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
    "Errors": ("GoalwardError", "RolloutError"),
}
REPORT_MARK = "<!-- the live report -->"
REPORT = Path(os.environ.get("GOALWARD_DOCS_REPORT", ROOT / "build" / "gallery_run" / "report"))
NO_REPORT = "*This copy of the site was built without it; `make docs` makes one.*"


def on_files(files: Files, config: Any) -> Files:
    pages = {
        "docs/reference/python.md": python_page(),
        "docs/reference/commands.md": commands_page(),
    }
    for name, text in pages.items():
        file = File.generated(config, name, content=text)
        file.dest_uri = name.removeprefix("docs/").replace(".md", ".html")
        files.append(file)
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
    """What every verb's own `--help` says."""
    text = app.generate_docs(heading_level=1)
    return text.replace("# goalward\n", "# Commands\n", 1)

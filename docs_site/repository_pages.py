"""The site's pages are the repository's own, where they lie: links work on disk and on the site.

README.md is the front page, docs/x.md is x.html, case_studies/ keeps its folders. Pages are named
by where they lie in the repository; `mkdocs.yml` lists them in that way.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).parent.parent
BESIDE_DOCS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENCES.md", "CITATION.cff")
ADDRESSES = {"README.md": "index.html", "CITATION.cff": "CITATION.cff"}
# How much a page counts in search, by its place in the menu. A word in a heading counts a thousand
# times, and a reference has every word in one.
WEIGHTS = {
    **{"Start": 10, "Guides": 10, "Methods": 5},
    **{"Reference": 0.01, "Gallery": 0.1, "About": 0.001},
}
# Words that people look for and that their page does not have in a heading.
SOUGHT = {
    "docs/words.md": ["glossary"],
    "docs/evaluating.md": ["success rate"],
    "docs/comparing.md": ["compare policies"],
    "docs/exporting.md": ["export"],
}
SHOWN_OF_STUDIES = (".md", ".jpg", ".png", ".svg")


def on_files(files: Files, config: Any) -> Files:
    ours = [file for file in files if file.src_dir == config.docs_dir]
    for file in ours:
        files.remove(file)
        files.append(_shown(f"docs/{file.src_uri}", file.dest_uri, config))
    for name in BESIDE_DOCS:
        address = ADDRESSES.get(name, f"{Path(name).stem.lower()}.html")
        files.append(_shown(name, address, config))
    for path in sorted((ROOT / "case_studies").rglob("*")):
        if path.suffix in SHOWN_OF_STUDIES:
            files.append(_shown(path.relative_to(ROOT).as_posix(), None, config))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The front page is alone in its menu, which is left out; search finds guides first."""
    if page.file.src_uri == "README.md":
        page.meta["hide"] = ["navigation"]
    if page.ancestors:
        page.meta["search"] = {"boost": WEIGHTS[page.ancestors[-1].title]}
    if page.file.src_uri in SOUGHT:
        page.meta["tags"] = SOUGHT[page.file.src_uri]
    if "/results/" in page.file.src_uri:
        page.meta["search"] = {"exclude": True}
    return markdown


def on_page_content(html: str, **_: Any) -> str:
    """Pictures below the first are loaded when somebody comes to them; options stay whole."""
    first, mark, rest = html.partition("<img ")
    html = first + mark + re.sub("<img ", '<img loading="lazy" ', rest)
    return re.sub(r"<code>[^<]*</code>", _with_whole_options, html)


def _with_whole_options(code: re.Match[str]) -> str:
    return re.sub(r"(?<=[\s>(])--[a-z][a-z-]*", r'<span class="option">\g<0></span>', code[0])


def _shown(name: str, address: str | None, config: Any) -> File:
    """A file of the repository at this address; tables of results are linked, not in the menu."""
    linked_only = "/results/" in name
    inclusion = InclusionLevel.NOT_IN_NAV if linked_only else InclusionLevel.UNDEFINED
    file = File.generated(config, name, abs_src_path=str(ROOT / name), inclusion=inclusion)
    if address is not None:
        file.dest_uri = address
    return file

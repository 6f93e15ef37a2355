"""The page's own files: its markup, styles and scripts, and the library that draws charts."""

import filecmp
import shutil
from importlib.util import find_spec
from pathlib import Path

from goalward.errors import GoalwardError
from goalward.files import write_text, written_whole

INDEX = "index.html"
SITE = Path(__file__).parent / "site"


def write_assets(folder: Path) -> None:
    """Copy them into a report; the chart library comes from where Python has it."""
    for source in sorted(SITE.iterdir()):
        place = folder if source.suffix == ".html" else folder / "assets"
        write_text(place / source.name, source.read_text(encoding="utf-8"))
    library = _chart_library()
    copy = folder / "assets" / library.name
    if not copy.is_file() or not filecmp.cmp(copy, library, shallow=False):
        with written_whole(copy) as temporary:
            shutil.copyfile(library, temporary)


def _chart_library() -> Path:
    # Found, not imported: importing plotly takes a second.
    spec = find_spec("plotly")
    for place in () if spec is None else spec.submodule_search_locations or ():
        library = Path(place) / "package_data" / "plotly.min.js"
        if library.is_file():
            return library
    raise GoalwardError("the package plotly has no plotly.min.js: install it again")

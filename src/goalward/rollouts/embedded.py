"""The rollouts that come with the package, under the name `demo`."""

from pathlib import Path

from goalward.files import resolved
from goalward.stores.place import StoredPath
from goalward.urls import as_url, without_file_protocol

DEMO = "demo"
_FOLDER = Path(__file__).parent / "demo_data"


def located(path: str | Path) -> Path:
    """Where rollouts lie: `demo` comes with the package, unless something here has that name.

    What lies in a store has a path here too, where `read` lays it out.

    >>> located("my_rollouts").name, located("demo").name
    ('my_rollouts', 'demo_data')
    """
    if str(path) == DEMO and not Path(path).exists():
        return _FOLDER
    if isinstance(path, StoredPath):
        return path
    url = as_url(path)
    return without_file_protocol(path) if url is None else StoredPath.of(url)


def is_embedded(path: Path) -> bool:
    """Whether rollouts are those of the package, which nobody should change.

    >>> is_embedded(located("demo")), is_embedded(located("my_rollouts"))
    (True, False)
    """
    return resolved(path) == resolved(_FOLDER)

"""The rollouts that come with the package, under the name `demo`."""

from pathlib import Path

DEMO = "demo"
_FOLDER = Path(__file__).parent / "demo_data"


def located(path: str | Path) -> Path:
    """Where rollouts lie: `demo` comes with the package, unless something here has that name.

    >>> located("my_rollouts").name, located("demo").name
    ('my_rollouts', 'demo_data')
    """
    if str(path) == DEMO and not Path(path).exists():
        return _FOLDER
    return Path(path)


def is_embedded(path: Path) -> bool:
    """Whether rollouts are those of the package, which nobody should change.

    >>> is_embedded(located("demo")), is_embedded(located("my_rollouts"))
    (True, False)
    """
    return path.resolve() == _FOLDER.resolve()

"""Recipes: what a case study needs to be run again, as a TOML file.

Those of the paper's case studies are part of the package, in `recipes/<name>/`, so that they are
there after `pip install` as well: `recipe.toml`, and `paper_results.csv` with what the paper
reports. Any other recipe is given by its path; it may have a `paper_results.csv` beside it, or name
the case study of the paper that it is to be compared with.

| key | what | default |
|---|---|---|
| `title` | for people | |
| `[data]` | `train` and `test`, or `rollouts` and `test_fraction`; perhaps `success_key` | |
| `cameras` | by name; an empty list leaves proprioception alone | all |
| `proprioception` | columns by name; an empty list for none | the format's |
| `encoders` | names, as for `goalward embed`; none without cameras | `["siglip2"]` |
| `pool`, `n_obs_steps` | as for `goalward embed` | `"global"`, 1 |
| `standard_horizon` | steps in which the task is usually done, the paper's N_s | |
| `preset`, `methods` | as for `goalward fit` | `"default"`, the paper's five |
| `seeds` | networks per method | 5 |
| `sizes` | numbers of training episodes, half of them successes | |
| `paper` | the case study of the paper whose numbers stand beside | `paper_results.csv` beside |
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goalward.config import PAPER_METHODS, read_toml
from goalward.embeddings.encoders import DEFAULT_ENCODER
from goalward.errors import GoalwardError

_RECIPES = Path(__file__).parent / "recipes"
_FILE = "recipe.toml"
_PAPER_RESULTS = "paper_results.csv"
# What features are called that no encoder made.
NO_ENCODER = "proprioception"


@dataclass(frozen=True)
class DataPaths:
    """Where the episodes lie in the data folder: training and test apart, or to be split.

    Without a `test` a share of the episodes at `train` is kept for testing.
    """

    train: str
    test: str | None = None
    test_fraction: float | None = None
    success_key: str | None = None

    @property
    def wanted(self) -> tuple[str, ...]:
        return (self.train,) if self.test is None else (self.train, self.test)


@dataclass(frozen=True)
class Recipe:
    """A case study: its data, its features, and the grid of runs over them."""

    name: str
    title: str
    data: DataPaths
    standard_horizon: int
    sizes: tuple[int, ...]
    cameras: tuple[str, ...] | None = None
    proprioception: tuple[str, ...] | None = None
    encoders: tuple[str, ...] = (DEFAULT_ENCODER,)
    pool: str = "global"
    n_obs_steps: int = 1
    preset: str = "default"
    methods: tuple[str, ...] = PAPER_METHODS
    seeds: int = 5
    paper_results: Path | None = None

    def check_data(self, folder: Path) -> None:
        """An error that says what is wanted, if the data are not where they should be."""
        missing = [path for path in self.data.wanted if not (folder / path).exists()]
        if not missing:
            return
        kinds = [f"{self.data.train} (at least {max(self.sizes)} episodes, half of them successes)"]
        if self.data.test is not None:
            kinds.append(f"{self.data.test} (other episodes of the same policy)")
        features = "whatever cameras they have"
        if self.cameras is not None:
            features = f"cameras {', '.join(self.cameras)}" if self.cameras else "proprioception"
        raise GoalwardError(
            f"{folder / missing[0]}: no such data set. {self.title} wants in the data folder "
            f"{folder}: {' and '.join(kinds)}, in any format that `goalward inspect` reads, with "
            f"{features}"
        )


def case_studies() -> tuple[str, ...]:
    """The names of the recipes that come with the package.

    >>> case_studies()
    ('cloth', 'libero', 'square')
    """
    return tuple(sorted(path.parent.name for path in _RECIPES.glob(f"*/{_FILE}")))


def find_recipe(name: str) -> Recipe:
    """The recipe of a case study by its name, or any other by its path.

    >>> find_recipe("square").standard_horizon
    100
    """
    if name in case_studies():
        return read_recipe(_RECIPES / name / _FILE)
    path = Path(name)
    if path.is_dir():
        path = path / _FILE
    elif path.suffix != ".toml":
        raise GoalwardError(
            f"no case study {name!r}; there are {', '.join(case_studies())}, and any other by the "
            "path of its recipe (.toml)"
        )
    return read_recipe(path)


def read_recipe(path: Path) -> Recipe:
    """A recipe from its file; what is wrong with it is said with the file's name."""
    if not path.is_file():
        raise GoalwardError(f"{path}: no such recipe")
    content = _checked(read_toml(path), _KEYS, str(path))
    data = _data_paths(_checked(content.pop("data"), _DATA_KEYS, f"{path}, [data]"), path)
    if content.get("cameras") == ():
        if "encoders" in content:
            raise GoalwardError(f"{path}: without cameras there is nothing for encoders to encode")
        content["encoders"] = (NO_ENCODER,)
    case = content.pop("paper", None)
    if case is not None and case not in case_studies():
        raise GoalwardError(f"{path}: paper must be one of {', '.join(case_studies())}, got {case}")
    beside = (_RECIPES / case if case else path.parent) / _PAPER_RESULTS
    return Recipe(
        name=path.parent.resolve().name,
        data=data,
        paper_results=beside if beside.is_file() else None,
        **content,
    )


def _data_paths(content: dict[str, Any], path: Path) -> DataPaths:
    given = sorted(set(content) - {"success_key"})
    if given == ["rollouts", "test_fraction"]:
        content["train"] = content.pop("rollouts")
    elif given != ["test", "train"]:
        raise GoalwardError(
            f"{path}: [data] wants train and test, or rollouts and test_fraction; "
            f"it has {', '.join(given) or 'none of them'}"
        )
    elif content["train"] == content["test"]:
        raise GoalwardError(f"{path}: training and test episodes are the same data set")
    return DataPaths(**content)


# ---- what may stand in the file ---------------------------------------------------------------


@dataclass(frozen=True)
class _Kind:
    words: str
    fits: Callable[[Any], bool]
    required: bool = False


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _list_of(fits: Callable[[Any], bool], least: int) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:
        if not isinstance(value, list) or len(value) < least or not all(map(fits, value)):
            return False
        return len(set(value)) == len(value)

    return check


_TEXT = _Kind("a text", _is_text)
_COUNT = _Kind("a whole number of at least 1", _is_count)
_NAMES = _Kind("a list of different texts", _list_of(_is_text, least=0))
_SOME_NAMES = _Kind("a list of one or more different texts", _list_of(_is_text, least=1))
_KEYS: Mapping[str, _Kind] = {
    "title": _Kind("a text", _is_text, required=True),
    "data": _Kind("a table", lambda value: isinstance(value, dict), required=True),
    "cameras": _NAMES,
    "proprioception": _NAMES,
    "encoders": _SOME_NAMES,
    "pool": _TEXT,
    "n_obs_steps": _COUNT,
    "standard_horizon": _Kind(_COUNT.words, _is_count, required=True),
    "preset": _TEXT,
    "paper": _TEXT,
    "methods": _SOME_NAMES,
    "seeds": _COUNT,
    "sizes": _Kind(
        "a list of different even numbers of at least 2",
        _list_of(lambda value: _is_count(value) and value % 2 == 0, least=1),
        required=True,
    ),
}
_DATA_KEYS: Mapping[str, _Kind] = {
    "train": _TEXT,
    "test": _TEXT,
    "rollouts": _TEXT,
    "test_fraction": _Kind(
        "a number between 0 and 1", lambda value: isinstance(value, float) and 0 < value < 1
    ),
    "success_key": _TEXT,
}


def _checked(content: Mapping[str, Any], kinds: Mapping[str, _Kind], where: str) -> dict[str, Any]:
    """The content with lists as tuples, if every key is known and every value of its kind."""
    unknown = [key for key in content if key not in kinds]
    if unknown:
        raise GoalwardError(f"{where}: unknown key {unknown[0]!r}; keys are {', '.join(kinds)}")
    for key, kind in kinds.items():
        if key not in content and kind.required:
            raise GoalwardError(f"{where}: {key} is missing; it is {kind.words}")
        if key in content and not kind.fits(content[key]):
            raise GoalwardError(f"{where}: {key} must be {kind.words}, got {content[key]!r}")
    return {key: _frozen(value) for key, value in content.items()}


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value

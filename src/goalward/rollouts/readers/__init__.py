"""Every format that can be read: one module each, and one line in this table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from goalward.errors import RolloutError, argument
from goalward.progress import OnProgress, unheard
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.embedded import located
from goalward.rollouts.findings import Findings, some_of
from goalward.rollouts.labels.outcome import LabelOptions
from goalward.rollouts.labels.stated import Labels
from goalward.rollouts.readers import lerobot, libero, rlds, robomimic, video_folder
from goalward.rollouts.readers.assembly import Found, Match, ReadOptions, assemble
from goalward.rollouts.readers.from_stores import named_by_url, read_ahead
from goalward.stores.layout import laid_out
from goalward.stores.place import StoredPath

# How far and how wide to look for data sets in a folder that is none.
_LOOK_BELOW = 3
_MOST_FOLDERS = 300


@dataclass(frozen=True)
class Format:
    """`recognises` looks at names and headers only; `find` reads everything but the frames."""

    name: str
    looks_like: str
    recognises: Callable[[Path], bool]
    find: Callable[[Path, ReadOptions, Findings], Found]
    has_filter_keys: bool = False
    has_timestamps: bool = False


FORMATS = (
    Format(
        "lerobot",
        "a folder with meta/info.json",
        lerobot.recognises,
        lerobot.find,
        has_timestamps=True,
    ),
    Format("libero", "HDF5 as LIBERO writes it", libero.recognises, libero.find),
    Format("robomimic", "HDF5 with data/demo_0", robomimic.recognises, robomimic.find, True),
    Format("rlds", "a folder of .tfrecord files", rlds.recognises, rlds.find),
    # Last: other formats hold videos as well.
    Format("videos", "a folder of rollout videos", video_folder.recognises, video_folder.find),
)


def read(
    path: str | Path,
    *,
    labels: Labels | None = None,
    success_key: str | None = None,
    horizon: int | None = None,
    early_failures: bool = False,
    cameras: str | Sequence[str] | None = None,
    proprioception: str | Sequence[str] | None = None,
    filter_key: str | None = None,
    flip: bool | None = None,
    match: Match = "time",
    strict: bool = False,
    on_progress: OnProgress = unheard,
    on_fetch: OnProgress = unheard,
) -> Rollouts:
    """Rollouts from a file or folder in any format of `FORMATS`, found by looking.

    The name `demo` stands for those that come with the package. What lies in a store (`s3://`,
    `gs://`, `hf://`, any address that fsspec knows) is laid out in a folder of this machine first:
    its tables now, its videos when frames are wanted.

    `labels` and `success_key` (a column or field) say where outcomes come from when the data does
    not, or override it. Labels are a csv or json file, an outcome that holds for every episode, a
    list with one per episode in their order, or a dict by id (`{"3": True, "4": "failure"}`).
    `horizon` is the number of frames after which the clock ran out: an unsuccessful episode with
    fewer counts as a failure, and `early_failures=True` says that this is meant. `match="index"`
    pairs the frames of a LeRobot table with those of its video in their order, not by time: for
    tables that keep the times of another clock. An episode that cannot be trusted is left out and
    listed in `left_out`; with `strict` it is an error. `on_progress` is called with how much has
    been read and how much there is, `on_fetch` with the bytes that came from a store.
    """
    if not str(path):
        raise RolloutError("no path given")
    path = located(path)
    options = ReadOptions(
        label=LabelOptions(labels, success_key, horizon, early_failures),
        cameras=_names(cameras),
        proprioception=_names(proprioception),
        filter_key=filter_key,
        flip=flip,
        match=match,
        strict=strict,
        on_progress=on_progress,
    )
    with named_by_url(path):
        if isinstance(path, StoredPath):
            laid_out(path, on_fetch)
            read_ahead(path)
        return _read(path, options)


def _read(path: Path, options: ReadOptions) -> Rollouts:
    filter_key, match = options.filter_key, options.match
    chosen = detect(path)
    if filter_key is not None and not chosen.has_filter_keys:
        raise RolloutError(f"{path}: {chosen.name} data sets have no filter keys")
    if match != "time" and not chosen.has_timestamps:
        raise RolloutError(
            f"{path}: {chosen.name} data sets have no tables of times; {argument('match', match)} "
            "would change nothing"
        )
    findings = Findings(strict=options.strict)
    try:
        found = chosen.find(path, options, findings)
    except OSError as error:
        raise RolloutError(f"{path}: cannot be read ({error})") from error
    return assemble(found, options, findings)


def _names(chosen: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """One name or several."""
    return (chosen,) if isinstance(chosen, str) else None if chosen is None else tuple(chosen)


def detect(path: Path) -> Format:
    """The format of what lies at this path."""
    try:
        if not path.exists():
            raise RolloutError(f"{path}: no such file or folder")
        for candidate in FORMATS:
            if candidate.recognises(path):
                return candidate
        if path.is_dir() and not any(path.iterdir()):
            raise RolloutError(f"{path}: the folder is empty")
        below = _data_sets_below(path)
    except OSError as error:
        raise RolloutError(f"{path}: cannot be read ({error})") from error
    if below:
        there = some_of([f"{folder} ({name})" for folder, name in below])
        raise RolloutError(f"{path}: is not a data set itself, but holds some; point at {there}")
    known = "; ".join(f"{candidate.name}: {candidate.looks_like}" for candidate in FORMATS)
    raise RolloutError(
        f"{path}: not a known format of rollouts. Known are {known}. For everything else there is "
        "goalward.from_arrays in Python; its features go into a file (.npz) with "
        "goalward.write_features, which goalward.read_features reads"
    )


def _data_sets_below(path: Path) -> list[tuple[Path, str]]:
    """The folders in this one that are data sets, each with its format."""
    found: list[tuple[Path, str]] = []
    folders = [(path, 0)]
    # The list grows on the way: folders on top first.
    for folder, depth in folders:
        if depth == _LOOK_BELOW or len(folders) > _MOST_FOLDERS:
            continue
        for entry in _folders_in(folder):
            name = _format_name(entry)
            if name is None:
                folders.append((entry, depth + 1))
            else:
                found.append((entry, name))
    return found


def _folders_in(folder: Path) -> list[Path]:
    """Those that can be looked into; hidden ones are caches."""
    try:
        entries = sorted(folder.iterdir()) if folder.is_dir() else []
    except OSError:
        return []
    return [entry for entry in entries if entry.is_dir() and not entry.name.startswith(".")]


def _format_name(folder: Path) -> str | None:
    try:
        return next((known.name for known in FORMATS if known.recognises(folder)), None)
    except (OSError, RolloutError):
        return None

"""Changes to what a file says, by the kind of file: it is whole, and holds something else.

Each change takes a file and a generator and gives a word for what it did; None where it cannot.
"""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

Change = Callable[[Path, np.random.Generator], str | None]
# What nobody expects in a field.
STRANGE: tuple[Any, ...] = (
    *(None, [], {}, float("nan"), float("inf"), -1, 0, 1.5, 2**31, 2**63, 1e308, True),
    *("", "text", "../../etc/passwd", "\x00", "ü" * 300, [1, [2, [3]]], {"a": {"b": None}}),
)
VALUE, DROPPED, RETYPED, LENGTH, KIND = (
    *("value replaced", "part dropped", "type changed", "length changed"),
    "no regular file",
)


def change(path: Path, draws: np.random.Generator) -> str | None:
    """Change what a file says, by one of the changes for its kind."""
    ways = CHANGES.get(path.suffix, ())
    if ".tfrecord" in path.name:
        ways = (_records,)
    ways = (*ways, *ways, _other_kind)
    return ways[draws.integers(len(ways))](path, draws)


def _strange(draws: np.random.Generator) -> Any:
    return STRANGE[draws.integers(len(STRANGE))]


# ---- json, csv ----------------------------------------------------------------------------------


def _json(path: Path, draws: np.random.Generator) -> str | None:
    lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
    number = int(draws.integers(len(lines)))
    content, word = _changed(json.loads(lines[number]), draws)
    lines[number] = json.dumps(content)
    path.write_text("\n".join(lines))
    return word


def _changed(content: Any, draws: np.random.Generator) -> tuple[Any, str]:
    """A tree with one of its places changed; places deep down are as likely as others."""
    places = list(_places(content))
    if not places or draws.random() < 0.05:
        return _strange(draws), VALUE
    parent, key = places[draws.integers(len(places))]
    if draws.random() < 0.25:
        del parent[key]
        return content, DROPPED
    parent[key] = _strange(draws)
    return content, VALUE


def _places(content: Any) -> list[tuple[Any, Any]]:
    keys = list(content) if isinstance(content, dict) else range(len(content))
    found = [(content, key) for key in keys]
    for key in keys:
        if isinstance(content[key], dict | list) and content[key]:
            found += _places(content[key])
    return found


def _lines(path: Path, draws: np.random.Generator) -> str | None:
    lines = path.read_text().splitlines()
    number = int(draws.integers(len(lines)))
    way = int(draws.integers(3))
    if way == 0:
        del lines[number]
    elif way == 1:
        lines.insert(number, lines[number])
    else:
        cells = lines[number].split(",")
        cells[draws.integers(len(cells))] = str(_strange(draws))
        lines[number] = ",".join(cells)
    path.write_text("\n".join(lines) + "\n")
    return (DROPPED, LENGTH, VALUE)[way]


# ---- tables -------------------------------------------------------------------------------------


def _parquet(path: Path, draws: np.random.Generator) -> str | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    place = int(draws.integers(table.num_columns))
    name = table.column_names[place]
    way = int(draws.integers(6))
    if way == 0:
        table, word = table.drop_columns([name]), DROPPED
    elif way == 1:
        kinds = (pa.string(), pa.float64(), pa.int64(), pa.bool_(), pa.list_(pa.float32()))
        kind = kinds[draws.integers(len(kinds))]
        values = [_as(kind, value) for value in table[name].to_pylist()]
        table, word = table.set_column(place, name, pa.array(values, kind)), RETYPED
    elif way == 2:
        kept = int(draws.integers(table.num_rows + 1))
        table, word = table.slice(0, kept), LENGTH
    elif way == 3:
        order = draws.integers(table.num_rows, size=table.num_rows + int(draws.integers(3)))
        table, word = table.take(order), LENGTH
    elif way == 4:
        values = table[name].to_pylist()
        values[draws.integers(len(values))] = None
        table, word = table.set_column(place, name, pa.array(values, table[name].type)), VALUE
    else:
        table, word = _other_number(table, place, draws)
    pq.write_table(table, path)
    return word


def _as(kind: Any, value: Any) -> Any:
    if str(kind) == "string":
        return str(value)
    if str(kind).startswith("list"):
        return [0.0]
    return 1 if str(kind) == "int64" else str(kind) == "bool" or 0.5


def _other_number(table: Any, place: int, draws: np.random.Generator) -> tuple[Any, str]:
    import pyarrow as pa

    column = table.column(place)
    values = column.to_pylist()
    row = int(draws.integers(len(values)))
    strange = (-1, 2**31, 2**62) if pa.types.is_integer(column.type) else (np.nan, np.inf, -1e30)
    chosen = strange[draws.integers(3)]
    if pa.types.is_list(column.type) or pa.types.is_fixed_size_list(column.type):
        values[row] = [chosen for _ in values[row]]
    elif pa.types.is_string(column.type):
        values[row] = str(chosen)
    else:
        values[row] = chosen
    try:
        return table.set_column(place, table.column_names[place], pa.array(values, column.type)), (
            VALUE
        )
    except (pa.ArrowException, OverflowError, TypeError):
        return table.slice(0, row), LENGTH


# ---- HDF5, npz ----------------------------------------------------------------------------------


def _hdf5(path: Path, draws: np.random.Generator) -> str | None:
    import h5py

    with h5py.File(path, "r+") as file:
        names: list[str] = []
        file.visit(names.append)
        name = names[draws.integers(len(names))]
        node: Any = file[name]
        way = int(draws.integers(4))
        if way == 0:
            del file[name]
            return DROPPED
        if way == 1 or isinstance(node, h5py.Group):
            return _attribute(node, draws)
        array = node[()]
        del file[name]
        file[name], word = changed_array(np.asarray(array), draws)
        return word


def _attribute(node: Any, draws: np.random.Generator) -> str:
    names = list(node.attrs) or ["num_samples"]
    name = names[draws.integers(len(names))]
    value = _strange(draws)
    if value is None:
        node.attrs.pop(name, None)
        return DROPPED
    text = json.dumps(value) if isinstance(value, dict | list) or value == 2**63 else value
    node.attrs[name] = text if text != "\x00" else "text"
    return VALUE


def changed_array(array: np.ndarray, draws: np.random.Generator) -> tuple[np.ndarray, str]:
    """Other numbers, another type, other sizes."""
    way = int(draws.integers(5))
    if way == 0:
        kinds = ("S4", np.float64, np.int64, np.bool_, np.uint8, np.complex128)
        return np.zeros(array.shape, kinds[draws.integers(len(kinds))]), RETYPED
    if way == 1:
        return array[..., None] if draws.random() < 0.5 else array.reshape(-1), RETYPED
    if way == 2 and array.ndim:
        return array[: draws.integers(len(array) + 1)], LENGTH
    if way == 3 and array.ndim:
        return np.concatenate([array, array[:1]]), LENGTH
    other = array.copy()
    if other.size == 0 or other.dtype.kind not in "fiub":
        return np.zeros(3), RETYPED
    chosen = {"f": (np.nan, np.inf, -1e30), "b": (True,)}.get(other.dtype.kind, (-1, 2**31, 0))
    place = int(draws.integers(other.size))
    with np.errstate(all="ignore"):
        drawn = np.array(chosen[draws.integers(len(chosen))]).astype(other.dtype)
    other.reshape(-1)[place] = drawn
    return other, VALUE


def _npz(path: Path, draws: np.random.Generator) -> str | None:
    with np.load(path, allow_pickle=False) as stored:
        arrays = dict(stored)
    name = list(arrays)[draws.integers(len(arrays))]
    if draws.random() < 0.2:
        del arrays[name]
        word = DROPPED
    else:
        arrays[name], word = changed_array(arrays[name], draws)
    np.savez(path, **arrays)
    return word


# ---- records, videos, and what is no file -------------------------------------------------------


def _records(path: Path, draws: np.random.Generator) -> str | None:
    """The records with one feature of one episode changed, and checksums that fit."""
    from rollout_files.rlds import write_records

    from attacks.formats import rlds_episodes

    episodes = rlds_episodes()
    features = episodes[draws.integers(len(episodes))].features
    name = list(features)[draws.integers(len(features))]
    values = list(features[name])
    way = int(draws.integers(4))
    if way == 0:
        del features[name]
    elif way == 1:
        kinds: tuple[Any, ...] = (b"text", 1.5, 1)
        features[name] = [kinds[draws.integers(3)]] * len(values)
    elif way == 2:
        features[name] = values[: draws.integers(len(values))]
    else:
        strange = {bytes: (b"", b"\xff\xfe", b"{}"), int: (-1, 2, 2**62)}
        chosen = strange.get(type(values[0]), (float("nan"), float("inf"), -1e30))
        values[draws.integers(len(values))] = chosen[draws.integers(3)]
        features[name] = values
    half = len(episodes) // 2
    mine = episodes[:half] if "00000-of" in path.name else episodes[half:]
    write_records(path, [episode.encoded() for episode in mine])
    return (DROPPED, RETYPED, LENGTH, VALUE)[way]


def _video(path: Path, draws: np.random.Generator) -> str | None:
    """Another video: of another length, size or codec."""
    from rollout_files.videos import pictures, write_video

    num_frames, size = int(draws.integers(1, 12)), int(draws.choice([16, 32, 48]))
    path.unlink()
    codec = str(draws.choice(["libx264", "mpeg4"]))
    write_video(path, pictures(num_frames, seed=9, size=size), codec=codec)
    return LENGTH


def _other_kind(path: Path, draws: np.random.Generator) -> str | None:
    path.unlink()
    way = int(draws.integers(4))
    if way == 0:
        os.mkfifo(path)
    elif way == 1:
        path.mkdir()
    elif way == 2:
        path.symlink_to(path.name)
    else:
        path.write_text(
            f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n"
        )
    return KIND


CHANGES: Mapping[str, tuple[Change, ...]] = {
    ".json": (_json,),
    ".jsonl": (_json, _lines),
    ".csv": (_lines,),
    ".parquet": (_parquet,),
    ".hdf5": (_hdf5,),
    ".npz": (_npz,),
    ".mp4": (_video,),
}

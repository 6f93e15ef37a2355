"""One episode out of one RLDS record: the steps flattened into lists, one list per feature."""

# pyright: standard
# (protobuf ships no type stubs)

import io
from collections.abc import Sequence
from functools import partial

import numpy as np
from PIL import Image as PillowImage

from goalward.errors import RolloutError
from goalward.rollouts.episode import FloatArray
from goalward.rollouts.findings import Findings
from goalward.rollouts.frames import EncodedFrames
from goalward.rollouts.labels.evidence import Evidence, evidence_from_frames, evidence_from_value
from goalward.rollouts.labels.outcome import SUCCESS_FIELDS
from goalward.rollouts.readers.assembly import FoundEpisode, ReadOptions, no_proprioception
from goalward.rollouts.readers.tfrecord import Example, RecordPlace, load_record
from goalward.rollouts.signals import Signal, signals_of

_OBSERVATION = "steps/observation/"
_REWARD = "steps/reward"
TERMINAL = "steps/is_terminal"
# One value per step by the RLDS specification, so that their lengths count the steps.
_ONE_PER_STEP = ("steps/is_first", "steps/is_last", TERMINAL, _REWARD, "steps/discount")
_PROPRIOCEPTION = tuple(_OBSERVATION + name for name in ("state", "proprio", "robot_state"))
_TASKS = (
    "steps/language_instruction",
    "steps/observation/natural_language_instruction",
    "episode_metadata/language_instruction",
    "episode_metadata/natural_language_instruction",
    "episode_metadata/task",
)
_SUCCESS = (
    *(f"episode_metadata/{name}" for name in (*SUCCESS_FIELDS, "is_success")),
    "steps/success",
    "steps/is_success",
)
_OTHER_NAMES = ("episode_metadata/episode_id", "episode_metadata/file_path")
# Where a success key may lie that is given without its full name.
_PREFIXES = ("", "episode_metadata/", "steps/", _OBSERVATION)
LOOKED_FOR = ", ".join((*_SUCCESS, _REWARD))

_JPEG = b"\xff\xd8\xff"
_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_BIT_DEPTH = 24  # position of the byte in the file
_RAW_PICTURE = 32 * 32 * 3  # numbers


def read_episode(
    example: Example, place: RecordPlace, options: ReadOptions, pictures: "LastRecord"
) -> FoundEpisode:
    """The episode in a record; RolloutError if its parts do not fit together.

    `terminated` is what the last step says; whether the writer meant it is for the data set to
    tell.
    """
    cameras = _cameras(example)
    num_frames = _num_steps(example, list(cameras))
    return FoundEpisode(
        episode_id=str(place),
        num_frames=num_frames,
        proprioception=_proprioception(example, num_frames, options.proprioception),
        cameras={
            name: EncodedFrames(
                partial(pictures.of, place, name), num_frames, f"{place}, {name}", *cameras[name]
            )
            for name in options.chosen_cameras(list(cameras), str(place))
        },
        evidence=_evidence(example, num_frames, options.label.success_key),
        task=_first_text(example, _TASKS),
        action_size=_action_size(example, num_frames),
        signals=_signals(example, num_frames),
        terminated=bool(example.numbers(TERMINAL)[-1:].any()),
        other_names=tuple(filter(None, (_first_text(example, (key,)) for key in _OTHER_NAMES))),
    )


class LastRecord:
    """Pictures of the record that was asked for last: one record is in memory, never more.

    Asking for an episode frame by frame would otherwise read all of it for each frame.
    """

    def __init__(self) -> None:
        self._last: tuple[RecordPlace, Example] | None = None

    def __reduce__(self) -> tuple[type["LastRecord"], tuple[()]]:
        return LastRecord, ()  # another process reads for itself

    def of(self, place: RecordPlace, key: str) -> list[bytes]:
        last = self._last
        if last is None or last[0] != place:
            self._last = None
            last = (place, Example(load_record(place), str(place)))
            self._last = last
        return last[1].byte_strings(key)


# ---- cameras and the number of steps -------------------------------------------------------------


def _cameras(example: Example) -> dict[str, tuple[int, int, str]]:
    """The features that hold pictures, each with height, width and codec of the first.

    Depth is stored as 16-bit PNG, or as the four bytes of a float in an RGBA PNG that looks like
    any other: the name is all that tells them apart, and shown as colours they mean nothing.
    """
    cameras: dict[str, tuple[int, int, str]] = {}
    for key in example:
        if not (key.startswith(_OBSERVATION) and example.is_bytes(key)) or "depth" in key.lower():
            continue
        pictures = example.byte_strings(key)
        codecs = [_codec(picture) for picture in pictures]
        if not codecs or not codecs[0]:
            continue
        if "" in codecs:
            frame = codecs.index("")
            raise RolloutError(f"{example.where}: {key} holds no picture at frame {frame}")
        cameras[key] = (*_picture_size(pictures[0], f"{example.where}, {key}"), codecs[0])
    return cameras


def notice_pictures_of_another_kind(example: Example, findings: Findings) -> None:
    """Features that are called pictures and hold neither PNG nor JPEG."""
    for key in example:
        name = key.lower()
        if not key.startswith(_OBSERVATION) or "depth" in name:
            continue
        if "image" not in name and "rgb" not in name:
            continue
        pictures = example.byte_strings(key)[:1]
        # An embedding of an image is a few hundred numbers.
        is_raw = example.is_numbers(key) and example.size(key) >= _RAW_PICTURE * max(
            1, example.size("steps/is_first")
        )
        if is_raw or (pictures and not _codec(pictures[0])):
            findings.notice(
                f"{example.where}: {key} holds neither PNG nor JPEG of 8 bits: it is not used as "
                "a camera"
            )


def _picture_size(picture: bytes, where: str) -> tuple[int, int]:
    """Height and width from the header."""
    try:
        with PillowImage.open(io.BytesIO(picture)) as opened:
            return opened.height, opened.width
    except (
        OSError,
        ValueError,
        SyntaxError,  # Pillow's word for a broken PNG
        PillowImage.DecompressionBombError,
        PillowImage.DecompressionBombWarning,
    ) as error:
        raise RolloutError(f"{where}, frame 0: not a readable picture ({error})") from error


def _codec(picture: bytes) -> str:
    """png or jpeg; empty for anything else, and for pictures with 16 bits per pixel."""
    if picture.startswith(_JPEG):
        return "jpeg"
    is_png = picture.startswith(_PNG) and picture[_PNG_BIT_DEPTH : _PNG_BIT_DEPTH + 1] != b"\x10"
    return "png" if is_png else ""


def _num_steps(example: Example, cameras: Sequence[str]) -> int:
    sizes = {key: example.size(key) for key in (*_ONE_PER_STEP, *cameras)}
    sizes = {key: size for key, size in sizes.items() if size}
    if not sizes:
        raise RolloutError(f"{example.where}: has no steps")
    first = next(iter(sizes))
    for key, size in sizes.items():
        if size != sizes[first]:
            raise RolloutError(
                f"{example.where}: {first} has {sizes[first]} steps, {key} has {size}"
            )
    return sizes[first]


# ---- numbers -------------------------------------------------------------------------------------


def _proprioception(example: Example, num_frames: int, wanted: Sequence[str] | None) -> FloatArray:
    if wanted is None:
        keys = [key for key in _PROPRIOCEPTION if example.is_numbers(key) and example.size(key)][:1]
    else:
        keys = [_numbers_key(example, name) for name in wanted]
    if not keys:
        return no_proprioception(num_frames)
    return np.concatenate([_per_step(example, key, num_frames) for key in keys], axis=1)


def _numbers_key(example: Example, wanted: str) -> str:
    """The feature meant by its full name or the last part of it."""
    keys = [key for key in example if key.startswith("steps/") and example.is_numbers(key)]
    if wanted in keys:
        return wanted
    found = [key for key in keys if key.rsplit("/", 1)[-1] == wanted]
    if len(found) != 1:
        problem = f"feature {wanted} is ambiguous" if found else f"no feature {wanted}"
        raise RolloutError(f"{example.where}: {problem}; numbers per step: {', '.join(keys)}")
    return found[0]


def _per_step(example: Example, key: str, num_frames: int) -> FloatArray:
    """(num_frames, size) from the flattened list."""
    size = _numbers_per_step(example, key, num_frames)
    return example.numbers(key).reshape(num_frames, size).astype(np.float32)


def _numbers_per_step(example: Example, key: str, num_frames: int) -> int:
    if example.size(key) % num_frames:
        raise RolloutError(
            f"{example.where}: {key} has {example.size(key)} numbers, which do not divide into "
            f"{num_frames} steps"
        )
    return example.size(key) // num_frames


def _signals(example: Example, num_frames: int) -> tuple[Signal, ...]:
    """The usual state and all actions, where their numbers divide into steps."""
    state = [key for key in _PROPRIOCEPTION if example.is_numbers(key) and example.size(key)][:1]
    actions = [key for key in example if _is_action(key) and example.is_numbers(key)]
    return tuple(
        signal
        for key in (*state, *actions)
        if example.size(key) and example.size(key) % num_frames == 0
        for signal in signals_of(
            _per_step(example, key, num_frames),
            None,
            key.rsplit("/", 1)[-1],
            is_action=_is_action(key),
        )
    )


def _is_action(key: str) -> bool:
    return key == "steps/action" or key.startswith("steps/action/")


def _action_size(example: Example, num_frames: int) -> int:
    """Numbers per step in steps/action, or in all features below it."""
    keys = [key for key in example if _is_action(key) and example.is_numbers(key)]
    return sum(_numbers_per_step(example, key, num_frames) for key in keys)


# ---- words and labels ----------------------------------------------------------------------------


def _first_text(example: Example, keys: Sequence[str]) -> str:
    for key in keys:
        for text in example.byte_strings(key)[:1]:
            if text.strip():
                return text.decode(errors="replace").strip()
    return ""


def _evidence(example: Example, num_frames: int, success_key: str | None) -> dict[str, Evidence]:
    places = {key: key for key in (*_SUCCESS, _REWARD)}
    if success_key is not None:
        found = [prefix + success_key for prefix in _PREFIXES if prefix + success_key in example]
        places[success_key] = found[0] if found else success_key
    evidence: dict[str, Evidence] = {}
    for name, key in places.items():
        said = _evidence_from(example, key, num_frames)
        if said is not None:
            evidence[name] = said
    return evidence


def _evidence_from(example: Example, key: str, num_frames: int) -> Evidence | None:
    values = example.byte_strings(key) if example.is_bytes(key) else example.numbers(key)
    if len(values) == 0:
        return None
    if not key.startswith("steps/"):
        return evidence_from_value(values[0]) if len(values) == 1 else None
    if len(values) != num_frames:
        raise RolloutError(
            f"{example.where}: {key} has {len(values)} values for {num_frames} steps"
        )
    return evidence_from_frames(values)

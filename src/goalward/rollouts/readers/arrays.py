"""Plain arrays, for those who have their episodes in memory or generate them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from goalward.errors import RolloutError, argument
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, FloatArray, Outcome
from goalward.rollouts.frames import ArrayFrames, Image
from goalward.rollouts.readers.assembly import no_proprioception
from goalward.rollouts.readers.generated_frames import FrameFile, KeptClip
from goalward.rollouts.storage import IndexArray, Source, whole_numbers

# One array over all episodes, or one per episode.
Numbers = npt.ArrayLike | Iterable[npt.ArrayLike]
# One array over all episodes, or the frames of each: an array, a list or a generator.
Images = Image | Iterable[Image | Iterable[Image]]
# What an episode is called in errors, by its position.
Called = Callable[[int], str]


def from_arrays(
    features: Numbers | None = None,
    success: Sequence[bool] | npt.NDArray[np.bool_] | None = None,
    *,
    episode_ends: npt.ArrayLike | None = None,
    outcomes: Sequence[Outcome | str] | None = None,
    goal_frames: Sequence[int | None] | None = None,
    tasks: str | Sequence[str] = "",
    ids: Sequence[str] | None = None,
    fps: float | None = None,
    images: Mapping[str, Images] | None = None,
    proprioception: Numbers | None = None,
) -> Rollouts:
    """A data set from arrays in memory, or from generators.

    `features` and `proprioception` are a (frames, size) array per episode, or one flat array
    together with `episode_ends`. `images` maps names of cameras to the frames of each episode:
    (frames, height, width, 3) uint8 arrays, or one flat array together with `episode_ends`. What
    is not a list or an array but a generator, of episodes or of the frames of one, is run once,
    and its frames are kept in an unnamed temporary file: memory holds one frame at a time. One of
    the three has to be there, and all that are there must be of the same lengths.

    Outcomes are given as `success` (False means time-out) or as `outcomes`. `goal_frames` are
    positions within the episodes; without them the goal is the last frame of a success.

    >>> from_arrays([np.zeros((3, 2)), np.ones((4, 2))], success=[True, False])
    Rollouts(2 episodes: 1 success, 1 time_out, 0 failure; 7 frames)
    >>> films = ((np.zeros((8, 8, 3), np.uint8) for _ in range(length)) for length in (3, 4))
    >>> from_arrays(images={"front": films}, success=[True, False])
    Rollouts(2 episodes: 1 success, 1 time_out, 0 failure; 7 frames)
    """
    # First, as generating frames can take long.
    chosen = _outcomes(success, outcomes)
    given_ids = [] if ids is None else [str(name) for name in ids]

    def called(index: int) -> str:
        return f"episode {given_ids[index] if index < len(given_ids) else index}"

    lengths_of: dict[str, IndexArray] = {}
    numbers: dict[str, FloatArray] = {}
    for what, given in (("features", features), ("proprioception", proprioception)):
        if given is not None:
            numbers[what], lengths_of[what] = _flat(what, given, episode_ends, called)
    cameras = _cameras({} if images is None else images, episode_ends, called)
    for camera, clips in cameras.items():
        lengths_of[f"camera {camera}"] = np.array([clip.num_frames for clip in clips], np.int64)
    lengths = _agreed(lengths_of, called)
    count = len(lengths)
    if len(chosen) != count:
        raise RolloutError(f"{len(chosen)} labels for {count} episodes")
    task_of = [tasks] * count if isinstance(tasks, str) else list(tasks)
    names = [str(i) for i in range(count)] if ids is None else given_ids
    goals = [None] * count if goal_frames is None else list(goal_frames)
    for what, per_episode in (("tasks", task_of), ("ids", names), ("goal_frames", goals)):
        if len(per_episode) != count:
            raise RolloutError(f"{what} has {len(per_episode)} entries for {count} episodes")
    none = no_proprioception(int(lengths.sum()))
    states = np.split(numbers.get("proprioception", none), np.cumsum(lengths)[:-1])
    episodes = [
        Episode(
            id=names[i],
            num_frames=int(lengths[i]),
            outcome=chosen[i],
            goal_frame=_goal(goals[i], chosen[i], int(lengths[i])),
            task=task_of[i],
            fps=fps,
            cameras={camera: clips[i] for camera, clips in cameras.items()},
            proprioception=states[i],
        )
        for i in range(count)
    ]
    source = Source(format="arrays", path="memory", label_source="given")
    return Rollouts(episodes, features=numbers.get("features"), sources=[source])


# ---- numbers -------------------------------------------------------------------------------------


def _flat(
    what: str, given: Numbers, episode_ends: npt.ArrayLike | None, called: Called
) -> tuple[FloatArray, IndexArray]:
    """All rows one after the other, and how many each episode has."""
    if episode_ends is not None:
        flat = _as_floats(cast(npt.ArrayLike, given))
        if flat.ndim != 2:
            raise RolloutError(f"{what} must be (frames, size), got shape {flat.shape}")
        return flat, _lengths(what, len(flat), episode_ends)
    if isinstance(given, np.ndarray) and given.ndim == 2:
        raise RolloutError(f"a flat array of {what} needs episode_ends")
    parts = [_as_floats(part) for part in cast(Iterable[npt.ArrayLike], given)]
    if not parts:
        raise RolloutError(f"{what} hold no episodes")
    for index, part in enumerate(parts):
        if part.ndim != 2 or part.shape[1] != parts[0].shape[1]:
            raise RolloutError(
                f"{called(index)}: {what} have shape {part.shape}, "
                f"wanted (frames, {parts[0].shape[-1]})"
            )
    return np.concatenate(parts), np.array([len(part) for part in parts], dtype=np.int64)


def _lengths(what: str, num_rows: int, episode_ends: npt.ArrayLike) -> IndexArray:
    ends = whole_numbers(episode_ends, "episode_ends")
    if len(ends) == 0 or ends[-1] != num_rows:
        raise RolloutError(
            f"the last episode must end at the last of the {num_rows} rows of {what}"
        )
    lengths = np.diff(ends, prepend=0)
    if (lengths < 1).any():
        raise RolloutError("an episode has no frames: episode_ends must increase from above 0")
    return lengths


def _agreed(lengths_of: Mapping[str, IndexArray], called: Called) -> IndexArray:
    """The frames of each episode, on which all that was given agrees."""
    if not lengths_of:
        raise RolloutError(
            f"give {argument('features')}, {argument('images')} or {argument('proprioception')}: "
            "without any of them there are no frames"
        )
    first, lengths = next(iter(lengths_of.items()))
    for what, others in lengths_of.items():
        if len(others) != len(lengths):
            raise RolloutError(f"{len(lengths)} episodes of {first}, {len(others)} of {what}")
        for index in np.flatnonzero(others != lengths)[:1].tolist():
            raise RolloutError(
                f"{called(index)}: {lengths[index]} frames of {first}, {others[index]} of {what}"
            )
    return lengths


def _as_floats(values: npt.ArrayLike) -> FloatArray:
    with np.errstate(over="ignore"):  # too large becomes infinite and is refused as such
        return np.asarray(values).astype(np.float32, copy=False)


# ---- images --------------------------------------------------------------------------------------


def _cameras(
    images: Mapping[str, Images], episode_ends: npt.ArrayLike | None, called: Called
) -> dict[str, list[ArrayFrames]]:
    """The frames of every camera, an entry per episode."""
    if not isinstance(images, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise RolloutError(
            f"{argument('images')} maps names of cameras to frames, got a {type(images).__name__}"
        )
    found: dict[str, list[ArrayFrames | KeptClip]] = {}
    with FrameFile() as file:
        for camera, given in images.items():
            found[camera] = []
            for index, clip in enumerate(_clips(camera, given, episode_ends)):
                where = f"{called(index)}, camera {camera}"
                if _is_held(given) and _is_held(clip):
                    found[camera].append(ArrayFrames(_as_frames(clip, where), where))
                else:
                    found[camera].append(file.keep(clip, where))
            if not found[camera]:
                raise RolloutError(f"camera {camera} has no episodes")
        # What was generated can be looked at once all of it lies in the file.
        return {
            camera: [file.frames(clip) if isinstance(clip, KeptClip) else clip for clip in clips]
            for camera, clips in found.items()
        }


def _clips(
    camera: str, given: Images, episode_ends: npt.ArrayLike | None
) -> Iterable[Image | Iterable[Image]]:
    if not isinstance(given, np.ndarray) or given.ndim != 4:  # pyright: ignore[reportUnknownMemberType]
        return cast(Iterable[Image | Iterable[Image]], given)
    if episode_ends is None:
        raise RolloutError(f"a flat array of images (camera {camera}) needs episode_ends")
    flat = cast(Image, given)
    lengths = _lengths(f"camera {camera}", len(flat), episode_ends)
    return np.split(flat, np.cumsum(lengths)[:-1])


def _is_held(given: object) -> bool:
    """Arrays and lists can be looked at again; what a generator gives comes once."""
    return isinstance(given, list | tuple) or hasattr(given, "__array__")


def _as_frames(clip: Any, where: str) -> Image:
    try:
        return np.asarray(clip)
    except ValueError as error:
        raise RolloutError(f"{where}: its frames differ in size") from error


# ---- labels --------------------------------------------------------------------------------------


def _outcomes(
    success: Sequence[bool] | npt.NDArray[np.bool_] | None,
    outcomes: Sequence[Outcome | str] | None,
) -> list[Outcome]:
    if (success is None) == (outcomes is None):
        raise RolloutError(
            "give either success or outcomes: the label of an episode is not guessed"
        )
    if outcomes is not None:
        try:
            chosen = [Outcome(outcome) for outcome in outcomes]
        except ValueError as error:
            raise RolloutError(str(error)) from error
    else:
        assert success is not None
        values = [_as_bool(value) for value in success]
        chosen = [Outcome.SUCCESS if value else Outcome.TIME_OUT for value in values]
    return chosen


def _as_bool(value: object) -> bool:
    """True or false, 0 or 1; the word "False" is true to Python and an error here."""
    if isinstance(value, str | bytes) or value not in (0, 1):
        raise RolloutError(f"success must be true or false for every episode, got {value!r}")
    return bool(value)


def _goal(goal_frame: int | None, outcome: Outcome, num_frames: int) -> int | None:
    if goal_frame is None or goal_frame == -1:
        return num_frames - 1 if outcome is Outcome.SUCCESS else None
    return int(whole_numbers([goal_frame], "goal_frames")[0])

"""Rerun recordings: videos, values and events of an episode on one time line."""

# pyright: standard
# (rerun is optional and may not be installed)

import hashlib
import io
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image as PillowImage

from goalward.errors import GoalwardError, argument
from goalward.exports.written import Written, episode_paths, errors_of_episode
from goalward.files import written_whole
from goalward.looks import EVENT_LOOKS, channels, looks_of
from goalward.progress import OnProgress, unheard
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode
from goalward.rollouts.frames import FrameSource, update_with_parts
from goalward.rollouts.video.browser import DEFAULT_FPS, write_browser_video
from goalward.rollouts.video.reading import VideoFrames
from goalward.runs.curves import Curves
from goalward.runs.run import Run
from goalward.values.events import Event, event_words

APPLICATION = "goalward"
SUFFIX = ".rrd"
_JPEG_QUALITY = 90


def import_rerun() -> Any:
    """The module; a clear word where it is not installed."""
    try:
        import rerun
        import rerun.blueprint
    except ImportError as error:
        raise GoalwardError(
            f"{argument('to', 'rerun')} needs the package rerun-sdk: pip install 'goalward[rerun]'"
        ) from error
    return rerun


def export_rerun(
    run: Run,
    rollouts: Rollouts,
    methods: Sequence[str],
    positions: Sequence[int],
    *,
    out: Path,
    on_progress: OnProgress = unheard,
) -> Written:
    """A recording per episode into the folder `out`, or into the file `out` if it ends in .rrd.

    Values of all `methods` are in it, events are those that the first one sees. `rollouts` are
    all of the run.
    """
    import_rerun()
    paths = episode_paths(run, positions, out, SUFFIX)
    events = run.events_by(methods[0])
    for so_far, (position, path) in enumerate(zip(positions, paths, strict=True)):
        on_progress(so_far, len(positions))
        curves = [run.curves(method).part(run.frames_of(position)) for method in methods]
        episode = rollouts[position]
        with (
            written_whole(path) as temporary,
            _Recording(run, episode, methods) as recording,
        ):
            with errors_of_episode(episode.id):
                recording.add_cameras()
            for curve in curves:
                recording.add_curve(curve)
            recording.add_events(events[episode.id], curves[0])
            temporary.write_bytes(recording.content())
    return Written(out, f"rerun {out if paths == [out] else out / f'*{SUFFIX}'}")


def recording_id(run: Run, episode_id: str, methods: Sequence[str]) -> str:
    """The same for the same episode, run and methods: opened again, it replaces the older one.

    Other runs and methods have other ids, so that the viewer shows them side by side. Rerun warns
    of characters other than letters, digits, '-' and '_'.
    """
    digest = hashlib.blake2b(digest_size=6)
    update_with_parts(
        digest,
        *(part.encode() for part in (str(run.folder.path.resolve()), episode_id, *methods)),
    )
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", f"{run.policy}-{episode_id}")[:80]
    return f"{readable}-{digest.hexdigest()}"


class _Recording:
    """One episode on its way into a file."""

    def __init__(self, run: Run, episode: Episode, methods: Sequence[str]) -> None:
        self._rr = import_rerun()
        self._run = run
        self._episode = episode
        self._fps = episode.fps
        self._camera_paths = {
            camera: self._rr.new_entity_path(["cameras", camera]) for camera in episode.cameras
        }
        self._stream = self._rr.RecordingStream(
            APPLICATION,
            recording_id=recording_id(run, episode.id, methods),
            send_properties=False,
        )
        # In memory: where the disk is full, rerun's own writer leaves half a file and goes on.
        self._bytes = self._stream.binary_stream()
        self._stream.send_blueprint(self._blueprint(methods[0]))
        task = f", {episode.task}" if episode.task else ""
        self._stream.send_recording_name(f"episode {episode.id}: {episode.outcome}{task}"[:200])

    def __enter__(self) -> "_Recording":
        return self

    def __exit__(self, *_: object) -> None:
        # What nobody reads rerun warns of, in lines between ours.
        self._bytes.read()
        self._stream.disconnect()

    def add_cameras(self) -> None:
        for camera, source in self._episode.cameras.items():
            if isinstance(source, VideoFrames):
                self._add_video(self._camera_paths[camera], source)
            else:
                self._add_pictures(self._camera_paths[camera], source)

    def _add_video(self, path: str, source: FrameSource) -> None:
        rr = self._rr
        fps = DEFAULT_FPS if self._fps is None else self._fps
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "video.mp4"
            write_browser_video(source, file, fps)
            video = rr.AssetVideo(path=file)
            shown_at = video.read_frame_timestamps_nanos()
            self._stream.log(path, video, static=True)
        if len(shown_at) != source.num_frames:
            raise GoalwardError(f"{source.num_frames} frames became a video of {len(shown_at)}")
        self._stream.send_columns(
            path,
            indexes=self._times(np.arange(len(shown_at))),
            columns=rr.VideoFrameReference.columns_nanos(shown_at),
        )

    def _add_pictures(self, path: str, source: FrameSource) -> None:
        rr = self._rr
        for number, picture in enumerate(source):
            coded = io.BytesIO()
            PillowImage.fromarray(picture).save(coded, "jpeg", quality=_JPEG_QUALITY)
            self._stream.send_columns(
                path,
                indexes=self._times(np.array([number])),
                columns=rr.EncodedImage.columns(blob=[coded.getvalue()], media_type=["image/jpeg"]),
            )

    def add_curve(self, curve: Curves) -> None:
        """In the method's own colour: hindsight, its spread over seeds and its steps to go; the
        value thin beside each."""
        method, limit = curve.method, self._run.time_limit
        color = channels(looks_of(self._run.values.methods)[method].colour)
        at_the_time = f"{method} at the time"
        self._add_line(["hindsight", method], f"{method} in hindsight", curve.hindsight, color, 2.0)
        self._add_line(["value", method], at_the_time, curve.value, color, 1.0)
        if curve.hindsight_spread.any():
            for name, sign in (("low", -1), ("high", 1)):
                label = f"{method} {'-' if sign < 0 else '+'} sd over seeds"
                edge = curve.hindsight + sign * curve.hindsight_spread
                self._add_line(["spread", method, name], label, edge, color, 0.7)
        for path, label, steps, width in (
            ("hindsight_steps_to_go", f"{method} in hindsight", curve.hindsight_steps, 2.0),
            ("steps_to_go", at_the_time, curve.steps, 1.0),
        ):
            self._add_line([path, method], label, np.minimum(steps, limit), color, width)

    def _add_line(
        self,
        path: Sequence[str],
        name: str,
        numbers: npt.NDArray[np.floating],
        color: tuple[int, int, int],
        width: float,
    ) -> None:
        rr = self._rr
        entity = rr.new_entity_path(list(path))
        line = rr.SeriesLines(names=name, colors=color, widths=width)
        self._stream.log(entity, line, static=True)
        self._stream.send_columns(
            entity,
            indexes=self._times(np.arange(len(numbers))),
            columns=rr.Scalars.columns(scalars=np.asarray(numbers, dtype=np.float64)),
        )

    def add_events(self, events: Sequence[Event], curve: Curves) -> None:
        """As lines of text, and as marks on the value, those of each kind in their colour."""
        if not events:
            return
        rr = self._rr
        self._stream.send_columns(
            "/events",
            indexes=self._times(np.array([event.frame for event in events])),
            columns=rr.TextLog.columns(
                text=[event_words(event, self._run.time_limit) for event in events],
                level=["INFO"] * len(events),
            ),
        )
        for kind in dict.fromkeys(event.kind for event in events):
            at = np.array([event.frame for event in events if event.kind is kind])
            look, entity = EVENT_LOOKS[kind], f"/value/events/{kind}"
            marks = rr.SeriesPoints(
                names=look.plural, colors=channels(look.colour), markers="diamond"
            )
            self._stream.log(entity, marks, static=True)
            self._stream.send_columns(
                entity,
                indexes=self._times(at),
                columns=rr.Scalars.columns(scalars=curve.value[at]),
            )

    def content(self) -> bytes:
        content = self._bytes.read()
        if not content:
            raise GoalwardError(f"episode {self._episode.id}: rerun made an empty recording")
        return content

    def _times(self, frames: npt.NDArray[np.int64]) -> list[Any]:
        times = [self._rr.TimeColumn("frame", sequence=frames)]
        if self._fps is not None:
            times.append(self._rr.TimeColumn("time", duration=frames / self._fps))
        return times

    def _blueprint(self, method: str) -> Any:
        """Cameras beside curves, the events below; the band of one method, or nothing is seen."""
        blueprint = self._rr.blueprint
        band = self._rr.new_entity_path(["spread", method])
        cameras = [
            blueprint.Spatial2DView(origin=path, name=camera)
            for camera, path in self._camera_paths.items()
        ]
        curves = blueprint.Vertical(
            blueprint.TimeSeriesView(
                contents=["+ /hindsight/**", "+ /value/**", f"+ {band}/**"],
                name="value (-1 at the goal, 1 never)",
            ),
            blueprint.TimeSeriesView(
                contents=["+ /hindsight_steps_to_go/**", "+ /steps_to_go/**"], name="steps to go"
            ),
            blueprint.TextLogView(origin="/events", name="events"),
            row_shares=[3, 2, 1],
        )
        shown = blueprint.Horizontal(blueprint.Vertical(*cameras), curves) if cameras else curves
        return blueprint.Blueprint(
            shown,
            blueprint.BlueprintPanel(state="collapsed"),
            blueprint.SelectionPanel(state="collapsed"),
            blueprint.TimePanel(state="collapsed", timeline="frame", fps=self._fps),
        )

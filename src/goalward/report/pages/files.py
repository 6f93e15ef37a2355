"""A report on disk: its index.html opens in any browser, without a server and a network."""

import hashlib
import logging
import re
from dataclasses import asdict
from pathlib import Path

from goalward.code_version import code_digest
from goalward.errors import GoalwardError, RolloutError, argument
from goalward.files import check_folder
from goalward.leftovers import sweep
from goalward.locks import alone_in
from goalward.looks import EVENT_LOOKS
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.progress import OnProgress, progress_bar, unheard
from goalward.report.figures.sheet import write_sheet
from goalward.report.pages.assets import INDEX, SITE, write_assets
from goalward.report.pages.episodes import (
    SPARK_SCALE,
    VALUE_SCALE,
    episode_curves,
    signal_lines,
    table_rows,
)
from goalward.report.pages.front import front_page
from goalward.report.pages.marks import write_marks
from goalward.report.pages.media import (
    EpisodeMedia,
    remove_unused,
    videos_in_order,
    write_thumbs,
)
from goalward.report.pages.scripts import is_whole, write_script
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.video.browser import DEFAULT_FPS
from goalward.run_folder import RunFolder
from goalward.runs.folder.stored import check_run_folder, open_run
from goalward.runs.run import Run
from goalward.values.events import EVENTS_OF, EventKind

_log = logging.getLogger("goalward.report")

_LOWEST_VIDEO = 16
# All that turns a run into pages.
_ROOMS = ("rollouts", "targets", "training", "values", "metrics", "runs", "report")
_KEY = re.compile(rb'"key":"([0-9a-f]{32})"')
_EPISODE_FILE = re.compile(r"[0-9]{6,}\.js")


def write_report(
    run: Run | str | Path,
    out: str | Path | None = None,
    *,
    data: str | Path | None = None,
    videos: bool = True,
    max_height: int = 480,
    progress: bool = True,
) -> Path:
    """Write a run, or the one in a folder, as pages to look at, and say which file to open.

    They go into `out`, or into the folder `report` of the run, and open from disk in any browser.
    `data` is where the rollouts lie now, if that is not where the run saw them; where they cannot
    be found, a warning says so and there are curves without pictures. Videos higher than
    `max_height` pixels are made smaller; without `videos` the curves play alone, and there are
    pictures of the episodes to watch first only: a small report. Stopped and called again, it goes
    on. `progress` shows bars on a terminal.
    """
    if max_height < _LOWEST_VIDEO:
        raise GoalwardError(
            f"{argument('max_height')} must be at least {_LOWEST_VIDEO} pixels, got {max_height}"
        )
    here = run.folder if isinstance(run, Run) else RunFolder(Path(run))
    if not isinstance(run, Run):
        check_run_folder(here)
    # A report inside a run is of its files as they are: nobody may be making others.
    with alone_in(here.path if out is None else Path(out)):
        run = run if isinstance(run, Run) else open_run(run)
        rollouts = None
        try:
            with progress_bar("reading", is_shown=progress) as update:
                rollouts = run.read_rollouts(data, update)
        except GoalwardError as error:
            if data is not None:
                raise
            moved = f"; give {argument('data')} if the rollouts lie elsewhere"
            _log.warning("no pictures: %s%s", error, moved if run.settings.data.path else "")
        folder = run.folder.report if out is None else Path(out)
        truth = run.read_truth(data)
        with progress_bar("report", unit="episodes", is_shown=progress) as update:
            return write_pages(
                run,
                rollouts,
                folder,
                truth=truth,
                videos=videos,
                max_height=max_height,
                on_progress=update,
            )


def write_pages(
    run: Run,
    rollouts: Rollouts | None,
    folder: Path,
    *,
    truth: FrameTruth | None = None,
    videos: bool = True,
    max_height: int = 480,
    on_progress: OnProgress = unheard,
) -> Path:
    """Write a run as pages into `folder`, and say which file to open.

    The page opens from the first second on: numbers and curves come first, then the videos, one
    episode after the other, those worth watching before the rest. Stopped and run again, it goes
    on: videos are kept, under names that tell their content. `rollouts` are those of the run, in
    its order; without them there are curves and no pictures.
    """
    if rollouts is not None and rollouts.ids != tuple(episode.id for episode in run.episodes):
        raise GoalwardError(f"{run.folder.path}: the rollouts are not those of the run")
    check_folder(folder)
    sweep(folder, below=True)
    site = _Site(run, rollouts, folder, truth)
    is_same = site.write_pages()
    if rollouts is not None or not is_same:
        site.write_pictures(videos, max_height, on_progress)
    return folder / INDEX


class _Site:
    """One report in the making: what is known of the run, and what was written so far."""

    def __init__(
        self, run: Run, rollouts: Rollouts | None, folder: Path, truth: FrameTruth | None
    ) -> None:
        self.run = run
        self.rollouts = rollouts
        self.folder = folder
        self.truth = truth
        self.curves = [run.curves(method) for method in run.values.methods]
        self.front = front_page(run, rollouts)
        self.rows = table_rows(run, self.curves[0])
        self.watch = run.scores.policy.watch_first
        self.media = [EpisodeMedia()] * len(run.episodes)
        self.sheets: dict[int, list[str]] = {}
        self.key = _key_of(run, truth)

    def write_pages(self) -> bool:
        """All of the report but its pictures; true if it was there already, of the same run.

        Then its pictures stay until there are new ones.
        """
        numbers = self.folder / "data" / "run.js"
        is_same = is_whole(numbers) and _key_in(numbers) == self.key
        for position in range(len(self.run.episodes)):
            if not (is_same and is_whole(self._episode_file(position))):
                self._write_episode(position)
        if not is_same:
            self._write_run()
        write_assets(self.folder)
        write_marks(self.run.folder, self.folder)
        for file in (self.folder / "data" / "episodes").glob("*.js"):
            is_number = _EPISODE_FILE.fullmatch(file.name) is not None
            if is_number and int(file.stem) >= len(self.run.episodes):
                file.unlink()
        return is_same

    def write_pictures(self, videos: bool, max_height: int, on_progress: OnProgress) -> None:
        """Pictures episode by episode, those worth watching first; then their contact sheets."""
        first = list(dict.fromkeys(found.episode for found in self.watch))
        order = [*first, *(i for i in range(len(self.rows)) if i not in set(first))]
        # A report without videos is to be small: pictures of what to watch first, and no sheets,
        # which are larger than all of its numbers; `goalward sheet` draws them.
        is_small = self.rollouts is not None and not videos
        sheets = [] if is_small else first
        total = len(order) + len(sheets)
        on_progress(0, total)
        if self.rollouts is not None:
            filmed = self.rollouts
            wanted = [filmed[position] for position in order if videos]
            with videos_in_order(wanted, self.folder, max_height) as made:
                for so_far, position in enumerate(order, start=1):
                    cameras = next(made) if videos else ()
                    frames = self._frames_to_show(position)
                    if is_small and position not in first:
                        frames = set()
                    thumbs = write_thumbs(filmed[position], frames, self.folder)
                    fps = filmed[position].fps or DEFAULT_FPS
                    self.media[position] = EpisodeMedia(fps, cameras, thumbs)
                    self._write_episode(position)
                    if so_far == len(first):
                        self._write_run()
                    on_progress(so_far, total)
        for so_far, position in enumerate(sheets, start=len(order) + 1):
            self.sheets[position] = self._write_sheet(position)
            self._write_episode(position)
            on_progress(so_far, total)
        self._write_run()
        if self.rollouts is not None and videos:
            shown = {address for media in self.media for address in media.addresses}
            drawn = {address for sheet in self.sheets.values() for address in sheet}
            remove_unused(self.folder, shown | drawn)
        on_progress(total, total)

    def _frames_to_show(self, position: int) -> set[int]:
        events = self.run.events[self.run.episodes[position].id]
        watched = {found.frame for found in self.watch if found.episode == position}
        return {event.frame for event in events} | watched

    def _write_sheet(self, position: int) -> list[str]:
        """The contact sheet of an episode: addresses of its PNG, SVG and PDF.

        A sheet takes a second or two; its name tells what it was made from, and one that is there
        is kept.
        """
        episode_id = self.run.episodes[position].id
        made_from = f"{self.key} {self.rollouts is not None}"
        digest = hashlib.blake2b(made_from.encode(), digest_size=4).hexdigest()
        name = f"{position:06d}_{digest}"
        folder = self.folder / "sheets"
        written = [folder / f"{name}{suffix}" for suffix in (".png", ".svg", ".pdf")]
        if not all(file.is_file() for file in written):
            for rollouts in (self.rollouts, None):
                try:
                    write_sheet(self.run, rollouts, episode_id, folder / name, truth=self.truth)
                    break
                except RolloutError:
                    # A camera that cannot be decoded: the player says so.
                    continue
        return [f"sheets/{file.name}" for file in written]

    def _write_episode(self, position: int) -> None:
        media = self.media[position]
        content = episode_curves(self.run, position, self.curves, self.truth) | {
            "fps": media.fps,
            "cameras": [asdict(camera) for camera in media.cameras],
            "sheet": self.sheets.get(position, []),
            "signals": [] if self.rollouts is None else signal_lines(self.rollouts[position]),
        }
        for event in content["events"]:
            event["thumb"] = media.thumbs.get(event["frame"])
        write_script(self._episode_file(position), "episode", content)

    def _write_run(self) -> None:
        content = {
            "key": self.key,
            "front": self.front,
            "watch": [
                {
                    "position": found.episode,
                    "frame": found.frame,
                    "reason": found.reason,
                    "thumb": self.media[found.episode].thumbs.get(found.frame),
                }
                for found in self.watch
            ],
            "events_of": EVENTS_OF,
            "event_kinds": list(EventKind),
            "event_words": {
                kind: {"one": EVENT_LOOKS[kind].word, "many": EVENT_LOOKS[kind].plural}
                for kind in EventKind
            },
            "episodes": self.rows,
            "run_name": self.run.folder.path.name,
            "discount": self.run.discount,
            "time_limit": self.run.time_limit,
            "value_scale": VALUE_SCALE,
            "spark_scale": SPARK_SCALE,
        }
        write_script(self.folder / "data" / "run.js", "run", content)

    def _episode_file(self, position: int) -> Path:
        return self.folder / "data" / "episodes" / f"{position:06d}.js"


def _key_of(run: Run, truth: FrameTruth | None) -> str:
    """What the numbers of a report depend on, as 32 hexadecimal digits.

    Also on all that turns a run into pages: a newer page would not understand older numbers.
    """
    digest = hashlib.blake2b(code_digest(*_ROOMS).encode(), digest_size=16)
    own = run.folder
    numbers = (own.config, own.episodes, own.values, own.scores, own.events, own.training_log)
    for path in (*sorted(SITE.iterdir()), *(path for path in numbers if path.is_file())):
        digest.update(path.name.encode() + hashlib.blake2b(path.read_bytes()).digest())
    if truth is not None:
        digest.update(repr((truth.episode_ids, truth.cap)).encode())
        digest.update(truth.frame_indices.tobytes() + truth.steps.tobytes())
    return digest.hexdigest()


def _key_in(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            found = _KEY.search(file.read(200))
    except OSError:
        return None
    return None if found is None else found[1].decode()

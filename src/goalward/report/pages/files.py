"""A report on disk: its index.html opens in any browser, without a server and a network."""

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import goalward
from goalward.errors import GoalwardError, RolloutError
from goalward.files import check_folder, written_whole
from goalward.report.figures.sheet import truth_beside, write_sheet
from goalward.report.pages.episodes import (
    SPARK_SCALE,
    VALUE_SCALE,
    episode_curves,
    table_rows,
    watch_first,
)
from goalward.report.pages.front import front_page, read_scores
from goalward.report.pages.media import (
    EpisodeMedia,
    remove_unused,
    videos_in_order,
    write_thumbs,
)
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.video.browser import DEFAULT_FPS
from goalward.values.events import Event, EventKind, run_events
from goalward.values.finished_run import FinishedRun

INDEX = "index.html"
_KEY = re.compile(rb'"key":"([0-9a-f]{32})"')
_EPISODE_FILE = re.compile(r"[0-9]{6,}\.js")


def write_report(
    run: FinishedRun,
    rollouts: Rollouts | None,
    folder: Path,
    *,
    data: Path | None = None,
    videos: bool = True,
    max_height: int = 480,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Path:
    """Write a run as pages into `folder`, and say which file to open.

    The page opens from the first second on: numbers and curves come first, then the videos, one
    episode after the other, those worth watching before the rest. Stopped and run again, it goes
    on: videos are kept, under names that tell their content. `rollouts` are those of the run, in
    its order; without them there are curves and no pictures. `data` is where they lie now, if
    that is not where the run saw them.
    """
    if rollouts is not None and rollouts.ids != tuple(episode.id for episode in run.episodes):
        raise GoalwardError(f"{run.folder.path}: the rollouts are not those of the run")
    check_folder(folder)
    site = _Site(run, rollouts, folder, data)
    is_same = site.write_pages()
    if rollouts is not None or not is_same:
        site.write_pictures(videos, max_height, on_progress)
    return folder / INDEX


class _Site:
    """One report in the making: what is known of the run, and what was written so far."""

    def __init__(
        self, run: FinishedRun, rollouts: Rollouts | None, folder: Path, data: Path | None
    ) -> None:
        self.run = run
        self.rollouts = rollouts
        self.folder = folder
        self.scores = read_scores(run)
        self.events: Mapping[str, tuple[Event, ...]] = run_events(run)
        self.truth = truth_beside(run, data)
        self.watch = watch_first(run, self.scores)
        self.rows = table_rows(run, self.events)
        self.media = [EpisodeMedia()] * len(run.episodes)
        self.sheets: dict[int, list[str]] = {}
        self.key = _key_of(run)

    def write_pages(self) -> bool:
        """All of the report but its pictures; true if it was there already, of the same run.

        Then its pictures stay until there are new ones.
        """
        is_same = _key_in(self.folder / "data" / "run.js") == self.key
        for position in range(len(self.run.episodes)):
            if not (is_same and self._episode_file(position).is_file()):
                self._write_episode(position)
        if not is_same:
            self._write_run()
        _write_assets(self.folder)
        for file in (self.folder / "data" / "episodes").glob("*.js"):
            is_number = _EPISODE_FILE.fullmatch(file.name) is not None
            if is_number and int(file.stem) >= len(self.run.episodes):
                file.unlink()
        return is_same

    def write_pictures(
        self, videos: bool, max_height: int, on_progress: Callable[[int, int], None]
    ) -> None:
        """Pictures episode by episode, those worth watching first; then their contact sheets."""
        first = list(dict.fromkeys(found["position"] for found in self.watch))
        order = [*first, *(i for i in range(len(self.rows)) if i not in set(first))]
        total = len(order) + len(first)
        on_progress(0, total)
        if self.rollouts is not None:
            filmed = self.rollouts
            wanted = [filmed[position] for position in order if videos]
            with videos_in_order(wanted, self.folder, max_height) as made:
                for done, position in enumerate(order, start=1):
                    cameras = next(made) if videos else ()
                    thumbs = write_thumbs(
                        filmed[position], self._frames_to_show(position), self.folder
                    )
                    fps = filmed[position].fps or DEFAULT_FPS
                    self.media[position] = EpisodeMedia(fps, cameras, thumbs)
                    self._write_episode(position)
                    if done == len(first):
                        self._write_run()
                    on_progress(done, total)
        for done, position in enumerate(first, start=len(order) + 1):
            self.sheets[position] = self._write_sheet(position)
            self._write_episode(position)
            on_progress(done, total)
        self._write_run()
        if self.rollouts is not None and videos:
            shown = {address for media in self.media for address in media.addresses}
            sheets = {address for sheet in self.sheets.values() for address in sheet}
            remove_unused(self.folder, shown | sheets)
        on_progress(total, total)

    def _frames_to_show(self, position: int) -> set[int]:
        events = self.events.get(self.run.episodes[position].id, ())
        watched = {found["frame"] for found in self.watch if found["position"] == position}
        return {event.frame for event in events} | watched

    def _write_sheet(self, position: int) -> list[str]:
        """The contact sheet of an episode: addresses of its PNG, SVG and PDF.

        A sheet takes a second or two; its name tells what it was made from, and one that is there
        is kept.
        """
        episode = self.run.episodes[position]
        made_from = f"{self.key} {self.rollouts is not None}"
        digest = hashlib.blake2b(made_from.encode(), digest_size=4).hexdigest()
        name = f"{position:06d}_{digest}"
        folder = self.folder / "sheets"
        written = [folder / f"{name}{suffix}" for suffix in (".png", ".svg", ".pdf")]
        if not all(file.is_file() for file in written):
            events = self.events.get(episode.id, ())
            for rollouts in (self.rollouts, None):
                try:
                    write_sheet(
                        self.run,
                        rollouts,
                        episode.id,
                        folder / name,
                        events=events,
                        truth=self.truth,
                    )
                    break
                except RolloutError:
                    # A camera that cannot be decoded: the player says so.
                    continue
        return [f"sheets/{file.name}" for file in written]

    def _write_episode(self, position: int) -> None:
        episode = self.run.episodes[position]
        media = self.media[position]
        content = episode_curves(
            self.run, position, self.events.get(episode.id, ()), self.truth
        ) | {
            "fps": media.fps,
            "cameras": [asdict(camera) for camera in media.cameras],
            "sheet": self.sheets.get(position, []),
        }
        for event in content["events"]:
            event["thumb"] = media.thumbs.get(event["frame"])
        _write_text(self._episode_file(position), script_text("episode", content))

    def _write_run(self) -> None:
        watch = [
            found | {"thumb": self.media[found["position"]].thumbs.get(found["frame"])}
            for found in self.watch
        ]
        content = {
            "key": self.key,
            "goalward": goalward.__version__,
            "front": front_page(self.run, self.scores, self.rollouts),
            "watch": watch,
            "event_kinds": [str(kind) for kind in EventKind],
            "episodes": self.rows,
            "discount": self.run.discount,
            "time_limit": self.run.time_limit,
            "value_scale": VALUE_SCALE,
            "spark_scale": SPARK_SCALE,
        }
        _write_text(self.folder / "data" / "run.js", script_text("run", content))

    def _episode_file(self, position: int) -> Path:
        return self.folder / "data" / "episodes" / f"{position:06d}.js"


def script_text(kind: str, content: Mapping[str, Any]) -> str:
    """A script that hands JSON to the page, which a page from disk may not fetch.

    No name can end the script or begin markup: what could is written as an escape, and so is all
    that is not ASCII (U+2028 ends a line of JavaScript, but not a string of JSON).

    >>> script_text("run", {"id": "</script>é"})
    'goalward.receive("run",{"id":"\\\\u003c/script\\\\u003e\\\\u00e9"});\\n'
    """
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'goalward.receive("{kind}",{text});\n'


def _key_of(run: FinishedRun) -> str:
    """What the numbers of a report depend on, as 32 hexadecimal digits.

    Also on what writes and shows them: a newer page would not understand older numbers.
    """
    digest = hashlib.blake2b(goalward.__version__.encode(), digest_size=16)
    for source in (*_page_files(), *sorted(Path(__file__).parent.glob("*.py"))):
        digest.update(source.read_bytes())
    folder = run.folder
    for path in (folder.config, folder.episodes, folder.values, folder.scores, folder.summary):
        if path.is_file():
            digest.update(hashlib.blake2b(path.read_bytes()).digest())
    return digest.hexdigest()


def _key_in(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            found = _KEY.search(file.read(200))
    except OSError:
        return None
    return None if found is None else found[1].decode()


def _write_text(path: Path, text: str) -> None:
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _write_assets(folder: Path) -> None:
    """The page's own files, and the chart library from where Python has it."""
    for source in _page_files():
        place = folder if source.name == INDEX else folder / "assets"
        _write_text(place / source.name, source.read_text(encoding="utf-8"))
    library = _chart_library()
    copy = folder / "assets" / library.name
    if not copy.is_file() or copy.stat().st_size != library.stat().st_size:
        with written_whole(copy) as temporary:
            shutil.copyfile(library, temporary)


def _page_files() -> list[Traversable]:
    found = sorted(files("goalward.report.pages").joinpath("site").iterdir(), key=str)
    return [file for file in found if file.name.endswith((".html", ".css", ".js"))]


def _chart_library() -> Path:
    # Found, not imported: importing plotly takes a second.
    spec = find_spec("plotly")
    places: Sequence[str] = [] if spec is None else spec.submodule_search_locations or []
    for place in places:
        library = Path(place) / "package_data" / "plotly.min.js"
        if library.is_file():
            return library
    raise GoalwardError("the package plotly has no plotly.min.js: install it again")

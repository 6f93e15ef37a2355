"""A real browser over real reports, opened from disk.

Without a browser these tests skip and say so; with GOALWARD_REQUIRE_BROWSER=1 they fail instead.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.report.pages.files import write_pages, write_report
from goalward.rollouts.episode import Outcome
from report.pages.browser.demo_run import write_demo_run

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Whatever a picture or a page takes where other programs want the cores too.
PATIENCE_MS = 60_000
POLL_MS = 30


def browser_file() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        problem = f"no browser here: none of {', '.join(BROWSERS)} is installed"
        if os.environ.get("GOALWARD_REQUIRE_BROWSER") == "1":
            pytest.fail(problem)
        pytest.skip(problem)
    return found


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    # Chromium's sandbox refuses to run as root, which is who runs CI in a container.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=browser_file(), args=arguments)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def demo_report(tmp_path_factory) -> Path:
    """Three successes and three time-outs with two cameras each; the time-outs slip half way."""
    return write_report(write_demo_run(tmp_path_factory.mktemp("demo")))


@pytest.fixture(scope="session")
def odd_report(tmp_path_factory) -> Path:
    """Episodes by number of cameras, one with a name that wants to be markup, one that is lost."""
    folder = tmp_path_factory.mktemp("odd")
    cameras = {f"observation.images.{name}": (48, 64) for name in ("left", "right", "wrist")}
    episodes = [
        drawn_episode("three", 40, shapes=cameras, fps=20.0, outcome=Outcome.SUCCESS),
        drawn_episode("one", 40, shapes={"front": (64, 48)}, fps=20.0),
        drawn_episode("none", 30, task="lift"),
        drawn_episode("<img src=x onerror=alert(1)>", 20, task="</script><b>bold"),
        drawn_episode("damaged", 40, shapes={"a": (48, 48), "b": (32, 32)}, fps=20.0),
        drawn_episode("\u202ebackwards", 20, task="\u202efold"),
        drawn_episode("x" * 300, 20),
    ]
    steps = [countdown(40), countdown(40), np.full((2, 30), np.inf), countdown(20), countdown(40)]
    steps += [countdown(20), countdown(20)]
    run, rollouts = drawn_run(episodes, {"td": steps, "mc": steps}, folder)
    index = write_pages(run, rollouts, folder / "report")
    damaged = (folder / "report" / "data" / "episodes" / "000004.js").read_text()
    video = folder / "report" / damaged.split('"video":"')[1].split('"')[0]
    video.write_bytes(b"no video at all")
    return index


@pytest.fixture(scope="session")
def long_report(tmp_path_factory) -> Path:
    """120 episodes and no pictures; values that tell the successes from the others."""
    folder = tmp_path_factory.mktemp("long")
    outcomes = [Outcome.SUCCESS, Outcome.TIME_OUT] * 60
    episodes = [drawn_episode(f"take {i}", 20, outcome=o) for i, o in enumerate(outcomes)]
    run, _ = drawn_run(episodes, {"td": [countdown(20), countdown(20) + 15] * 60}, folder)
    return write_pages(run, None, folder / "report")


@pytest.fixture(scope="session")
def full_report(tmp_path_factory) -> Path:
    """All that a front page shows of one task: six episodes to watch with pictures, the truth."""
    folder = tmp_path_factory.mktemp("full")
    episodes = [
        drawn_episode(
            f"take {i}",
            60,
            outcome=Outcome.SUCCESS if i % 2 else Outcome.TIME_OUT,
            shapes={"front": (64, 48), "wrist": (64, 48)},
            fps=10.0,
        )
        for i in range(16)
    ]
    ways = {
        "countdown": np.arange(60.0)[::-1],
        "setback": np.concatenate([np.arange(40.0, 10, -1), np.full(30, 50.0)]),
        "stall": np.full(60, 40.0),
        "near miss": np.concatenate([np.arange(40.0, 2, -1), np.full(22, 3.0)]),
    }
    order = ["setback", "countdown", "stall", "countdown", "near miss", "countdown"]
    steps = [np.stack([ways[order[i % 6]]] * 2) for i in range(16)]
    known = [(episode.id, frame) for episode in episodes for frame in (5, 30)]
    truth = FrameTruth(
        tuple(name for name, _ in known),
        np.array([frame for _, frame in known]),
        np.array([[10.0, 50.0], [50.0, np.inf]] * 16),
        cap=60,
    )
    methods = {"lambda-returns": steps}
    run, rollouts = drawn_run(episodes, methods, folder, truth=truth, standard_horizon=40)
    return write_pages(run, rollouts, folder / "report", videos=False, truth=truth)


class Reader:
    """Somebody who opens a report, and notices whatever goes wrong."""

    def __init__(self, context, index: Path) -> None:
        self.index = index
        self.problems: list[str] = []
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: self.problems.append(f"dialog: {dialog.message}"))
        self.page.on("request", self._on_request)

    def _on_console(self, message) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"{message.type}: {message.text}")

    def _on_request(self, request) -> None:
        inside = (self.index.parent.as_uri(), "data:", "blob:file:")
        if not request.url.startswith(inside):
            self.problems.append(f"asked for {request.url}")

    def open(self, address: str = "", *, wait_until: str = "load"):
        """The page at this address, as from a link: nothing of an earlier one is left."""
        self.page.goto("about:blank")
        self.page.goto(self.index.as_uri() + address, wait_until=wait_until)
        self.page.wait_for_selector("html[data-ready]")
        return self.page

    def without_charts(self) -> "Reader":
        """Nothing is drawn: the library of charts takes seconds on a busy core."""
        drawing_nothing = "window.Plotly = { react: async () => {} };"
        self.page.route(
            "**/plotly.min.js",
            lambda route: route.fulfill(body=drawing_nothing, content_type="text/javascript"),
        )
        return self

    def until(self, condition: str) -> None:
        """Wait for what JavaScript says; Playwright's own way is forbidden by the page's policy."""
        for _ in range(PATIENCE_MS // POLL_MS):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(POLL_MS)
        pytest.fail(f"never true: {condition}")

    @property
    def address(self) -> str:
        return self.page.url.partition("#")[2]

    def scrolls_sideways(self) -> bool:
        """Against the screen: on a phone the window grows with what is too wide for it."""
        width = self.page.viewport_size["width"]
        return self.page.evaluate("document.documentElement.scrollWidth") > width

    # ---- the player --------------------------------------------------------------------------

    def open_episode(self, address: str):
        page = self.open(address)
        page.wait_for_selector(".cursor-label")
        self.until(
            "[...document.querySelectorAll('video')].every(v => v.readyState >= 2 && !v.seeking)"
        )
        return page

    def frame(self) -> int:
        return int(self.page.get_attribute(".curve-slider", "aria-valuenow"))

    def times(self) -> list[float]:
        self.until("[...document.querySelectorAll('video')].every(v => !v.seeking)")
        return self.page.eval_on_selector_all("video", "all => all.map(v => v.currentTime)")

    def cursor_x(self) -> float:
        """Where the cursor lies, in pixels from the left edge of the curve."""
        return self.page.evaluate(
            "new DOMMatrix(getComputedStyle(document.querySelector('.cursor')).transform).m41"
        )


@pytest.fixture
def open_report(browser) -> Iterator:
    """`open_report(index, **context)` -> Reader; what went wrong fails the test at its end."""
    contexts = []
    readers: list[Reader] = []

    def opened(index: Path, **options) -> Reader:
        options.setdefault("viewport", {"width": 1280, "height": 800})
        contexts.append(browser.new_context(**options))
        readers.append(Reader(contexts[-1], index))
        return readers[-1]

    yield opened
    for context in contexts:
        context.close()
    assert [problem for reader in readers for problem in reader.problems] == []

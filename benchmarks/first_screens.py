"""The first screen of four runs, as docs/report.md shows them.

    python benchmarks/first_screens.py build/first_screens

All are made from the rollouts that come with goalward, 48 episodes of a policy that recovers, by
choosing among them: a good policy (its 24 successes and 3 time-outs), a poor one (4 successes and
its 24 time-outs), the recovering one as it is, with the truth of 100 frames, and 8 episodes with
the labels of two turned round. effnet-lite0, effort quick: a run takes a minute or two. The
pictures go to docs/pictures, as a large screen and as a phone shows them; of the recovering one
also more of the front page, and the player at the moment to watch first.
"""

import argparse
import io
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import goalward
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Outcome
from goalward.runs.run import Run
from pictures import note

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
SCREENS = {"screen": (1440, 900), "phone": (390, 844)}
SHOWN_WHOLE = "recovering"
WHOLE = {"report": (1180, 1000), "player": (1180, 1260)}
QUALITY = 70
# On a busy core.
PATIENCE_MS = 120_000


def chosen(demo: Rollouts, num_successes: int, num_time_outs: int) -> Rollouts:
    """The first so many of either outcome."""
    success = [i for i, episode in enumerate(demo) if episode.outcome is Outcome.SUCCESS]
    late = [i for i, episode in enumerate(demo) if episode.outcome is Outcome.TIME_OUT]
    return demo.select(sorted(success[:num_successes] + late[:num_time_outs]))


def with_wrong_labels(rollouts: Rollouts) -> Rollouts:
    """The first success is called a time-out, and the first time-out a success."""
    episodes = list(rollouts)
    for outcome, other in (
        (Outcome.SUCCESS, Outcome.TIME_OUT),
        (Outcome.TIME_OUT, Outcome.SUCCESS),
    ):
        place = next(i for i, episode in enumerate(rollouts) if episode.outcome is outcome)
        goal = episodes[place].num_frames - 1 if other is Outcome.SUCCESS else None
        episodes[place] = replace(episodes[place], outcome=other, goal_frame=goal)
    return Rollouts(tuple(episodes))


def make_reports(out: Path) -> dict[str, Run]:
    demo = goalward.read("demo")
    runs: dict[str, tuple[Rollouts | str, str | None]] = {
        "good": (chosen(demo, 24, 3), "good policy"),
        "poor": (chosen(demo, 4, 24), "poor policy"),
        "recovering": ("demo", None),
        "two_wrong": (with_wrong_labels(chosen(demo, 4, 4)), "8 episodes, two labels wrong"),
    }
    found: dict[str, Run] = {}
    for name, (rollouts, policy) in runs.items():
        run = goalward.evaluate(
            rollouts, out / name, policy=policy, encoder="effnet-lite0", effort="quick"
        )
        found[name] = run
        print(name, run.folder.path, flush=True)
    return found


def to_watch_first(run: Run) -> str:
    """Where the page shows the first moment that it recommends."""
    first = run.scores.policy.watch_first[0]
    return f"#episode?id={run.episodes[first.episode].id}&frame={first.frame}"


def take_pictures(runs: dict[str, Run]) -> None:
    browser_file = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=browser_file, args=["--no-sandbox"])
        for name, run in runs.items():
            for screen, size in SCREENS.items():
                take(browser, run, "", size, f"first_{name}_{screen}")
        shown = runs[SHOWN_WHOLE]
        for name, place in (("report", ""), ("player", to_watch_first(shown))):
            take(browser, shown, place, WHOLE[name], name)
        browser.close()


def take(browser: Browser, run: Run, place: str, size: tuple[int, int], name: str) -> None:
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    address = (run.folder.report / "index.html").resolve().as_uri()
    page.goto(address + place, wait_until="domcontentloaded", timeout=PATIENCE_MS)
    page.wait_for_selector("html[data-ready]")
    if place:
        # The video stands at the frame of the address.
        page.wait_for_function("[...document.querySelectorAll('video')].every(v => !v.seeking)")
        page.wait_for_timeout(1_000)
    path = PICTURES / f"{name}.jpg"
    picture = Image.open(io.BytesIO(page.screenshot(timeout=PATIENCE_MS))).convert("RGB")
    picture.save(path, quality=QUALITY, optimize=True)
    print(path.name, path.stat().st_size // 1000, "kB", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, help="the folder for the four runs")
    take_pictures(make_reports(parser.parse_args(arguments).out))
    note("first screens")


if __name__ == "__main__":
    main()

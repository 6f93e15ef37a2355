"""The first screen of four runs, as docs/report.md shows them.

    python benchmarks/first_screens.py build/first_screens

All are made from the rollouts that come with goalward, 48 episodes of a policy that recovers, by
choosing among them: a good policy (its 24 successes and 3 time-outs), a poor one (4 successes and
its 24 time-outs), the recovering one as it is, with the truth of 100 frames, and 8 episodes with
the labels of two turned round. effnet-lite0, effort quick: a run takes a minute or two. The
pictures go to docs/pictures, as a large screen and as a phone shows them.
"""

import argparse
import io
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import goalward
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Outcome

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
SCREENS = {"screen": (1440, 900), "phone": (390, 844)}
QUALITY = 70


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


def make_reports(out: Path) -> dict[str, Path]:
    demo = goalward.read("demo")
    runs: dict[str, tuple[Rollouts | str, str | None]] = {
        "good": (chosen(demo, 24, 3), "good policy"),
        "poor": (chosen(demo, 4, 24), "poor policy"),
        "recovering": ("demo", None),
        "two_wrong": (with_wrong_labels(chosen(demo, 4, 4)), "8 episodes, two labels wrong"),
    }
    found: dict[str, Path] = {}
    for name, (rollouts, policy) in runs.items():
        run = goalward.evaluate(
            rollouts, out / name, policy=policy, encoder="effnet-lite0", effort="quick"
        )
        found[name] = run.folder.report / "index.html"
        print(name, run.folder.path, flush=True)
    return found


def take_pictures(reports: dict[str, Path]) -> None:
    browser_file = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=browser_file, args=["--no-sandbox"])
        for name, index in reports.items():
            for screen, (width, height) in SCREENS.items():
                page = browser.new_page(viewport={"width": width, "height": height})
                page.goto(index.resolve().as_uri(), wait_until="domcontentloaded", timeout=120_000)
                page.wait_for_selector("html[data-ready]")
                path = PICTURES / f"first_{name}_{screen}.jpg"
                picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
                picture.save(path, quality=QUALITY, optimize=True)
                print(path.name, path.stat().st_size // 1000, "kB", flush=True)
        browser.close()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, help="the folder for the four runs")
    take_pictures(make_reports(parser.parse_args(arguments).out))


if __name__ == "__main__":
    main()

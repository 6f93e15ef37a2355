"""How long a report takes to write and to open, how large it is, how smoothly its curve is dragged.

    python benchmarks/report_speed.py
    python benchmarks/report_speed.py "1 of 5,000 frames"

Values are made by a formula, there are no videos: what counts are the tables and the pages. With
a browser (chromium) it also measures, from disk: until the answer can be read, until the table
stands, and from a click on a row until the curve is drawn; and on the longest episode frames a
second while the curve is dragged from end to end, with what each frame costs the page.
"""

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from goalward.config import PAPER_METHODS, EvaluationConfig
from goalward.metrics.evaluation_scores import steps_of_chances
from goalward.report.pages.files import write_pages
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.run_folder import RunFolder
from goalward.runs.folder.stored import write_run
from goalward.runs.results import common_discount, judge
from goalward.runs.run import Run
from goalward.runs.settings import RunEpisode, RunSettings
from goalward.values.chances import ChanceTable
from goalward.values.events import table_events
from goalward.values.hindsight import DEFAULT_DECAY, HindsightChoice, with_hindsight
from goalward.values.made_chances import chances_of_values
from goalward.values.table import ValueTable

NUM_SEEDS = 3
USUAL_FRAMES = 300
REPEATS = 3
JUDGED = 20


# What is measured: the lengths of its episodes.
RUNS = {
    "48 episodes": [63] * 48,  # as many and as long as those of the demo
    "300 episodes": [USUAL_FRAMES] * 300,
    "1,000 episodes": [USUAL_FRAMES] * 1000,
    "5,000 short episodes": [60] * 5000,  # the table is as long, and it is made in a minute
    "1 of 5,000 frames": [5000],
}
DRAGGED = "1 of 5,000 frames"
DRAG_S = 4.0


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", nargs="*", metavar="WHAT", help=f"of {', '.join(RUNS)}; or all")
    wanted = parser.parse_args(arguments).what or list(RUNS)
    if unknown := set(wanted) - set(RUNS):
        parser.error(f"no such run: {', '.join(sorted(unknown))}; there are {', '.join(RUNS)}")
    for what in wanted:
        with tempfile.TemporaryDirectory() as place:
            measured(what, Path(place), RUNS[what])


def measured(what: str, folder: Path, lengths: Sequence[int]) -> None:
    run = made_run(folder, lengths)
    started = time.perf_counter()
    index = write_pages(run, None, folder / "report")
    seconds = time.perf_counter() - started
    episodes = [file.stat().st_size for file in (folder / "report/data/episodes").iterdir()]
    table = (folder / "report/data/run.js").stat().st_size
    total = sum(file.stat().st_size for file in (folder / "report").rglob("*") if file.is_file())
    print(
        f"{what}: written in {seconds:.1f} s; {total / 1e6:.1f} MB in all, "
        f"run.js {table / 1e3:.0f} kB, largest episode {max(episodes) / 1e3:.0f} kB"
    )
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print("  no browser: opening is not measured")
    else:
        print_opening(index, browser)
    if browser is not None and what == DRAGGED:
        print_dragging(index, browser)


@contextmanager
def started(browser: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        chromium = playwright.chromium.launch(executable_path=browser, args=arguments)
        yield chromium
        chromium.close()


def print_opening(index: Path, browser: str) -> None:
    found: dict[str, list[float]] = {}
    with started(browser) as chromium:
        for _ in range(REPEATS):
            page = chromium.new_page(viewport={"width": 1280, "height": 800})
            for name, seconds in opening(page, index.as_uri()).items():
                found.setdefault(name, []).append(seconds)
            page.close()
    told = ", ".join(
        f"{name} {sorted(times)[len(times) // 2]:.2f} s" for name, times in found.items()
    )
    print(f"  opened from disk (median of {REPEATS}, load {os.getloadavg()[0]:.0f}): {told}")


def opening(page: Any, address: str) -> dict[str, float]:
    """Seconds until each can be seen."""

    def since(act: Any, selector: str) -> float:
        started = time.perf_counter()
        act()
        page.wait_for_selector(selector)
        return time.perf_counter() - started

    # A page from the same folder before it: the browser opens the next in the same process.
    page.goto(address.replace("index.html", "beside.html"))
    computed = processor_time(page)
    at_first = computed()
    first = since(lambda: page.goto(address, wait_until="commit"), ".big")
    work = computed() - at_first
    page.goto("about:blank")
    table = since(
        lambda: page.goto(f"{address}#episodes", wait_until="commit"), "table.episodes tbody tr"
    )
    sort = since(
        lambda: page.click("button.sort[data-key=final]"), "th[aria-sort=descending] .sort"
    )
    episode = since(lambda: page.click("table.episodes tbody tr"), ".cursor-label:visible")
    return {
        "answer": first,
        "of it computing": work,
        "table": table,
        "sorting": sort,
        "an episode": episode,
    }


def processor_time(page: Any) -> Callable[[], float]:
    """Seconds that the page's thread has computed: what a busy machine takes away is not in it."""
    watch = page.context.new_cdp_session(page)
    watch.send("Performance.enable", {"timeDomain": "threadTicks"})

    def so_far() -> float:
        metrics = watch.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "TaskDuration")

    return so_far


def print_dragging(index: Path, browser: str) -> None:
    with started(browser) as chromium:
        rows = sorted(dragging(chromium, index) for _ in range(REPEATS))
    rate, late, work = rows[len(rows) // 2]
    print(
        f"  dragged (median of {REPEATS}): {rate:.0f} frames a second, {100 * late:.0f} % of them "
        f"later than two of the screen's; each costs the page {work:.1f} ms of processor time "
        f"(load {os.getloadavg()[0]:.0f})"
    )


# Notes when each frame of the screen comes, until told to stop.
_NOTE_FRAMES = """() => {
  window.frames_seen = [];
  const note = (now) => { window.frames_seen.push(now); requestAnimationFrame(note); };
  requestAnimationFrame(note);
}"""


def dragging(chromium: Any, index: Path) -> tuple[float, float, float]:
    """Frames a second while a mouse drags along the curve, the share of late ones, and their cost.

    All five methods are shown, with their bands; the cost is in milliseconds a frame.
    """
    page = chromium.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{index.as_uri()}#episode?id=episode_0000&methods={','.join(PAPER_METHODS)}")
    page.wait_for_selector(".cursor-label:visible")
    area = page.locator(".curve-area").bounding_box()
    worked = processor_time(page)
    left, right = area["x"] + 60, area["x"] + area["width"] - 60
    height = area["y"] + area["height"] / 2
    page.mouse.move(left, height)
    page.mouse.down()
    before = page.get_attribute(".curve-slider", "aria-valuenow")
    page.evaluate(_NOTE_FRAMES)
    at_first, began = worked(), time.perf_counter()
    while (elapsed := time.perf_counter() - began) < DRAG_S:
        # There and back twice.
        part = abs((elapsed / DRAG_S * 4 + 1) % 2 - 1)
        page.mouse.move(left + (right - left) * (1 - part), height)
    work = worked() - at_first
    seen = page.evaluate("window.frames_seen")
    assert page.get_attribute(".curve-slider", "aria-valuenow") != before, "nothing was dragged"
    page.close()
    gaps = np.diff(seen)
    return (
        1000 / float(gaps.mean()),
        float((gaps > 2.1 * 1000 / 60).mean()),
        1000 * work / len(seen),
    )


def made_run(folder: Path, lengths: Sequence[int]) -> Run:
    """A run of these episodes; judged by a few of them, as all would take minutes."""
    config = EvaluationConfig(policy="synthetic", methods=PAPER_METHODS, seeds=NUM_SEEDS)
    few, their_values = made_values(lengths[:JUDGED])
    held_out = np.ones(len(few), dtype=np.bool_)
    their_chances = made_chances(few, their_values)
    judged, _ = judge(
        their_values, their_chances, few, held_out, config, hindsight=HindsightChoice()
    )
    # Contact sheets of episodes worth watching take a second or two each: not what is measured.
    policy = replace(judged.scores.policy, watch_first=())
    rollouts, values = made_values(lengths)
    goals = [episode.goal_frame for episode in rollouts]
    events = table_events(values, values.methods[0], goals, ceiling=max(lengths) - 1)
    run = Run(
        folder=RunFolder(folder),
        settings=RunSettings(config),
        episodes=tuple(
            RunEpisode(e.id, e.task, e.outcome, e.num_frames, e.goal_frame, "held out")
            for e in rollouts
        ),
        values=values,
        chances=made_chances(rollouts, values),
        events=dict(zip(rollouts.ids, events, strict=True)),
        results=replace(judged, scores=replace(judged.scores, policy=policy)),
    )
    write_run(run)
    return run


def made_chances(rollouts: Rollouts, values: ValueTable) -> ChanceTable:
    return chances_of_values(values, steps_of_chances(rollouts.endings, None))


def made_values(lengths: Sequence[int]) -> tuple[Rollouts, ValueTable]:
    """Time-outs that slip and successes, in turn; every method and seed has noise of its own."""
    generator = np.random.default_rng(0)
    task = "put the red block into the bowl"
    rollouts = Rollouts(
        [
            Episode(f"episode_{i:04d}", n, Outcome.TIME_OUT, None, task)
            if i % 2
            else Episode(f"episode_{i:04d}", n, Outcome.SUCCESS, n - 1, task)
            for i, n in enumerate(lengths)
        ]
    )
    curves = [
        np.where(np.arange(n) < n // 2, n - np.arange(n), (n if i % 2 else n - np.arange(n)))
        for i, n in enumerate(lengths)
    ]
    smooth = np.concatenate(curves)
    noise = generator.normal(0, 4, (len(PAPER_METHODS), NUM_SEEDS, len(smooth)))
    steps = np.maximum(smooth + noise, 0).astype(np.float32)
    table = ValueTable(
        methods=PAPER_METHODS,
        seeds=tuple(range(NUM_SEEDS)),
        episode_ids=rollouts.ids,
        episode_tasks=(task,) * len(rollouts),
        episode_ends=rollouts.episode_ends,
        raw_value=np.zeros_like(steps),
        steps_to_goal=steps,
    )
    discount = common_discount(EvaluationConfig(), max(lengths) - 1)
    return rollouts, with_hindsight(table, rollouts.endings, discount, DEFAULT_DECAY)


if __name__ == "__main__":
    main()

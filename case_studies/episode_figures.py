"""Three telling episodes of a case study: one slips and recovers, one is lost, one stalls.

    python case_studies/episode_figures.py rollouts/pick/test \\
        results/pick/values/effnet-lite0_200.parquet --out case_studies/pick/figures

The episodes are found by rules, from what the simulator knows and from the value of `--method`:

- recover: of the successes in which something was dropped or missed, the one whose value rises most
  on the way to its goal;
- lost: of the time-outs, the one whose value falls lowest and then ends highest above that;
- stall: of the time-outs, the one whose hand rests longest.
"""

import argparse
import csv
from pathlib import Path

import numpy as np
import numpy.typing as npt

import goalward
from goalward.metrics.truth.frame_truth import TRUTH_FILE, read_truth
from goalward.report.figures.episode import Moment, episode_figure
from goalward.report.figures.scores import save_figure
from goalward.report.figures.sheet import filled, known_values
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.runs.curves import curves_of
from goalward.simulate.recording.data_set import SimulatedDataSet
from goalward.values.hindsight import with_hindsight
from goalward.values.table import ValueTable, read_values

FloatArray = npt.NDArray[np.float64]
FEWEST_MOMENTS, MOST_MOMENTS = 5, 7
# A hand that moves less than this between frames rests.
REST_M = 0.002
HINDSIGHT = 0.98


def events_of(data: Path) -> dict[str, list[tuple[int, str]]]:
    """Episode -> (frame, what happened)."""
    found: dict[str, list[tuple[int, str]]] = {}
    with SimulatedDataSet(data).events_file.open(newline="") as file:
        for row in csv.DictReader(file):
            event = (int(row["frame_index"]), row["event"])
            found.setdefault(row["episode_index"], []).append(event)
    return found


def largest_rise(value: FloatArray) -> float:
    """How far the value comes back up after it was lower."""
    return float((value - np.minimum.accumulate(value)).max())


def longest_rest(episode: Episode) -> int:
    """Frames for which the hand, the first three proprioceptive numbers, hardly moves."""
    motion = np.linalg.norm(np.diff(episode.proprioception[:, :3], axis=0), axis=1)
    longest = now = 0
    for resting in motion < REST_M:
        now = now + 1 if resting else 0
        longest = max(longest, now)
    return longest


def choose(
    rollouts: Rollouts, mean: dict[str, FloatArray], events: dict[str, list[tuple[int, str]]]
) -> dict[str, Episode]:
    successes = [each for each in rollouts if each.outcome is Outcome.SUCCESS]
    others = [each for each in rollouts if each.outcome is not Outcome.SUCCESS]
    recovered = [each for each in successes if events.get(each.id)] or successes
    lost = max(others, key=lambda each: float(mean[each.id][-1] - mean[each.id].min()))
    return {
        "recover": max(recovered, key=lambda each: largest_rise(mean[each.id])),
        "lost": lost,
        "stall": max((each for each in others if each is not lost), key=longest_rest),
    }


def moments_of(
    episode: Episode, value: FloatArray, events: list[tuple[int, str]], cameras: list[str]
) -> list[Moment]:
    """The start, what happened on the way, where the value was lowest, and the end."""
    last = episode.num_frames - 1
    named = {0: "start", last: "goal" if episode.outcome is Outcome.SUCCESS else "time-out"}
    best = int(value[:last].argmin()) if last else 0
    if episode.outcome is not Outcome.SUCCESS:
        named.setdefault(best, "best value")
    chosen = events if len(events) <= MOST_MOMENTS - len(named) else None
    if chosen is None:
        places = np.linspace(0, len(events) - 1, MOST_MOMENTS - len(named)).round().astype(int)
        chosen = [events[place] for place in places]
    for frame, name in chosen:
        if all(abs(frame - other) > last // 20 for other in named):
            named[frame] = name
    frames = filled(list(named), FEWEST_MOMENTS, max(last / 20, 1.0))
    return [
        Moment(
            frame,
            named.get(frame, ""),
            tuple(episode.frame(camera, frame) for camera in cameras),
        )
        for frame in frames
    ]


def draw(arguments: argparse.Namespace) -> None:
    rollouts = goalward.read(arguments.data)
    values: ValueTable = read_values(arguments.values)
    path = Path(arguments.data) / TRUTH_FILE
    truth = read_truth(path) if path.is_file() else None
    events = events_of(Path(arguments.data))
    values = with_hindsight(values, rollouts.endings, arguments.discount, decay=HINDSIGHT)
    curves = {method: curves_of(values, method, arguments.discount) for method in values.methods}
    mean = {each.id: curves[arguments.method].value[values.frames_of(each.id)] for each in rollouts}
    cameras = list(rollouts.camera_names)
    for kind, episode in choose(rollouts, mean, events).items():
        frames = values.frames_of(episode.id)
        figure = episode_figure(
            f"{episode.task}: episode {episode.id} ({episode.outcome})",
            moments_of(episode, mean[episode.id], events.get(episode.id, []), cameras),
            [curves[method].part(frames) for method in arguments.shown],
            truth=known_values(truth, episode.id, arguments.discount),
            cameras=cameras,
            curve_at="below",
        )
        save_figure(figure, arguments.out / f"episode_{kind}")
        print(f"{kind}: episode {episode.id}, {arguments.out / f'episode_{kind}'}.png")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data")
    parser.add_argument("values", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--method", default="liveness", help="whose value chooses the episodes")
    parser.add_argument("--shown", nargs="+", default=["liveness", "td", "mc"])
    parser.add_argument("--discount", type=float, default=0.99)
    draw(parser.parse_args())


if __name__ == "__main__":
    main()

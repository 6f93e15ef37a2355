"""What each method says of one episode: the pictures of docs/methods.

    python benchmarks/method_figures.py --out docs/pictures/methods

The demo's rollouts, every episode held out once (two folds), two seeds, smaller networks and fewer
steps than an evaluation has: minutes on two cores. The episode is found by a rule.
"""

import argparse
import tempfile
from pathlib import Path

import goalward
from goalward.report.figures.episode import Moment, episode_figure
from goalward.report.figures.sheet import chosen_moments, known_values
from goalward.rollouts.episode import Outcome
from goalward.runs.run import Run
from pictures import note

METHODS = ("lambda-returns", "liveness", "td", "mc", "mc-dist", "survival")
# Pages of two methods show both.
FIGURES = {
    "lambda_returns": ("lambda-returns",),
    "liveness": ("liveness",),
    "td": ("td",),
    "monte_carlo": ("mc", "mc-dist"),
    "survival": ("survival",),
}
COLUMNS = 6


def fitted_run(folder: Path) -> Run:
    rollouts = goalward.embed(goalward.read("demo"), "effnet-lite0")
    return goalward.evaluate(
        rollouts,
        folder,
        methods=METHODS,
        seeds=2,
        folds=2,
        report=False,
        width=128,
        num_steps=600,
        learning_rate=0.001,
        max_inputs=32,
    )


def telling_episode(run: Run) -> str:
    """Of the successes the one with most frames whose truth is known; the longest of those."""
    truth = run.read_truth()
    successes = [episode for episode in run.episodes if episode.outcome is Outcome.SUCCESS]
    known = {e.id: len(known_values(truth, e.id, run.discount)) for e in successes}
    return max(successes, key=lambda episode: (known[episode.id], episode.num_frames)).id


def main() -> None:
    parser = argparse.ArgumentParser(description="What each method says of one episode.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--run", type=Path, help="a folder to keep the run in, or one that has it")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    run = fitted_run(arguments.run or Path(tempfile.mkdtemp()) / "run")
    episode_id = telling_episode(run)
    recorded = goalward.read("demo").episode(episode_id)
    camera = next(iter(recorded.cameras))
    named = chosen_moments(run.episode(episode_id), run.events[episode_id], COLUMNS)
    moments = [
        Moment(frame, label, (recorded.frame(camera, frame),), kind)
        for frame, (label, kind) in named.items()
    ]
    truth = known_values(run.read_truth(), episode_id, run.discount)
    frames = run.frames_of(run.position(episode_id))
    for name, methods in FIGURES.items():
        figure = episode_figure(
            f"{', '.join(methods)}: episode {episode_id} of the demo ({recorded.outcome})",
            moments,
            [run.curves(method).part(frames) for method in methods],
            truth=truth,
            cameras=[camera],
        )
        path = arguments.out / f"{name}.jpg"
        figure.savefig(path, dpi=130, pil_kwargs={"quality": 82, "optimize": True})
        print(path)
    note("methods")


if __name__ == "__main__":
    main()

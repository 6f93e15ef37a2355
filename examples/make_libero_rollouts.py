"""Makes examples/libero_rollouts, the data set of `make demo`, from recorded policy rollouts.

    PYTHONPATH=tests python examples/make_libero_rollouts.py FOLDER_OF_OPENPI_VIDEOS

The source are videos of a pi0-family policy on LIBERO tasks (Apache-2.0, jaswu51/openpi), named
`rollout_<task>_success.mp4` or `_failure.mp4`. Of the tasks with both outcomes, the first six in
the alphabet are taken, scaled to 128 pixels and packed as a LeRobot v3.0 data set. Rerunning with
the same encoder gives the same files.
"""

import shutil
import sys
from pathlib import Path

import numpy as np
from PIL import Image
from rollout_files.lerobot import WrittenEpisode, write_lerobot

import goalward

NUM_TASKS, SIZE, FPS = 6, 128, 10


def main(source: Path, target: Path) -> None:
    videos = goalward.read(source)
    tasks = sorted(
        task for task in videos.tasks if len(set(videos.where(task=task).outcomes)) == 2
    )[:NUM_TASKS]
    episodes = [written(e) for task in tasks for e in videos.where(task=task)]
    shutil.rmtree(target, ignore_errors=True)
    write_lerobot(
        target,
        episodes,
        fps=FPS,
        key_frame_every=25,
        video_options={"crf": "30", "preset": "veryslow"},
    )
    print(goalward.read(target))


def written(episode: goalward.Episode) -> WrittenEpisode:
    small = [
        np.asarray(Image.fromarray(frame).resize((SIZE, SIZE), Image.Resampling.LANCZOS))
        for frame in episode.frames("video")
    ]
    success = episode.outcome is goalward.Outcome.SUCCESS
    reached = [success and frame == len(small) - 1 for frame in range(len(small))]
    return WrittenEpisode(
        pictures={"front": np.stack(small)},
        state=np.zeros((len(small), 0), np.float32),
        columns={"next.success": reached},
        task=episode.task,
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(__file__).parent / "libero_rollouts")

"""Whether an encoder's vectors mean something on robot videos: a check, not a score.

    python benchmarks/embedding_meaning.py PATH --encoder effnet-lite0

Pairs of neighbouring frames of an episode against pairs of frames from episodes of different tasks:
the AUROC of their cosine is the chance that a neighbouring pair is the more alike. Frames of one
episode that lie far apart are compared with other tasks as well, which is harder.
"""

import argparse

import numpy as np
import numpy.typing as npt
from scipy.stats import mannwhitneyu

from goalward.embeddings.embed import embed
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode
from goalward.rollouts.frames import ArrayFrames
from goalward.rollouts.readers import read
from goalward.seeds import generator

_PAIRS_PER_EPISODE = 8


def sampled(rollouts: Rollouts, camera: str) -> Rollouts:
    """Eight pairs of neighbouring frames of every episode, spread over it."""
    episodes: list[Episode] = []
    for episode in rollouts:
        first = np.linspace(0, episode.num_frames - 2, _PAIRS_PER_EPISODE).astype(int)
        indices = np.stack([first, first + 1], axis=1).ravel().tolist()
        frames = np.stack(list(episode.frames_at(camera, indices)))
        episodes.append(
            Episode(
                episode.id,
                len(frames),
                episode.outcome,
                goal_frame=None if episode.goal_frame is None else len(frames) - 1,
                task=episode.task,
                cameras={camera: ArrayFrames(frames)},
            )
        )
    return Rollouts(episodes)


def cosine(
    left: npt.NDArray[np.float32], right: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    product = (left * right).sum(axis=-1)
    return product / np.linalg.norm(left, axis=-1) / np.linalg.norm(right, axis=-1)


def auroc(higher: npt.NDArray[np.float32], lower: npt.NDArray[np.float32]) -> float:
    return float(mannwhitneyu(higher.ravel(), lower.ravel()).statistic / higher.size / lower.size)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("path")
    parser.add_argument("--encoder", default="effnet-lite0")
    parser.add_argument("--pool", default="global")
    parser.add_argument("--device", default=None)
    arguments = parser.parse_args()
    rollouts = read(arguments.path)
    rollouts = rollouts.filter(lambda episode: episode.num_frames > 2 * _PAIRS_PER_EPISODE)
    few = sampled(rollouts, rollouts.camera_names[0])
    embedded = embed(few, arguments.encoder, pool=arguments.pool, device=arguments.device)
    assert embedded.features is not None
    vectors = embedded.features.astype(np.float32)
    task = np.repeat(embedded.task_indices, embedded.lengths)
    pairs = vectors.reshape(len(embedded), _PAIRS_PER_EPISODE, 2, -1)
    neighbours = cosine(pairs[:, :, 0], pairs[:, :, 1])
    same_episode = cosine(pairs[:, 0, 0], pairs[:, -1, 0])
    draws = generator(0, "pairs").integers(0, len(vectors), (20_000, 2))
    draws = draws[task[draws[:, 0]] != task[draws[:, 1]]]
    others = cosine(vectors[draws[:, 0]], vectors[draws[:, 1]])
    print(
        f"{arguments.encoder}, pool {arguments.pool}: {len(embedded)} episodes of "
        f"{len(embedded.tasks)} tasks, {len(vectors)} frames\n"
        f"neighbouring frames: cosine {neighbours.mean():.3f}; first and last of an episode: "
        f"{same_episode.mean():.3f}; frames of other tasks: {others.mean():.3f}\n"
        f"AUROC of neighbours against other tasks {auroc(neighbours, others):.4f}; "
        f"of first and last against other tasks {auroc(same_episode, others):.4f}"
    )


if __name__ == "__main__":
    main()

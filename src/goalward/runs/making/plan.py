"""A plan before work: what an evaluation will do, take and warn of, within seconds.

What cannot fit is refused here, with the remedy, and not after an hour.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from goalward.config import EvaluationConfig
from goalward.embeddings.encoders import DEFAULT_ENCODER
from goalward.embeddings.outlook import EmbeddingOutlook, embedding_outlook
from goalward.errors import GoalwardError, argument
from goalward.memory import free_bytes, size_words
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.progress import duration
from goalward.rollouts.clocks import Clocks, clocks_of
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Outcome
from goalward.rollouts.findings import counted, some_of
from goalward.runs.making.given import Given, known_truth, name_of
from goalward.runs.making.notices import notices_of
from goalward.training.methods.efforts import numbers_of

_log = logging.getLogger("goalward.runs")

# Features of a frame of one camera whose encoder was not asked yet.
_USUAL_SIZE = 768
# Of what is free: the estimate is no more exact than that, and others live there too.
_USABLE_SHARE = 0.9


@dataclass(frozen=True)
class Plan:
    """What an evaluation will do: counts, seconds, bytes, and all that can be warned of now.

    `clocks` are the steps at which timed-out episodes ended. Seconds are measured by short tries on
    this machine; those of training are the most it takes, if no network stops early.
    `is_estimated`: the cache was looked at in part.
    """

    num_episodes: int
    outcomes: Mapping[Outcome, int]
    tasks: Mapping[str, int]
    clocks: Clocks | None
    num_frames: int
    num_to_embed: int
    num_cached: int
    is_estimated: bool
    methods: tuple[str, ...]
    seeds: int
    effort: str
    num_networks: int
    num_groups: int
    embedding_s: float
    training_s: float
    num_bytes: int
    free_bytes: int
    notices: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        return self.embedding_s + self.training_s

    @property
    def fits(self) -> bool:
        return self.num_bytes <= _USABLE_SHARE * self.free_bytes

    def check(self) -> None:
        """An error, with the remedy, if the memory that is free does not do."""
        if not self.fits:
            raise GoalwardError(
                f"this takes about {size_words(self.num_bytes)} of memory, and "
                f"{size_words(self.free_bytes)} are free: {self._remedy()}"
            )

    def _remedy(self) -> str:
        if self.num_networks > 200 and len(self.tasks) > 1:
            without = f"leave out {argument('per_task')}"
            return f"{self.num_networks:,} networks are too many; {without}, or give fewer methods"
        return (
            f"try {argument('effort', 'quick')}, fewer methods or seeds, fewer episodes, or a "
            "machine with more memory"
        )

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def tell(self) -> None:
        """The plan to the logger `goalward`, warnings as such."""
        for line in self.lines():
            _log.info("%s", line)
        for notice in self.notices:
            _log.warning("%s", notice)

    def lines(self) -> list[str]:
        """The plan in words, a line per fact."""
        counts = [f"{self.outcomes.get(kind, 0)} {words}" for kind, words in _OUTCOME_WORDS.items()]
        tasks = "" if len(self.tasks) < 2 else f" of {len(self.tasks)} tasks"
        found = [
            f"{counted(range(self.num_episodes))}{tasks}: {', '.join(counts)}; "
            f"{self.num_frames:,} frames"
        ]
        if self.clocks is not None:
            found.append(f"clocks that ran out: {self.clocks.words}")
        if self.num_to_embed or self.num_cached:
            about = "about " if self.is_estimated else ""
            found.append(
                f"embedding: {about}{self.num_to_embed:,} frames to encode, {about}"
                f"{self.num_cached:,} in the cache: {_at_most(self.embedding_s)}"
            )
        found.append(
            f"training: {self.num_networks:,} networks of {some_of(list(self.methods))}, "
            f"{counted(range(self.seeds), 'seed')}, effort {self.effort}: at most "
            f"{_at_most(self.training_s)}"
        )
        found.append(
            f"memory: about {size_words(self.num_bytes)} of {size_words(self.free_bytes)} free"
        )
        return found


_OUTCOME_WORDS = {
    Outcome.SUCCESS: "successes",
    Outcome.TIME_OUT: "time-outs",
    Outcome.FAILURE: "failures",
}


def _at_most(seconds: float) -> str:
    return "a second" if seconds < 1 else duration(seconds)


def plan_evaluation(
    rollouts: Rollouts,
    config: EvaluationConfig,
    *,
    embedding: Mapping[str, Any] | None = None,
    device: str | None = None,
) -> Plan:
    """The plan of an evaluation of rollouts that were read; features need not be there yet."""
    from goalward.runs.making.held_out import asked_folds
    from goalward.training.frames.training_frames import planning_frames
    from goalward.training.outlook import training_outlook
    from goalward.values.fit import asked_runs

    given = dict(embedding or {})
    outlook = _embedding_outlook(rollouts, given, device)
    proprioception = rollouts.proprioception.shape[1]
    num_features = _num_features(rollouts, outlook, given, proprioception)
    frames = planning_frames(rollouts)
    numbers = numbers_of(config).for_horizon(frames.horizon, frames.num_frames)
    subsets = {fold.name: fold.training for fold in asked_folds(rollouts, config)}
    asked = asked_runs(
        frames, config.methods, config.seeds, numbers, subsets=subsets, per_task=config.per_task
    )
    training = training_outlook(
        asked.runs,
        numbers,
        num_frames=rollouts.num_frames,
        num_features=num_features,
        num_proprioception=proprioception,
        tasks=asked.tasks,
        device=device,
    )
    outcomes = Counter(Outcome(str(outcome)) for outcome in rollouts.outcomes)
    tasks = Counter(episode.task for episode in rollouts)
    return Plan(
        num_episodes=len(rollouts),
        outcomes=dict(outcomes),
        tasks=dict(tasks),
        clocks=clocks_of(rollouts),
        num_frames=rollouts.num_frames,
        num_to_embed=0 if outlook is None else outlook.num_frames - outlook.num_cached,
        num_cached=0 if outlook is None else outlook.num_cached,
        is_estimated=False if outlook is None else outlook.is_estimated,
        methods=config.methods,
        seeds=config.seeds,
        effort=config.effort,
        num_networks=training.num_networks,
        num_groups=training.num_groups,
        embedding_s=0.0 if outlook is None else outlook.seconds,
        training_s=training.seconds,
        num_bytes=training.num_bytes,
        free_bytes=free_bytes(),
        notices=tuple(notices_of(rollouts, config)),
    )


def _embedding_outlook(
    rollouts: Rollouts, given: Mapping[str, Any], device: str | None
) -> EmbeddingOutlook | None:
    if rollouts.features is not None:
        return None
    cameras = given.get("cameras")
    names = rollouts.camera_names if cameras is None else tuple(cameras)
    if not names:
        return None
    known = ("encoder", "pool", "precision", "every", "cache", "batch_size")
    options = {name: given[name] for name in known if given.get(name) is not None}
    return embedding_outlook(rollouts, cameras=names, device=device, **options)


def _num_features(
    rollouts: Rollouts,
    outlook: EmbeddingOutlook | None,
    given: Mapping[str, Any],
    proprioception: int,
) -> int:
    if rollouts.features is not None:
        return rollouts.features.shape[1]
    per_camera = 0
    if outlook is not None:
        per_camera = outlook.size or _USUAL_SIZE
    num_cameras = 0 if outlook is None else round(outlook.num_frames / rollouts.num_frames)
    seen = per_camera * num_cameras + proprioception
    return max(seen * int(given.get("n_obs_steps") or 1), 1)


def actual_against(plan: Plan, embedding_s: float, training_s: float) -> str:
    """How long it took beside what was planned, in one line."""
    parts = [
        f"{name} {duration(took)} (planned {_at_most(planned)})"
        for name, took, planned in (
            ("embedding", embedding_s, plan.embedding_s),
            ("training", training_s, plan.training_s),
        )
        if took >= 1 or planned >= 1
    ]
    return ", ".join(parts)


def plan(
    rollouts: Rollouts | str | Path,
    *,
    encoder: str = DEFAULT_ENCODER,
    embedding: Mapping[str, Any] | None = None,
    reading: Mapping[str, Any] | None = None,
    device: str | None = None,
    scores: str | Path | Mapping[str, str | Path] | Sequence[str | Path] = (),
    policy: str | None = None,
    truth: FrameTruth | str | Path | None = None,
    progress: bool = True,
    **options: Any,
) -> Plan:
    """What `goalward.evaluate` with these options would do and take, without doing it.

    `options` are those of `evaluate` that say what is learned: methods, effort, seeds, folds,
    per_task, preset, and any hyper-parameter by its name. What `evaluate` would refuse (scores or
    a truth of other episodes, a method that does not exist) is refused here, and nothing written.

    >>> import numpy as np
    >>> import goalward
    >>> ramp = np.linspace(0, 1, 12)[:, None]
    >>> rollouts = goalward.from_arrays([ramp, -ramp] * 4, success=[True, False] * 4)
    >>> found = plan(rollouts, effort="quick", device="cpu")
    >>> found.num_episodes, found.num_networks, found.fits
    (8, 20, True)
    """
    from goalward.runs.evaluate import check_evaluation, config_of, score_files

    given = Given(dict(reading or {}), {"encoder": encoder, **(embedding or {})})
    own = {field.name for field in fields(EvaluationConfig)} - {"overrides"}
    told = {name: value for name, value in options.items() if name in own}
    overrides = {name: value for name, value in options.items() if name not in own}
    told |= {"policy": policy or name_of(rollouts), "scores": score_files(scores)}
    config = config_of(overrides=overrides, **told)
    recorded = given.read(rollouts, progress)
    _, known = known_truth(rollouts, truth)
    check_evaluation(recorded, config, device=device, truth=known)
    return plan_evaluation(recorded, config, embedding=given.embedding, device=device)

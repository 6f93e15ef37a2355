"""`goalward.curate`: which frames of a run to keep, drop or weigh for the next training."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from goalward.errors import GoalwardError, argument
from goalward.exports.advantages import BoolArray
from goalward.exports.curating.curation import CuratedEpisode, Curation, effects_of
from goalward.exports.curating.files import (
    check_nothing_else_is_there,
    lerobot_frames,
    write_curation,
)
from goalward.exports.curating.rules import Stretch, dropped_stretches, named_rules
from goalward.exports.curating.weighing import WEIGHINGS, advantage_weights
from goalward.exports.labelled import run_advantages
from goalward.exports.lerobot_frames import LeRobotFrames
from goalward.exports.written import optimism_note
from goalward.files import check_folder
from goalward.locks import alone_in
from goalward.metrics.trust import Grade, trust_words
from goalward.rollouts.episode import Outcome
from goalward.runs.folder.stored import as_run
from goalward.runs.run import Run

DEFAULT_RULES = ("not-success", "after-goal", "setbacks", "stalls")
_JUDGED = ("setbacks", "stalls", "no-return")


def curate(
    run: Run | str | Path,
    *,
    drop: str | Sequence[str] | None = None,
    weigh: str | None = None,
    keep: str | Sequence[str | int] = (),
    method: str | None = None,
    data: str | Path | None = None,
    out: str | Path | None = None,
    anyway: bool = False,
) -> Curation:
    """Say which frames to learn from next, by stated rules, and write it as lists and weights.

    `drop` are names of `RULES`, or one; by default `DEFAULT_RULES`, and an empty list drops
    nothing. `weigh`: "equal" counts all that is kept alike, "advantage" frames that gained ground
    more (hindsight value less value); the default is "advantage", or "equal" where rules are named.
    `keep` are ids of episodes that no rule touches. `method` is whose values judge, the run's first
    one unless named. Files go to `curation` in the run's folder, or to `out`; of a LeRobot data
    set, which lies in `data` if it has moved, they have its `index`. Values that the run itself
    does not trust decide nothing unless `anyway` is given.
    """
    if weigh is None:
        # Rules by name may ask for no values; then nothing else should.
        weigh = "advantage" if drop is None else "equal"
    named = DEFAULT_RULES if drop is None else drop
    rules = named_rules((named,) if isinstance(named, str) else tuple(named))
    kept = (keep,) if isinstance(keep, str) else keep
    if weigh not in WEIGHINGS:
        raise GoalwardError(
            f"{argument('weigh')}: frames are weighed by {' or '.join(WEIGHINGS)}, not by {weigh!r}"
        )
    folder = run.folder.path if isinstance(run, Run) else Path(run)
    is_inside = out is None and folder.is_dir()
    with alone_in(folder) if is_inside else nullcontext():
        run = as_run(run)
        method = run.method if method is None else method
        run.values.steps(method)
        judged = weigh == "advantage" or any(name in _JUDGED for name in rules)
        if judged and not run.trust.grade.is_usable and not anyway:
            raise GoalwardError(
                f"{trust_words(run.trust)} What they drop would be chance; "
                f"{argument('anyway', True)} goes by them all the same, and rules that ask for no "
                f"values are {argument('drop')} not-success,after-goal"
            )
        kept_whole = {run.episodes[run.position(one)].id for one in kept}
        stretches = dropped_stretches(run, rules, method)
        stretches = [one for one in stretches if one.episode not in kept_whole]
        found = _curation(run, method, tuple(rules), weigh, stretches, judged)
        frames = lerobot_frames(run, data)
        place = run.folder.curation if out is None else Path(out)
        _check_place(place, frames)
        write_curation(found, run, place, frames)
        return found


def _check_place(place: Path, frames: LeRobotFrames | None) -> None:
    if frames is not None and place.resolve().is_relative_to(frames.root.resolve()):
        raise GoalwardError(
            f"{place}: lies in the data set, which is not changed; give another {argument('out')}"
        )
    check_nothing_else_is_there(place)
    check_folder(place)


def _curation(
    run: Run,
    method: str,
    rules: tuple[str, ...],
    weigh: str,
    stretches: list[Stretch],
    judged: bool,
) -> Curation:
    is_kept = _kept_frames(run, stretches)
    if not is_kept.any():
        raise GoalwardError(
            f"{run.folder.path}: these rules drop every frame{_why_all(run, rules)}; name fewer "
            f"with {argument('drop')}"
        )
    weights = is_kept / is_kept[is_kept].mean()
    if weigh == "advantage":
        everyone = range(len(run.episodes))
        advantages = run_advantages(
            run, run.curves(method), everyone, unit="value", n="hindsight"
        ).advantage
        weights = advantage_weights(advantages, is_kept)
    reasons: dict[str, list[str]] = {}
    for one in stretches:
        reasons.setdefault(one.episode, []).append(one.rule)
    episodes: list[CuratedEpisode] = []
    for position, episode in enumerate(run.episodes):
        here = weights[run.frames_of(position)]
        episodes.append(
            CuratedEpisode(
                episode.id,
                episode.task,
                episode.outcome,
                episode.num_frames,
                int((here > 0).sum()),
                float(here.mean()),
                tuple(dict.fromkeys(reasons.get(episode.id, ()))),
            )
        )
    return Curation(
        name=run.policy,
        method=method,
        rules=rules,
        weighed=weigh,
        episodes=tuple(episodes),
        stretches=tuple(stretches),
        effects=effects_of(tuple(episodes)),
        weights=weights,
        notes=_notes(run, judged),
    )


def _kept_frames(run: Run, stretches: list[Stretch]) -> BoolArray:
    is_kept = np.ones(int(run.values.episode_ends[-1]), dtype=np.bool_)
    for one in stretches:
        start = run.frames_of(run.position(one.episode)).start
        is_kept[start + one.first : start + one.last + 1] = False
    return is_kept


def _why_all(run: Run, rules: tuple[str, ...]) -> str:
    no_success = not any(episode.outcome is Outcome.SUCCESS for episode in run.episodes)
    return ", as no episode succeeded" if no_success and "not-success" in rules else ""


def _notes(run: Run, judged: bool) -> tuple[str, ...]:
    notes: list[str] = []
    optimism = optimism_note(run.episodes) if judged else None
    if optimism is not None:
        notes.append(optimism)
    if judged and run.trust.grade not in (Grade.GOOD, Grade.FAIR):
        notes.append(trust_words(run.trust))
    return tuple(notes)

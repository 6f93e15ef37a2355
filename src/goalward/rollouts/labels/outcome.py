"""The outcome of an episode: where it comes from, and never a guess.

A reader hands over the evidence it found per episode; this module chooses the source, checks
that sources agree, and says which one it used.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from goalward.errors import RolloutError, argument
from goalward.rollouts.episode import Outcome
from goalward.rollouts.findings import Findings, counted, some_of
from goalward.rollouts.labels.evidence import Evidence, Unlabelled
from goalward.rollouts.labels.stated import Labels, check_labels, stated_labels

# Where writers put the outcome, most trusted first (docs/formats.md says who writes which).
SUCCESS_COLUMNS = ("next.success", "is_success", "is_episode_successful", "success")
SUCCESS_FIELDS = ("episode_success", "is_episode_successful", "success")
REWARD_COLUMNS = ("next.reward",)
TERMINATED_COLUMNS = ("terminated", "next.terminated")
LABEL_FILES = (
    "meta/episode_labels.csv",
    "meta/episode_labels.json",
    "episode_labels.csv",
    "episode_labels.json",
)
ORDER = ("next.success", "is_success", "episode_success", "is_episode_successful", "success")

# A sparse reward repeats the label in some recorders and means something else in others: it
# counts only where nothing else speaks, and only if it ever changes (many writers fill it with 0).
LAST_RESORT = frozenset({"next.reward", "rewards", "steps/reward"})


@dataclass(frozen=True)
class Label:
    outcome: Outcome
    goal_frame: int | None


@dataclass(frozen=True)
class LabelOptions:
    """What the user says about labels.

    `labels` is a csv or json file, one of success, time_out and failure for all episodes, a list
    with an outcome per episode, or a dict from episodes to outcomes. `success_key` names the
    column, field or data set that holds the outcome. `horizon` is the number of frames after
    which the clock ran out: an unsuccessful episode that is shorter ended early and counts as a
    failure, which `early_failures` confirms; without it such a horizon is refused.
    """

    labels: Labels | None = None
    success_key: str | None = None
    horizon: int | None = None
    early_failures: bool = False

    def __post_init__(self) -> None:
        if self.labels is not None:
            check_labels(self.labels)
        if self.labels is not None and self.success_key is not None:
            raise RolloutError("give either a label file or a success key, not both")
        if self.horizon is not None and self.horizon < 1:
            raise RolloutError(f"{argument('horizon', self.horizon)}: must be at least 1 frame")
        if self.early_failures and self.horizon is None:
            raise RolloutError(
                f"{argument('early_failures', True)}: what is early depends on the clock; give it "
                f"with {argument('horizon')}"
            )


def decide(
    episodes: Sequence[Unlabelled],
    options: LabelOptions,
    findings: Findings,
    *,
    where: str,
    looked_for: str,
    holds: str,
) -> tuple[dict[str, Label], str]:
    """The label of every episode that has one, and the name of the source.

    Episodes the chosen source does not cover are left out; no label at all is an error that
    says what was looked for and what the data set does hold.
    """
    if options.labels is not None:
        chosen, label_source = stated_labels(episodes, options.labels, findings)
        _notice_overridden(episodes, chosen, label_source, findings)
    elif options.success_key is not None:
        chosen, label_source = _from_success_key(episodes, options.success_key, where, holds)
    else:
        holds = " ".join([holds, *findings.warnings])
        chosen, label_source = _from_best_source(episodes, where, looked_for, holds)
    labels: dict[str, Label] = {}
    for episode in episodes:
        evidence = chosen.get(episode.episode_id)
        if evidence is None:
            findings.leave_out(episode.episode_id, f"{where}: no label in {label_source}")
        elif evidence.goal_frame is not None and not (
            evidence.success and 0 <= evidence.goal_frame < episode.num_frames
        ):
            frames = f"with {episode.num_frames} frames"
            of = frames if evidence.success else "that did not succeed"
            findings.leave_out(
                episode.episode_id,
                f"{where}: {label_source} puts the goal at frame {evidence.goal_frame} of an "
                f"episode {of}",
            )
        else:
            labels[episode.episode_id] = _label(episode, evidence, options.horizon)
    if not labels:
        raise RolloutError(f"{where}: {label_source} labels none of the {len(episodes)} episodes")
    _check_early_ends(episodes, chosen, labels, options, where)
    _notice_imbalance(labels, episodes, options, findings)
    return labels, label_source


def _from_success_key(
    episodes: Sequence[Unlabelled], key: str, where: str, holds: str
) -> tuple[dict[str, Evidence], str]:
    chosen = {e.episode_id: e.evidence[key] for e in episodes if key in e.evidence}
    if not chosen:
        raise RolloutError(
            f"{where}: no usable success key {key}: it is absent, or holds more than true and "
            f"false. {holds}"
        )
    return chosen, key


def _from_best_source(
    episodes: Sequence[Unlabelled], where: str, looked_for: str, holds: str
) -> tuple[dict[str, Evidence], str]:
    coverage: dict[str, int] = {}
    for episode in episodes:
        for name in episode.evidence:
            coverage[name] = coverage.get(name, 0) + 1
    strong = [name for name in coverage if name not in LAST_RESORT]
    candidates = strong or [name for name in coverage if _ever_changes(name, episodes)]
    if not candidates:
        for name in coverage:
            holds += (
                f" {name} says the same of every frame in {counted(episodes)}, so it is no "
                f"label ({argument('success_key', name)} uses it all the same)."
            )
        raise RolloutError(
            f"{where}: no outcome label found. Looked for: {looked_for}. {holds} "
            f"Give a label file with {argument('labels')} (csv or json: episode_index,success) or "
            f"name the column with {argument('success_key')}."
        )
    # The most trusted source that covers the most episodes: a column that stops half-way loses.
    rank = {name: ORDER.index(name) if name in ORDER else len(ORDER) for name in candidates}
    candidates.sort(key=lambda name: (-coverage[name], rank[name]))
    best = candidates[0]
    for other in candidates[1:]:
        _check_agreement(episodes, best, other, where)
    return {e.episode_id: e.evidence[best] for e in episodes if best in e.evidence}, best


def _ever_changes(name: str, episodes: Sequence[Unlabelled]) -> bool:
    """Whether a reward tells any two frames of the data set apart.

    Evidence without a goal frame comes from a reward that is the same all through its episode.
    """
    said = {e.evidence[name] for e in episodes if name in e.evidence}
    return len(said) > 1 or any(evidence.goal_frame is not None for evidence in said)


def _check_agreement(episodes: Sequence[Unlabelled], best: str, other: str, where: str) -> None:
    disagree = [
        e.episode_id
        for e in episodes
        if best in e.evidence
        and other in e.evidence
        and e.evidence[best].success != e.evidence[other].success
    ]
    if disagree:
        raise RolloutError(
            f"{where}: {best} and {other} disagree on {counted(disagree)}: "
            f"{some_of(disagree)}. Say which is right with {argument('success_key')} or "
            f"{argument('labels')}."
        )


def _label(episode: Unlabelled, evidence: Evidence, horizon: int | None) -> Label:
    if evidence.success:
        goal_frame = evidence.goal_frame
        if goal_frame is None:
            # Another source may have seen when: a label file says that, next.success says when.
            marked = [
                e.goal_frame
                for name, e in episode.evidence.items()
                if e.goal_frame is not None and name not in LAST_RESORT
            ]
            goal_frame = marked[0] if marked else episode.num_frames - 1
        return Label(Outcome.SUCCESS, goal_frame)
    if evidence.outcome is not None:
        return Label(evidence.outcome, None)
    is_failure = episode.terminated or _ended_early(episode, horizon)
    return Label(Outcome.FAILURE if is_failure else Outcome.TIME_OUT, None)


def _ended_early(episode: Unlabelled, horizon: int | None) -> bool:
    return horizon is not None and episode.num_frames < horizon


def _check_early_ends(
    episodes: Sequence[Unlabelled],
    chosen: Mapping[str, Evidence],
    labels: Mapping[str, Label],
    options: LabelOptions,
    where: str,
) -> None:
    """A horizon that makes failures of time-outs asks back: it changes what is learned of them."""
    turned = [
        e
        for e in episodes
        if e.episode_id in labels
        and labels[e.episode_id].outcome is Outcome.FAILURE
        and not e.terminated
        and chosen[e.episode_id].outcome is None
    ]
    if not turned or options.early_failures:
        return
    ids, longest = some_of([e.episode_id for e in turned]), max(e.num_frames for e in turned)
    raise RolloutError(
        f"{where}: {argument('horizon', options.horizon)} would make failures of "
        f"{counted(turned, 'time-out')} with fewer frames: {ids} (at most {longest} frames; if the "
        f"clock ran out there, give {argument('horizon', longest)}). If they ended early because "
        "the goal could no longer follow, confirm it with "
        f"{argument('early_failures', True)}; without {argument('horizon')} each time-out has a "
        "clock of its own."
    )


def _notice_overridden(
    episodes: Sequence[Unlabelled],
    chosen: Mapping[str, Evidence],
    label_source: str,
    findings: Findings,
) -> None:
    for name in dict.fromkeys(name for e in episodes for name in e.evidence):
        if name in LAST_RESORT:
            continue
        overridden = [
            e.episode_id
            for e in episodes
            if name in e.evidence
            and e.episode_id in chosen
            and e.evidence[name].success != chosen[e.episode_id].success
        ]
        if overridden:
            findings.notice(
                f"{label_source} overrides {name} in {counted(overridden)}: {some_of(overridden)}"
            )


def _notice_imbalance(
    labels: Mapping[str, Label],
    episodes: Sequence[Unlabelled],
    options: LabelOptions,
    findings: Findings,
) -> None:
    outcomes = [label.outcome for label in labels.values()]
    if all(outcome is Outcome.SUCCESS for outcome in outcomes):
        findings.notice(
            f"all episodes ({len(outcomes)}) are successes: some recorders drop "
            "time-outs without a word, and then nothing here says how good the policy is"
        )
    elif Outcome.SUCCESS not in outcomes:
        findings.notice(f"none of the episodes ({len(outcomes)}) is a success")
    if options.horizon is None:
        return
    longer = [e.episode_id for e in episodes if e.num_frames > options.horizon]
    if longer:
        findings.notice(
            f"{counted(longer)} longer than the horizon of {options.horizon} frames: "
            f"{some_of(longer)}"
        )
    shorter = {
        e.num_frames
        for e in episodes
        if e.episode_id in labels and labels[e.episode_id].outcome is Outcome.FAILURE
    }
    if (
        len(shorter) == 1
        and Outcome.TIME_OUT not in outcomes
        and outcomes.count(Outcome.FAILURE) > 1
    ):
        length = shorter.pop()
        findings.notice(
            f"all {outcomes.count(Outcome.FAILURE)} unsuccessful episodes have {length} frames "
            f"and count as failures under the horizon of {options.horizon}: if the clock ran out "
            f"there, give {argument('horizon', length)}"
        )

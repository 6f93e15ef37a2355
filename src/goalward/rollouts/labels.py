"""The outcome of an episode: where it comes from, and never a guess.

A reader hands over the evidence it found per episode; this module chooses the source, checks
that sources agree, and says which one it used.
"""

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from goalward.errors import RolloutError
from goalward.rollouts.episode import Outcome
from goalward.rollouts.findings import Findings, some_of

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
# counts only where nothing else speaks.
LAST_RESORT = frozenset({"next.reward", "rewards", "steps/reward"})

_SUCCESS_WORDS = frozenset({"success", "succeeded", "successful", "true", "yes", "y", "1", "1.0"})
_TIME_OUT_WORDS = frozenset({"time_out", "timeout", "timed_out", "truncated"})
_FAILURE_WORDS = frozenset({"failure", "failed", "fail", "terminated"})
_NO_SUCCESS_WORDS = frozenset({"false", "no", "n", "0", "0.0"}) | _FAILURE_WORDS | _TIME_OUT_WORDS

_ID_COLUMNS = ("episode_index", "episode_id", "episode", "id", "path", "video", "file")
_OUTCOME_COLUMNS = ("outcome", "label")
_SUCCESS_VALUE_COLUMNS = ("success", "is_success", "episode_success")


@dataclass(frozen=True)
class Evidence:
    """What one source says about one episode.

    `outcome` is set where the source tells a time-out from a failure; `goal_frame` where it
    says when the goal was reached.
    """

    success: bool
    goal_frame: int | None = None
    outcome: Outcome | None = None


@dataclass(frozen=True)
class Unlabelled:
    """An episode that waits for its outcome."""

    episode_id: str
    num_frames: int
    evidence: Mapping[str, Evidence]
    terminated: bool = False
    other_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Label:
    outcome: Outcome
    goal_frame: int | None


# ---- evidence ----------------------------------------------------------------------------------


def evidence_from_frames(values: npt.ArrayLike) -> Evidence | None:
    """A column with one entry per frame: success if any is true, at the first that is.

    True on every frame of the episode says that the episode succeeded but not when: the goal
    frame stays open. Returns None if the numbers are not just 0 and 1 (a dense reward, say).

    >>> evidence_from_frames([False, True, True])
    Evidence(success=True, goal_frame=1, outcome=None)
    >>> evidence_from_frames([1.0, 1.0])
    Evidence(success=True, goal_frame=None, outcome=None)
    >>> evidence_from_frames([0.2, 0.7]) is None
    True
    """
    column = np.asarray(values)
    if column.dtype.kind in "OUS":
        words = [evidence_from_value(value) for value in column.tolist()]
        if any(word is None for word in words):
            return None
        column = np.array([word is not None and word.success for word in words])
    if column.ndim != 1 or len(column) == 0 or column.dtype.kind not in "biuf":
        return None
    if column.dtype.kind != "b" and not np.isin(column, (0, 1)).all():
        return None
    true_frames = np.flatnonzero(column)
    if len(true_frames) == 0:
        return Evidence(False)
    return Evidence(True, None if len(true_frames) == len(column) else int(true_frames[0]))


def evidence_from_value(value: object) -> Evidence | None:
    """One entry per episode: a boolean, 0 or 1, or a word. None if it says nothing.

    A two-valued field cannot tell a time-out from a failure, so "failure" there only means
    that the goal was not reached.

    >>> evidence_from_value("failure")
    Evidence(success=False, goal_frame=None, outcome=None)
    """
    word = _as_word(value)
    if word in _SUCCESS_WORDS:
        return Evidence(True)
    return Evidence(False) if word in _NO_SUCCESS_WORDS else None


def _evidence_from_outcome(value: object) -> Evidence | None:
    word = _as_word(value)
    if word in _TIME_OUT_WORDS:
        return Evidence(False, outcome=Outcome.TIME_OUT)
    if word in _FAILURE_WORDS:
        return Evidence(False, outcome=Outcome.FAILURE)
    return evidence_from_value(value)


def _as_word(value: object) -> str:
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if isinstance(value, np.generic):
        value = cast(object, value.item())
    return re.sub(r"[\s-]+", "_", str(value).strip().lower())


# ---- label files -------------------------------------------------------------------------------


def read_label_file(path: Path) -> dict[str, Evidence]:
    """Labels by episode from a csv or json file.

    csv: a header with one of episode_index, episode_id, episode, id, path and one of success
    (true or false) or outcome (success, time_out, failure), optionally goal_frame. json: a list
    of such rows, or an object {"0": true, "1": "failure"}.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise RolloutError(f"{path}: cannot read the label file ({error})") from error
    rows = _json_rows(text, path) if path.suffix.lower() == ".json" else _csv_rows(text, path)
    labels: dict[str, Evidence] = {}
    for number, row in rows:
        key, evidence = _row_label(row, f"{path}, {number}")
        if key in labels and labels[key] != evidence:
            raise RolloutError(f"{path}, {number}: episode {key} has two different labels")
        labels[key] = evidence
    if not labels:
        raise RolloutError(f"{path}: the label file holds no labels")
    return labels


def _csv_rows(text: str, path: Path) -> Iterable[tuple[str, Mapping[str, object]]]:
    try:
        for number, row in enumerate(csv.DictReader(text.splitlines()), start=2):
            yield f"line {number}", {str(key).strip().lower(): v for key, v in row.items()}
    except csv.Error as error:
        raise RolloutError(f"{path}: not a csv file ({error})") from error


def _json_rows(text: str, path: Path) -> Iterable[tuple[str, Mapping[str, object]]]:
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RolloutError(f"{path}: not a json file ({error})") from error
    if isinstance(content, dict):
        content = cast(dict[str, Any], content)
        content = content.get("episodes", content)
    if isinstance(content, dict):
        for key, value in cast(dict[str, Any], content).items():
            row = cast(dict[str, object], value) if isinstance(value, dict) else {"outcome": value}
            yield f"episode {key}", {"episode": key, **row}
    elif isinstance(content, list):
        for number, row in enumerate(cast(list[Any], content)):
            if not isinstance(row, dict):
                raise RolloutError(f"{path}, entry {number}: wanted an object, got {row!r}")
            yield f"entry {number}", cast(dict[str, object], row)
    else:
        raise RolloutError(f"{path}: wanted a list or an object of labels")


def _row_label(row: Mapping[str, object], where: str) -> tuple[str, Evidence]:
    id_column = next((name for name in _ID_COLUMNS if row.get(name) not in (None, "")), None)
    if id_column is None:
        raise RolloutError(f"{where}: no episode named; columns: {', '.join(map(str, row))}")
    evidence = None
    for name in (*_OUTCOME_COLUMNS, *_SUCCESS_VALUE_COLUMNS):
        if row.get(name) in (None, ""):
            continue
        parse = _evidence_from_outcome if name in _OUTCOME_COLUMNS else evidence_from_value
        evidence = parse(row[name])
        if evidence is None:
            raise RolloutError(
                f"{where}: {name} is {row[name]!r}; use true or false, or success, time_out "
                "or failure"
            )
        break
    if evidence is None:
        raise RolloutError(
            f"{where}: neither success nor outcome given; columns: {', '.join(map(str, row))}"
        )
    goal_frame = row.get("goal_frame")
    if goal_frame not in (None, ""):
        try:
            evidence = Evidence(evidence.success, int(str(goal_frame)), evidence.outcome)
        except ValueError as error:
            raise RolloutError(f"{where}: goal_frame is {goal_frame!r}") from error
    return str(row[id_column]).strip(), evidence


# ---- the decision ------------------------------------------------------------------------------


@dataclass(frozen=True)
class LabelOptions:
    """What the user says about labels.

    `labels` is a csv or json file, or one of success, time_out and failure for all episodes.
    `success_key` names the column, field or data set that holds the outcome. `horizon` is the
    number of frames after which the clock ran out: an unsuccessful episode that is shorter ended
    early and counts as a failure.
    """

    labels: str | Path | None = None
    success_key: str | None = None
    horizon: int | None = None

    def __post_init__(self) -> None:
        if self.labels is not None and self.success_key is not None:
            raise RolloutError("give either a label file or a success key, not both")
        if self.horizon is not None and self.horizon < 1:
            raise RolloutError(f"horizon must be at least 1 frame, got {self.horizon}")


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
    stated = _stated_labels(episodes, options, findings)
    if stated is not None:
        chosen, label_source = stated
    elif options.success_key is not None:
        chosen, label_source = _from_success_key(episodes, options.success_key, where, holds)
    else:
        chosen, label_source = _from_best_source(episodes, where, looked_for, holds)
    labels: dict[str, Label] = {}
    for episode in episodes:
        evidence = chosen.get(episode.episode_id)
        if evidence is None:
            findings.leave_out(episode.episode_id, f"{where}: no label in {label_source}")
        elif evidence.goal_frame is not None and not (
            evidence.success and 0 <= evidence.goal_frame < episode.num_frames
        ):
            findings.leave_out(
                episode.episode_id,
                f"{where}: {label_source} puts the goal at frame {evidence.goal_frame} of an "
                f"episode with {episode.num_frames} frames",
            )
        else:
            labels[episode.episode_id] = _label(episode, evidence, options.horizon)
    if not labels:
        raise RolloutError(f"{where}: {label_source} labels none of the {len(episodes)} episodes")
    _notice_imbalance(labels, episodes, options, findings)
    return labels, label_source


def _stated_labels(
    episodes: Sequence[Unlabelled], options: LabelOptions, findings: Findings
) -> tuple[dict[str, Evidence], str] | None:
    if options.labels is None:
        return None
    word = str(options.labels)
    if word in set(Outcome):
        evidence = _evidence_from_outcome(word)
        assert evidence is not None
        chosen = {episode.episode_id: evidence for episode in episodes}
        label_source = f"{word} for every episode, as stated"
    else:
        by_name = read_label_file(Path(options.labels))
        chosen, unknown = match_labels(by_name, episodes)
        label_source = f"label file {Path(options.labels).name}"
        if unknown:
            findings.notice(
                f"{options.labels}: names {len(unknown)} episodes that are not in the data set: "
                f"{some_of(unknown)}"
            )
    _notice_overridden(episodes, chosen, label_source, findings)
    return chosen, label_source


def match_labels(
    by_name: Mapping[str, Evidence], episodes: Sequence[Unlabelled]
) -> tuple[dict[str, Evidence], list[str]]:
    """Labels by episode id, and the names in the file that fit no episode."""
    chosen: dict[str, Evidence] = {}
    used: set[str] = set()
    for episode in episodes:
        for name in (episode.episode_id, *episode.other_names):
            if name in by_name:
                chosen[episode.episode_id] = by_name[name]
                used.add(name)
                break
    return chosen, [name for name in by_name if name not in used]


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
    candidates = strong or list(coverage)
    if not candidates:
        raise RolloutError(
            f"{where}: no outcome label found. Looked for: {looked_for}. {holds} "
            "Give a label file with --labels FILE (csv or json: episode_index,success) or name "
            "the column with --success-key NAME."
        )
    # The most trusted source that covers the most episodes: a column that stops half-way loses.
    rank = {name: ORDER.index(name) if name in ORDER else len(ORDER) for name in candidates}
    candidates.sort(key=lambda name: (-coverage[name], rank[name]))
    best = candidates[0]
    for other in candidates[1:]:
        _check_agreement(episodes, best, other, where)
    return {e.episode_id: e.evidence[best] for e in episodes if best in e.evidence}, best


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
            f"{where}: {best} and {other} disagree on {len(disagree)} episodes: "
            f"{some_of(disagree)}. Say which is right with --success-key or --labels."
        )


def _label(episode: Unlabelled, evidence: Evidence, horizon: int | None) -> Label:
    if evidence.success:
        goal_frame = evidence.goal_frame
        if goal_frame is None:
            # Another source may have seen when: a label file says that, next.success says when.
            marked = [e.goal_frame for e in episode.evidence.values() if e.goal_frame is not None]
            goal_frame = marked[0] if marked else episode.num_frames - 1
        return Label(Outcome.SUCCESS, goal_frame)
    if evidence.outcome is not None:
        return Label(evidence.outcome, None)
    ended_early = horizon is not None and episode.num_frames < horizon
    return Label(Outcome.FAILURE if episode.terminated or ended_early else Outcome.TIME_OUT, None)


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
                f"{label_source} overrides {name} in {len(overridden)} episodes: "
                f"{some_of(overridden)}"
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
            f"every one of the {len(outcomes)} episodes is a success: some recorders drop "
            "time-outs without a word, and then nothing here says how good the policy is"
        )
    elif Outcome.SUCCESS not in outcomes:
        findings.notice(f"none of the {len(outcomes)} episodes is a success")
    if options.horizon is None:
        return
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
            f"there, give --horizon {length}"
        )

"""What is known about a rollout video: from its name, lerobot-eval's report, or a csv beside it."""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, cast

from goalward.errors import RolloutError
from goalward.git_lfs import explained, is_pointer_file
from goalward.rollouts.findings import Findings, some_of
from goalward.rollouts.labels.evidence import Evidence, evidence_from_value
from goalward.rollouts.labels.files import read_label_file

EVAL_INFO = "eval_info.json"
FILE_NAME = "file name"

_OPENVLA_SUCCESS = re.compile(r"(?:^|--)success=(True|False)(?=--|$)", re.IGNORECASE)
_OPENVLA_TASK = re.compile(r"--task=(.+)$")
_OPENPI = re.compile(r"rollout_(?:(.+)_)?(success|failure)")
_PATH_COLUMNS = frozenset({"path", "video", "file"})
_OUTCOME_COLUMNS = frozenset({"success", "outcome"})


@dataclass(frozen=True)
class LabelClaim:
    """What one source says about one video."""

    evidence: Evidence | None
    task: str = ""


@dataclass
class LabelClaims:
    """What one source says about the videos of a folder, by their place in it.

    `contested` are videos about which it says different things; `not_episodes` are videos of
    something else.
    """

    source: str
    claims: dict[str, LabelClaim] = field(default_factory=dict[str, LabelClaim])
    contested: set[str] = field(default_factory=set[str])
    not_episodes: set[str] = field(default_factory=set[str])
    unknown: list[str] = field(default_factory=list[str])

    def add(self, stated: str, video: str | None, claim: LabelClaim) -> None:
        if video is None:
            self.unknown.append(stated)
        elif self.claims.setdefault(video, claim) != claim:
            self.contested.add(video)


class VideoNames:
    """The videos of a folder by everything they may be called.

    `relative` are their paths below the folder. A name that fits several videos fits none.
    """

    def __init__(self, relative: Sequence[str]) -> None:
        self._relative = frozenset(relative)
        self._max_parts = max((name.count("/") + 1 for name in relative), default=0)
        self.ids = _unique_ids(relative)
        short = {name: {PurePosixPath(name).name, PurePosixPath(name).stem} for name in relative}
        uses = Counter(word for name, words in short.items() for word in {*words, self.ids[name]})
        self.other_names: dict[str, tuple[str, ...]] = {}
        self._by_name: dict[str, str] = {}
        for name in relative:
            unique = sorted(word for word in short[name] if uses[word] == 1)
            self.other_names[name] = tuple(dict.fromkeys((name, *unique)))
            self._by_name |= dict.fromkeys((self.ids[name], *self.other_names[name]), name)

    def find(self, stated: str) -> str | None:
        """The video that another program calls so, whatever folder it ran in.

        Leading folders are dropped until what is left lies below this folder, so that nothing
        outside of it is ever reached.

        >>> VideoNames(["videos/a_0/eval_episode_0.mp4"]).find("/x/videos/a_0/eval_episode_0.mp4")
        'videos/a_0/eval_episode_0.mp4'
        """
        parts = [part for part in re.split(r"[/\\]", stated) if part not in ("", ".")]
        for start in range(max(0, len(parts) - self._max_parts), len(parts)):
            suffix = "/".join(parts[start:])
            if suffix in self._relative:
                return suffix
        return self._by_name.get(stated)


def _unique_ids(relative: Sequence[str]) -> dict[str, str]:
    """Paths without suffix; with it where a.mp4 lies next to a.avi."""
    without = {name: str(PurePosixPath(name).with_suffix("")) for name in relative}
    uses = Counter(without.values())
    return {name: name if uses[short] > 1 else short for name, short in without.items()}


# ---- file names ----------------------------------------------------------------------------------


def claim_from_name(stem: str) -> LabelClaim:
    """The outcome and task in a file name of openpi or OpenVLA; nothing in any other.

    Both write "failure" when the clock ran out as well, so that it only means: no success.
    OpenVLA cuts the task after 50 characters.

    >>> claim = claim_from_name("rollout_close_the_drawer_failure")
    >>> claim.task, claim.evidence
    ('close the drawer', Evidence(success=False, goal_frame=None, outcome=None))
    """
    openvla = _OPENVLA_SUCCESS.search(stem)
    if openvla is not None:
        task = _OPENVLA_TASK.search(stem)
        return LabelClaim(evidence_from_value(openvla[1]), _words(task[1]) if task else "")
    openpi = _OPENPI.fullmatch(stem)
    if openpi is not None:
        return LabelClaim(evidence_from_value(openpi[2]), _words(openpi[1] or ""))
    return LabelClaim(None)


def _words(task: str) -> str:
    return " ".join(task.replace("_", " ").split())


# ---- lerobot-eval --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Evaluation:
    """One task as lerobot-eval reports it: only the first few episodes have a video."""

    task: str
    successes: Sequence[object]
    video_paths: Sequence[str]
    predicted_video_paths: Sequence[str]


def read_eval_info(path: Path, names: VideoNames, findings: Findings) -> LabelClaims:
    """What eval_info.json says; RolloutError if it cannot be read."""
    try:
        if not path.is_file():  # reading a pipe would wait for ever
            raise OSError("is no regular file")
        content: Any = json.loads(path.read_text(encoding="utf-8"))
        evaluations = list(_evaluations(content))
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        problem = f"not a report of lerobot-eval ({type(error).__name__}: {error})"
        raise RolloutError(explained(path, problem)) from error
    result = LabelClaims(path.name)
    num_episodes = num_shown = 0
    for evaluation in evaluations:
        num_episodes += len(evaluation.successes)
        num_shown += min(len(evaluation.video_paths), len(evaluation.successes))
        # Rendering goes on to the end of the last batch: there may be more videos than labels.
        for success, video in zip(evaluation.successes, evaluation.video_paths, strict=False):
            claim = LabelClaim(evidence_from_value(success), evaluation.task)
            result.add(video, names.find(video), claim)
        result.not_episodes |= set(filter(None, map(names.find, evaluation.predicted_video_paths)))
    if num_shown < num_episodes:
        findings.notice(
            f"{path}: {num_episodes - num_shown} of {num_episodes} episodes have no video and "
            "are left out (lerobot-eval films the first few of each task)"
        )
    return result


def _evaluations(content: Any) -> Iterator[_Evaluation]:
    """The new layout has a list of tasks, the old one a single task without a name."""
    if "per_task" in content:
        for entry in content["per_task"]:
            task = f"{entry['task_group']}/{entry['task_id']}"
            yield _evaluation(task, entry["metrics"], entry["metrics"]["successes"])
    else:
        successes = [episode["success"] for episode in content["per_episode"]]
        yield _evaluation("", content, successes)


def _evaluation(task: str, content: Mapping[str, Any], successes: Any) -> _Evaluation:
    paths: list[list[str]] = []
    for key in ("video_paths", "predicted_video_paths"):
        stated: Any = content.get(key, [])
        if not isinstance(stated, list) or not isinstance(successes, list):
            raise TypeError(f"{key} and successes must be lists")
        if not all(isinstance(video, str) for video in cast(list[object], stated)):
            raise TypeError(f"{key} holds something else than paths")
        paths.append(cast(list[str], stated))
    return _Evaluation(task, cast(list[object], successes), *paths)


# ---- csv files -----------------------------------------------------------------------------------


def label_files(folder: Path) -> list[Path]:
    """The csv files of a folder that have a column of paths and one of outcomes, or may have."""
    found = (path for path in sorted(folder.glob("*.csv")) if not path.is_dir())
    # What cannot be looked into, a pipe for example, is told when it is to be read.
    return [p for p in found if not p.is_file() or _is_labels(p) or is_pointer_file(p)]


def _is_labels(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader([file.readline(10_000)]), list[str]())
    except (OSError, UnicodeDecodeError, csv.Error):
        return False
    columns = {column.strip().lower() for column in header}
    return bool(columns & _PATH_COLUMNS) and bool(columns & _OUTCOME_COLUMNS)


def read_csv(path: Path, names: VideoNames, findings: Findings) -> LabelClaims:
    """What a csv of path,success says; RolloutError if it cannot be read."""
    result = LabelClaims(path.name)
    for label in read_label_file(path, names.find):
        result.add(label.name, label.episode_id, LabelClaim(label.evidence))
    return result


def notice_unknown(folder: Path, sources: Iterable[LabelClaims], findings: Findings) -> None:
    """Videos that are named and not there: not all of the evaluation is in the folder."""
    for source in sources:
        if source.unknown:
            findings.damage(
                f"{folder / source.source}: names {len(source.unknown)} videos that are not in "
                f"the folder: {some_of(source.unknown)}"
            )

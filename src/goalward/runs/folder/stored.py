"""A run's folder, written and read back: the only place that knows what its files hold."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from goalward.checksums import check, damage_explained
from goalward.columns import Column, names
from goalward.config import read_toml
from goalward.errors import GoalwardError, RolloutError, argument
from goalward.files import write_text
from goalward.metrics.scores.table import SCORES
from goalward.rollouts.episode import Episode, Outcome
from goalward.run_folder import RunFolder
from goalward.runs.folder.codec import (
    FORMAT,
    FORMAT_KEY,
    read_json,
    read_settings,
    write_json,
    write_settings,
)
from goalward.runs.folder.whole import again, check_files, remedy_of
from goalward.runs.results import Results
from goalward.runs.run import Run
from goalward.runs.settings import RunEpisode, RunSettings
from goalward.values.chances import read_chances
from goalward.values.events import Event, read_events, write_events
from goalward.values.table import EPISODE, TASK, ValueTable, read_values

_OUTCOME = Column("outcome", "text", f"how it ended: {', '.join(Outcome)}")
EPISODE_COLUMNS = (
    Column("episode", "text", "its id, as the data set calls it"),
    TASK,
    _OUTCOME,
    Column("num_frames", "whole number", "how long it is", "frames"),
    Column("goal_frame", "whole number", "where the goal was reached", empty="it was not"),
    Column("fps", "number", "how fast it was recorded", "frames per second", "nobody knows"),
    Column("held_out", "true or false", "judged by networks that never saw it"),
    Column("fold", "text", "the part that it was held out with", empty="it was learned from"),
)
_OUTCOME_COLUMNS = (
    Column("policy", "text", "the policy's name"),
    EPISODE,
    _OUTCOME,
    Column("steps", "whole number", "to the goal, or to where it ended without", "steps"),
)
# The table that `goalward compare` takes; the task only where some have names.
OUTCOME_COLUMNS = (*_OUTCOME_COLUMNS, TASK)


def write_run(run: Run) -> None:
    """All that `open_run` reads; networks, pages and the like are written by who makes them."""
    write_run_settings(run.folder, run.settings)
    write_episodes(run.folder, run.episodes, run.policy)
    run.values.write(run.folder.values)
    run.chances.write(run.folder.chances)
    write_results(run.folder, run.results, run.events)


def open_run(folder: str | Path) -> Run:
    """A finished evaluation: a folder that `goalward evaluate` or `goalward.evaluate` wrote.

    What is no such folder, is not finished, or was written by another version is an error that
    says which, and what to do.
    """
    files = RunFolder(Path(folder))
    check_run_folder(files)
    with damage_explained(remedy_of(files)):
        return _open(files)


def as_run(run: Run | str | Path) -> Run:
    """A run as it is, or the one in a folder."""
    return run if isinstance(run, Run) else open_run(run)


def _open(files: RunFolder) -> Run:
    settings = read_settings(files.config, RunSettings)
    _check_finished(files, settings.made_by.command)
    # The settings too: a whole file of another run carries a checksum that fits.
    made = (files.episodes, files.events, files.values, files.chances, files.scores)
    check_files(files, files.config, *made)
    episodes, events = read_episodes(files.episodes), read_events(files.events)
    run = Run(
        folder=files,
        settings=settings,
        episodes=episodes,
        values=_read_table(files.values, settings.made_by.command),
        chances=read_chances(files.chances),
        events={episode.id: events.get(episode.id, ()) for episode in episodes},
        results=read_json(files.scores, Results),
    )
    _check_scores(run)
    lengths = np.diff(run.values.episode_ends, prepend=0).tolist()
    recorded = [(episode.id, episode.num_frames) for episode in episodes]
    if not recorded or recorded != list(zip(run.values.episode_ids, lengths, strict=True)):
        raise GoalwardError(
            f"{files.path}: {files.episodes.name} and {files.values.name} are not of the same "
            f"episodes; {again(settings.made_by.command)}"
        )
    values, chances = run.values, run.chances
    if (values.methods, values.episode_ids) != (chances.methods, chances.episode_ids) or (
        values.episode_ends.tolist() != chances.episode_ends.tolist()
    ):
        raise GoalwardError(
            f"{files.path}: {files.values.name} and {files.chances.name} are not of the same "
            f"methods and episodes; {again(settings.made_by.command)}"
        )
    return run


def check_run_folder(files: RunFolder) -> None:
    """That the folder is one of an evaluation, by a version whose files we can read."""
    if not files.path.is_dir():
        what = "is a file, not a folder" if files.path.exists() else "no such folder"
        raise GoalwardError(f"{files.path}: {what}")
    if not files.config.is_file():
        if holds_results(files):
            raise GoalwardError(
                f"{files.path}: is a run without its {files.config.name}, which says what the run "
                f"was made from; the same `goalward evaluate` with "
                f"{argument('out', str(files.path))} writes it again"
            )
        raise GoalwardError(
            f"{files.path}: is no folder of `goalward evaluate` (it has no {files.config.name}); "
            f"give the one that was its {argument('out')}"
        )
    with damage_explained(remedy_of(files)):
        check(files.config)
    settings = read_toml(files.config)
    found = settings.get(FORMAT_KEY)
    if found == FORMAT:
        return
    made_by = settings.get("made_by")
    made_by = made_by if isinstance(made_by, dict) else {}
    version = str(made_by.get("goalward", "an unknown version"))
    if isinstance(found, int) and found > FORMAT:
        raise GoalwardError(
            f"{files.path}: was written by a newer goalward ({version}); update this one to open it"
        )
    raise GoalwardError(
        f"{files.path}: was written by goalward {version}, whose files this version does not read; "
        f"{again(str(made_by.get('command', '')))}, which keeps its networks and takes seconds"
    )


def holds_results(files: RunFolder) -> bool:
    """Whether an evaluation left files here that nothing else writes; one alone may be a copy."""
    made = (files.values, files.chances, files.scores, files.steps)
    return sum(file.is_file() for file in made) > 1


def _check_finished(files: RunFolder, command: str) -> None:
    for file in (files.episodes, files.values, files.chances, files.events, files.scores):
        if not file.is_file():
            raise GoalwardError(
                f"{files.path}: is not finished (it has no {file.name} yet); {again(command)} "
                "goes on where it stopped"
            )


def _check_scores(run: Run) -> None:
    """That every method has every score of the table, which may have grown since."""
    for method in run.values.methods:
        card = run.scores.cards.get(method, {})
        missing = [name for name in SCORES if name not in card]
        if missing:
            raise GoalwardError(
                f"{run.folder.scores}: {method} has no {missing[0]}; "
                f"{again(run.settings.made_by.command)}"
            )


# ---- settings and results -----------------------------------------------------------------------


def write_run_settings(files: RunFolder, settings: RunSettings) -> None:
    write_settings(files.config, settings)


def write_results(
    files: RunFolder, results: Results, events: Mapping[str, Sequence[Event]]
) -> tuple[Path, ...]:
    """Scores, truth and doubts as one file, events as another; both are named."""
    write_json(files.scores, results)
    write_events(files.events, events)
    return files.scores, files.events


# ---- episodes -----------------------------------------------------------------------------------


def write_episodes(
    files: RunFolder, episodes: Sequence[RunEpisode], policy: str
) -> tuple[Path, ...]:
    """The list of episodes, and the table of outcomes that `goalward compare` takes."""
    # Tasks without a name are all one task, and need no column.
    has_tasks = any(episode.task for episode in episodes)
    rows: list[tuple[str, ...]] = [names(EPISODE_COLUMNS)]
    outcomes: list[tuple[str, ...]] = [names(OUTCOME_COLUMNS if has_tasks else _OUTCOME_COLUMNS)]
    for episode in episodes:
        goal = "" if episode.goal_frame is None else str(episode.goal_frame)
        # Steps of a success count to its goal, those of the others to where they ended.
        steps = goal or str(episode.num_frames - 1)
        held_out = "true" if episode.held_out else "false"
        facts = (episode.id, episode.task, str(episode.outcome), str(episode.num_frames))
        rate = "" if episode.fps is None else str(episode.fps)
        rows.append((*facts, goal, rate, held_out, episode.fold))
        task = (episode.task or "without a name",) if has_tasks else ()
        outcomes.append((policy, episode.id, str(episode.outcome), steps, *task))
    for path, table in ((files.episodes, rows), (files.outcomes, outcomes)):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(table)
        write_text(path, text.getvalue())
    return files.episodes, files.outcomes


def read_episodes(path: Path) -> tuple[RunEpisode, ...]:
    """What `write_episodes` wrote of the episodes."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            episodes = tuple(map(_read_episode, csv.DictReader(file)))
    except (OSError, ValueError, KeyError, TypeError, csv.Error, RolloutError) as error:
        raise GoalwardError(f"{path}: is no list of episodes ({error})") from error
    seen: set[str] = set()
    for episode in episodes:
        if episode.id in seen:
            raise GoalwardError(f"{path}: is no list of episodes (two are called {episode.id})")
        seen.add(episode.id)
    return episodes


def _read_episode(row: Mapping[str, str]) -> RunEpisode:
    episode = RunEpisode(
        id=row["episode"],
        task=row["task"],
        outcome=Outcome(row["outcome"]),
        num_frames=int(row["num_frames"]),
        goal_frame=int(row["goal_frame"]) if row["goal_frame"] else None,
        fold=row["fold"],
        # Earlier folders have no such column.
        fps=float(row["fps"]) if row.get("fps") else None,
    )
    # An episode that could not have been recorded is an error there.
    Episode(episode.id, episode.num_frames, episode.outcome, episode.goal_frame, fps=episode.fps)
    if row["held_out"] != ("true" if episode.held_out else "false"):
        raise ValueError(f"episode {episode.id} is held out in one column and not in the other")
    return episode


# ---- values -------------------------------------------------------------------------------------


def _read_table(path: Path, command: str) -> ValueTable:
    """Values whose every number of steps is one; what is not would spread to all results."""
    try:
        values = read_values(path)
        lengths = np.diff(values.episode_ends, prepend=0)
        if len(lengths) != len(values.episode_ids) or lengths.min() < 1:
            raise ValueError("episodes without a first frame")
        is_bad = ~(values.steps_to_goal >= 0)
    except (ValueError, TypeError, pa.ArrowException) as error:
        raise GoalwardError(f"{path}: is no whole table of values ({error})") from error
    if is_bad.any():
        method, seed, row = np.argwhere(is_bad)[0].tolist()
        position = int(np.searchsorted(values.episode_ends, row, side="right"))
        frame = row - int(values.episode_ends[position] - lengths[position])
        raise GoalwardError(
            f"{path}: {values.methods[method]}, seed {values.seeds[seed]}: episode "
            f"{values.episode_ids[position]}: {values.steps_to_goal[method, seed, row]} steps to "
            f"go in frame {frame}"
        )
    if values.value is None or values.hindsight_value is None:
        raise GoalwardError(
            f"{path}: has no column value or hindsight_value, as earlier versions wrote none; "
            f"{again(command)}, which keeps its networks and takes seconds"
        )
    return values

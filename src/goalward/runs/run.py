"""One evaluation: its settings, episodes, values, events and results, in memory and on disk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import goalward
from goalward.errors import GoalwardError, RolloutError, argument
from goalward.metrics.doubts import Doubt
from goalward.metrics.evaluation_scores import EvaluationScores
from goalward.metrics.familiarity import Familiarity
from goalward.metrics.time_out_answer import TimeOutAnswer, time_out_answer
from goalward.metrics.trust import Trust, trust_of
from goalward.metrics.truth.card import TruthCard
from goalward.metrics.truth.frame_truth import TRUTH_FILE, FrameTruth, read_truth
from goalward.progress import OnProgress, unheard
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.embedded import located
from goalward.rollouts.findings import some_of
from goalward.run_folder import RunFolder
from goalward.runs.curves import Curves, curves_of
from goalward.runs.episode_table import EpisodeRow, SortedBy, episode_rows, sorted_rows
from goalward.runs.folder.whole import check_files
from goalward.runs.next_steps import NextStep, next_steps
from goalward.runs.read_again import read_again
from goalward.runs.results import Results, common_discount
from goalward.runs.settings import RunEpisode, RunSettings
from goalward.stores.place import StoredPath, url_of
from goalward.values.chances import ChanceTable
from goalward.values.events import EVENTS_OF, Event, EventsOf, table_events
from goalward.values.hindsight import HindsightChoice
from goalward.values.table import ValueTable
from goalward.values.training_log import TrainingLog, read_training_log

if TYPE_CHECKING:
    from pandas import DataFrame

Events = Mapping[str, tuple[Event, ...]]


@dataclass(frozen=True, eq=False)
class Run:
    """A finished evaluation, as `goalward.evaluate` returns it and `goalward.open_run` finds it.

    `episodes`, `values` and `chances` go together, in the same order; `events` are those of each
    episode by its id, as the first method sees them. `rollouts` are there if the run was just made
    from them.
    """

    folder: RunFolder
    settings: RunSettings
    episodes: tuple[RunEpisode, ...]
    values: ValueTable
    chances: ChanceTable
    events: Events
    results: Results
    rollouts: Rollouts | None = None

    def __repr__(self) -> str:
        held_out = sum(episode.held_out for episode in self.episodes)
        return (
            f"Run({str(self.folder.path)!r}: {self.policy}; {len(self.episodes)} episodes, "
            f"{held_out} held out; {', '.join(self.values.methods)})"
        )

    # ---- what was found ----------------------------------------------------------------------

    @property
    def policy(self) -> str:
        """The policy's name."""
        return self.settings.evaluation.policy

    @property
    def method(self) -> str:
        """The method that speaks for the policy."""
        return self.values.methods[0]

    @property
    def scores(self) -> EvaluationScores:
        """Scores of every method on held-out episodes, and the answers about the policy."""
        return self.results.scores

    @property
    def truth(self) -> TruthCard | None:
        """How far every method is from the truth; None where nobody knows it."""
        return self.results.truth

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """Why the values of the speaking method are not to be relied on; none if they may be."""
        return self.results.doubts

    @property
    def trust(self) -> Trust:
        """How far the values of the speaking method can be trusted, as a grade with its reasons."""
        known = self.results.trust
        return trust_of(self.scores, self.doubts) if known is None else known

    @cached_property
    def time_outs(self) -> TimeOutAnswer:
        """What may be said of time-outs given more time; everybody who speaks of them reads it."""
        return time_out_answer(self.scores, self.trust, self.truth)

    @cached_property
    def next_steps(self) -> tuple[NextStep, ...]:
        """What to do now, at most three things, the most useful first."""
        return next_steps(self)

    @property
    def hindsight(self) -> HindsightChoice:
        """How far hindsight values follow the recording, and why so far."""
        return self.results.hindsight

    @property
    def familiarity(self) -> Familiarity | None:
        """How far its episodes lie from those that its networks learned from, if in another run."""
        return self.results.familiarity

    @property
    def time_limit(self) -> int:
        """The most steps that an episode took."""
        return max(max(episode.num_frames for episode in self.episodes) - 1, 1)

    @cached_property
    def discount(self) -> float:
        """The common scale of all methods: k steps to go are worth 1 - 2 discount^k."""
        return common_discount(self.settings.evaluation, self.time_limit)

    def curves(self, method: str | None = None) -> Curves:
        """Values and hindsight values of a method on the common scale; None: the speaking one."""
        method = self.method if method is None else method
        if method not in self._curves:
            self._curves[method] = curves_of(self.values, method, self.discount)
        return self._curves[method]

    @cached_property
    def _curves(self) -> dict[str, Curves]:
        """Those asked for so far: reports and sheets ask once per episode."""
        return {}

    def events_by(self, method: str | None = None, *, of: EventsOf = EVENTS_OF) -> Events:
        """The events of every episode by its id, as the speaking method or another sees them.

        Found in its values, what could be said at each moment; or `of` its hindsight values, which
        know what comes and hardly fall, so that there are few setbacks. The ceiling is the longest
        episode: nothing further away was ever seen to be reached.
        """
        method = self.method if method is None else method
        if method == self.method and of == EVENTS_OF:
            return self.events
        if of not in ("hindsight", "value"):
            raise GoalwardError(f"events are found of hindsight or of value, not of {of!r}")
        goals = [episode.goal_frame for episode in self.episodes]
        steps = self.curves(method).hindsight_steps_by_seed if of == "hindsight" else None
        found = table_events(self.values, method, goals, ceiling=self.time_limit, steps=steps)
        return dict(zip(self.values.episode_ids, found, strict=True))

    @property
    def has_training_log(self) -> bool:
        """Not every run has one; where one was written and is gone, that is an error."""
        check_files(self.folder, self.folder.training_log)
        return self.folder.training_log.is_file()

    def training_log(self) -> TrainingLog:
        """Losses of every network over its gradient steps."""
        check_files(self.folder, self.folder.training_log)
        return read_training_log(self.folder.training_log)

    def summary(self) -> str:
        """The answer in words, as Markdown."""
        return goalward.summary(self)

    def to_pandas(self) -> "DataFrame":
        """A row per method, seed and frame: values, and the chance of success that seeds share."""
        horizon, num_seeds = self.scores.standard_horizon, len(self.values.seeds)
        chance = [self.chances.within_steps(m, horizon) for m in self.values.methods]
        return self.values.to_pandas().assign(chance=np.repeat(chance, num_seeds, axis=0).ravel())

    # ---- its episodes ------------------------------------------------------------------------

    def position(self, episode_id: str | int) -> int:
        """Where an episode stands; an unknown id is an error that names some that exist."""
        if str(episode_id) not in self._position_of:
            raise GoalwardError(
                f"{self.folder.path}: no episode {episode_id}; there are: "
                f"{some_of([episode.id for episode in self.episodes])}"
            )
        return self._position_of[str(episode_id)]

    @cached_property
    def _position_of(self) -> dict[str, int]:
        return {episode.id: position for position, episode in enumerate(self.episodes)}

    def episode(self, episode_id: str | int) -> RunEpisode:
        """The episode with this id, which is a text; a number stands for its digits."""
        return self.episodes[self.position(episode_id)]

    def episode_table(
        self, sort: SortedBy = "id", *, reverse: bool = False
    ) -> tuple[EpisodeRow, ...]:
        """A row per episode: how it ended, its value and chance at the end, its largest events.

        What `goalward episodes` shows. `pandas.DataFrame(run.episode_table())` is a table.
        """
        return sorted_rows(episode_rows(self), sort, reverse=reverse)

    def frames_of(self, position: int) -> slice:
        """Where the frames of the episode at this position lie among all of the run."""
        ends = self.values.episode_ends
        return slice(int(ends[position - 1]) if position else 0, int(ends[position]))

    def file_stem(self, position: int) -> str:
        """The name of a file about the episode at this position; no two have the same."""
        return self.episodes[position].file_stem(position)

    # ---- the rollouts behind it --------------------------------------------------------------

    def data_path(self, data: str | Path | None = None) -> Path:
        """Where the rollouts lie: `data`, or where they were when the run was made."""
        if data is None and not self.settings.data.path:
            raise GoalwardError(
                f"{self.folder.path}: its rollouts were given in memory; say with "
                f"{argument('data')} where they lie"
            )
        return located(self.settings.data.path if data is None else data)

    def data_folder(self, data: str | Path | None = None) -> Path:
        """The same, for whoever needs all its files: those of a store are not all here."""
        path = self.data_path(data)
        if isinstance(path, StoredPath):
            raise GoalwardError(
                f"{url_of(path)}: this needs all files of the data set in a folder of this "
                f"machine; copy it here and say with {argument('data')} where it lies"
            )
        return path

    def read_rollouts(
        self, data: str | Path | None = None, on_progress: OnProgress = unheard
    ) -> Rollouts:
        """The rollouts behind the run, for their frames; `data` says where they lie now.

        In the order of `episodes`. Rollouts that are not those of the run are an error.
        """
        if data is None and self.rollouts is not None:
            return self.rollouts
        path = self.data_path(data)
        try:
            return read_again(path, self.settings.reading, self.episodes, self.folder, on_progress)
        except GoalwardError as error:
            if data is not None:
                raise
            hint = f"{argument('data')} says where the rollouts lie now"
            raise RolloutError(f"{error} ({hint})") from error

    def read_truth(self, data: str | Path | None = None) -> FrameTruth | None:
        """What `goalward truth` measured for the run's rollouts, if it is there.

        In the folder of the data, `data` where that has moved, or where the evaluation found it.
        """
        told = self.settings.data.truth
        places = [] if not told else [located(told)]
        if data is not None or self.settings.data.path:
            places.insert(0, self.data_path(data) / TRUTH_FILE)
        return next((read_truth(path) for path in places if path.is_file()), None)

    # ---- handed on ---------------------------------------------------------------------------

    def report(
        self,
        out: str | Path | None = None,
        *,
        data: str | Path | None = None,
        videos: bool = True,
        max_height: int = 480,
        progress: bool = True,
    ) -> Path:
        """Write the pages to look at, and say which file to open; see `goalward.write_report`."""
        return goalward.write_report(
            self, out, data=data, videos=videos, max_height=max_height, progress=progress
        )

    def export(
        self,
        to: str,
        *,
        out: str | Path | None = None,
        method: str | None = None,
        episodes: Sequence[str] | None = None,
        **options: Any,
    ) -> Path:
        """Write the values as files that other tools read; see `goalward.export`."""
        written = goalward.export(self, to, out=out, method=method, episodes=episodes, **options)
        return written.path

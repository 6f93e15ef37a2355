"""The name of every artefact of an evaluation, in one place."""

from dataclasses import dataclass
from pathlib import Path

# In the folder of an audit: what a person fills in, and so never replaced nor removed.
LABEL_LISTS = "labels*.csv"


@dataclass(frozen=True)
class RunFolder:
    """A folder that `goalward evaluate` writes and other commands read.

    | file | what |
    |---|---|
    | `config.toml` | the data, the options, the versions and the command behind it all |
    | `episodes.csv` | a row per episode: task, outcome, length, goal frame, held out or not |
    | `outcomes.csv` | policy, episode, success, steps: what `goalward compare` takes |
    | `networks/` | the value functions |
    | `training_log.csv` | losses of every network over its gradient steps |
    | `values.parquet` | value and steps to the goal of every frame, by method and seed |
    | `chances.parquet` | chance of success within so many steps of every frame, by method |
    | `events.csv` | setbacks, recoveries, stalls, goals: episode, kind, frames, steps to go |
    | `scores.json` | every score of every method, what the values say of the policy, how far they |
    | | are from what is true, where a simulator could tell, and what is to be doubted |
    | `tables/`, `figures/` | the same as Markdown and LaTeX, as PNG and SVG |
    | `summary.md` | the answer in words |
    | `report/` | the same to look at in a browser, with the episodes: `index.html` |
    | `sheets/` | frames of an episode over its curve, as PNG, SVG and PDF |
    | `exports/` | values as other tools read them |
    | `audit/` | labels and copies to look at, a list of labels to fill in, a picture |
    | `notes.json` | what people noted of episodes while `goalward view` showed them |
    | `curation/` | which frames to learn from next: lists, weights, commands |
    | `steps.json` | which step was made from what, so that nothing is done twice |
    """

    path: Path

    @property
    def config(self) -> Path:
        return self.path / "config.toml"

    @property
    def notes(self) -> Path:
        return self.path / "notes.json"

    @property
    def episodes(self) -> Path:
        return self.path / "episodes.csv"

    @property
    def outcomes(self) -> Path:
        return self.path / "outcomes.csv"

    @property
    def networks(self) -> Path:
        return self.path / "networks"

    @property
    def training_log(self) -> Path:
        return self.path / "training_log.csv"

    @property
    def values(self) -> Path:
        return self.path / "values.parquet"

    @property
    def chances(self) -> Path:
        return self.path / "chances.parquet"

    @property
    def events(self) -> Path:
        return self.path / "events.csv"

    @property
    def scores(self) -> Path:
        return self.path / "scores.json"

    @property
    def tables(self) -> Path:
        return self.path / "tables"

    @property
    def figures(self) -> Path:
        return self.path / "figures"

    @property
    def summary(self) -> Path:
        return self.path / "summary.md"

    @property
    def report(self) -> Path:
        return self.path / "report"

    @property
    def sheets(self) -> Path:
        return self.path / "sheets"

    @property
    def exports(self) -> Path:
        return self.path / "exports"

    @property
    def audit(self) -> Path:
        return self.path / "audit"

    @property
    def curation(self) -> Path:
        return self.path / "curation"

    @property
    def steps(self) -> Path:
        return self.path / "steps.json"

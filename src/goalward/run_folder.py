"""The name of every artefact of an evaluation, in one place."""

from dataclasses import dataclass
from pathlib import Path

# In the folder of an audit: what a person fills in, and so never replaced nor removed.
LABEL_LISTS = "labels*.csv"


@dataclass(frozen=True)
class RunFolder:
    """A folder that `goalward evaluate` writes and other commands read."""

    path: Path

    @property
    def config(self) -> Path:
        """The data, the options, the versions and the command behind it all; not to be edited."""
        return self.path / "config.toml"

    @property
    def episodes(self) -> Path:
        """A row per episode: how it ended and whether it was held out."""
        return self.path / "episodes.csv"

    @property
    def outcomes(self) -> Path:
        """The table that `goalward compare` takes."""
        return self.path / "outcomes.csv"

    @property
    def networks(self) -> Path:
        """The value functions: `run.json` says who answers for what, the rest are safetensors."""
        return self.path / "networks"

    @property
    def learned_frames(self) -> Path:
        """A sample of the frames learned from, by which new ones are held against them."""
        return self.networks / "learned_frames.npz"

    @property
    def training_log(self) -> Path:
        """Losses of every network over its gradient steps."""
        return self.path / "training_log.csv"

    @property
    def values(self) -> Path:
        """A row per method, seed and frame: what it is worth."""
        return self.path / "values.parquet"

    @property
    def chances(self) -> Path:
        """A row per method and frame: the chance of success within so many steps."""
        return self.path / "chances.parquet"

    @property
    def events(self) -> Path:
        """A row per setback, recovery, stall, point of no return and goal."""
        return self.path / "events.csv"

    @property
    def scores(self) -> Path:
        """Scores of every method, answers, how far from the truth they are, what to doubt."""
        return self.path / "scores.json"

    @property
    def tables(self) -> Path:
        """The same for people, as Markdown, LaTeX and csv."""
        return self.path / "tables"

    @property
    def figures(self) -> Path:
        """The same as PNG and SVG."""
        return self.path / "figures"

    @property
    def summary(self) -> Path:
        """The answer in words."""
        return self.path / "summary.md"

    @property
    def report(self) -> Path:
        """The same to look at in a browser, with the episodes: `index.html`."""
        return self.path / "report"

    @property
    def sheets(self) -> Path:
        """Frames of an episode over its curve, as PNG, SVG and PDF."""
        return self.path / "sheets"

    @property
    def exports(self) -> Path:
        """Values as other tools read them."""
        return self.path / "exports"

    @property
    def audit(self) -> Path:
        """Labels and copies to look at, a list of labels to fill in, a picture."""
        return self.path / "audit"

    @property
    def curation(self) -> Path:
        """Which frames to learn from next: lists, weights, commands."""
        return self.path / "curation"

    @property
    def notes(self) -> Path:
        """What people noted of episodes while `goalward view` showed them, by id of the episode."""
        return self.path / "notes.json"

    @property
    def steps(self) -> Path:
        """Which step was made from what, so that nothing is done twice."""
        return self.path / "steps.json"

"""The options of every command that reads rollouts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from goalward.progress import fetching_bar, progress_bar

if TYPE_CHECKING:
    from goalward.rollouts.dataset import Rollouts

# `a,b` and a repeated option both work; an empty text means none.
CommaList = Annotated[
    tuple[str, ...] | None,
    Parameter(
        converter=lambda _, tokens: tuple(
            name for token in tokens for name in token.value.split(",") if name
        ),
        n_tokens=1,
        allow_repeating=True,
        negative=(),
    ),
]


@Parameter(name="*")
@dataclass(frozen=True)
class ReadArguments:
    labels: str | None = None
    """Outcomes from a csv or json file (episode_index,success or outcome), or one of success,
    time_out, failure for every episode. Overrides what the data set says."""
    success_key: str | None = None
    """The column, field or data set that holds success."""
    horizon: int | None = None
    """Frames after which the clock ran out; an unsuccessful episode that is shorter ended early
    and counts as a failure instead of a time-out, which has to be confirmed. Default: every
    time-out has a clock of its own."""
    early_failures: Annotated[bool, Parameter(negative=())] = False
    """Confirm that unsuccessful episodes shorter than the horizon are failures."""
    cameras: CommaList = None
    """Cameras to use, separated by commas; the last part of a name is enough. Default: all."""
    proprioception: CommaList = None
    """Columns or keys that make up proprioception, separated by commas. Default: the format's."""
    filter_key: str | None = None
    """The subset of a robomimic file to read (a name under `mask/`)."""
    flip: Annotated[bool | None, Parameter(negative="--no-flip")] = None
    """Turn images upside down. Default: as the file says, which only LIBERO's do."""
    match: Literal["time", "index"] = "time"
    """How frames of a LeRobot table find their pictures in the video: by time, or in their order
    (index) where the table keeps the times of another clock."""
    strict: Annotated[bool, Parameter(negative=())] = False
    """Fail on the first damaged episode instead of leaving it out."""

    def read(self, path: str) -> "Rollouts":
        # Readers of videos and tables take half a second to import: only who reads pays.
        from goalward.rollouts.readers import read

        with fetching_bar() as fetch, progress_bar("reading") as update:
            return read(path, **vars(self), on_progress=update, on_fetch=fetch)

"""`goalward export`: values of a run as files that other tools read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from goalward.cli.console import error_console, plain
from goalward.cli.progress import progress_bar
from goalward.cli.read_arguments import CommaList
from goalward.errors import GoalwardError
from goalward.rollouts.embedded import located

if TYPE_CHECKING:
    from goalward.exports.frame_values import FrameValues
    from goalward.exports.labelled import Labelled
    from goalward.exports.written import Written
    from goalward.rollouts.dataset import Rollouts
    from goalward.values.finished_run import FinishedRun

Target = Literal["lerobot-progress", "rlinf-advantages", "evo-rl", "rerun", "mp4", "csv"]

_FOR_LEROBOT = ("lerobot-progress", "rlinf-advantages", "evo-rl")
_WITH_ADVANTAGES = ("rlinf-advantages", "evo-rl")
# What the tools themselves do.
_USUAL_N = {"rlinf-advantages": "10", "evo-rl": "50"}
_USUAL_RULE = {"rlinf-advantages": "top:0.3", "evo-rl": "task-top:0.3"}


@Parameter(name="*")
@dataclass(frozen=True)
class AdvantageArguments:
    n: str | None = None
    """Steps that an advantage looks ahead, or end. Default: 10 for rlinf-advantages, 50 for
    evo-rl, as these tools do."""
    unit: Literal["steps", "value"] | None = None
    """Count advantages in steps (default) or in value."""
    positive: str | None = None
    """Which frames count as positive: top:0.3, task-top:0.3, percentile:30 or above:0.0. Default:
    top:0.3 for rlinf-advantages, task-top:0.3 for evo-rl, as these tools do."""
    tag: str | None = None
    """A name for the result: advantages_TAG.parquet, complementary_info.value_TAG."""


def export_command(
    run: Path,
    /,
    *,
    to: Target,
    out: Path | None = None,
    method: str | None = None,
    episodes: CommaList = None,
    data: Path | None = None,
    in_place: Annotated[bool, Parameter(negative=())] = False,
    scale: Literal["value", "steps"] | None = None,
    advantages: AdvantageArguments = AdvantageArguments(),  # noqa: B008 (frozen)
) -> None:
    """Write the values of a run as files that other tools read.

    - `lerobot-progress`: sarm_progress.parquet, for LeRobot's RA-BC weighting and visualizer
    - `rlinf-advantages`: advantages.parquet, for RLinf's RECAP
    - `evo-rl`: the columns complementary_info.value, .advantage and .acp_indicator
    - `rerun`: a recording per episode, with videos, values and events (needs goalward[rerun])
    - `mp4`: a video per episode, with the curve under it
    - `csv`: a row per frame

    The first three need a LeRobot data set. It is not changed, unless `--in-place` says so; files
    that are changed then have a backup beside them, ending in .goalward.bak.

    Examples:

    - `goalward export run --to csv`
    - `goalward export run --to lerobot-progress --in-place` LeRobot finds it by itself
    - `goalward export run --to rlinf-advantages --n end --positive above:0 --tag goalward`
    - `goalward export run --to mp4 --episodes 3,7`

    Parameters
    ----------
    run
        A folder that `goalward evaluate` wrote.
    to
        For which tool.
    out
        Where to write. Default: a file or folder in RUN/exports.
    method
        Whose values. Default: the first of the run; for csv and rerun all of them.
    episodes
        Only these, separated by commas.
    data
        Where the rollouts are, if not where they were.
    in_place
        Write into the data set itself.
    scale
        For lerobot-progress: progress is discount^(steps to go) (value, the default) or falls by
        the same amount in each step (steps).
    """
    from goalward.exports.frame_values import chosen_episodes, optimism_note
    from goalward.values.finished_run import read_run

    _refuse_unused(to, out, in_place, scale, advantages)
    finished = read_run(run)
    if method is not None:
        finished.values.steps(method)
    positions = chosen_episodes(finished, episodes)
    job = _Job(to, finished, positions, method, out, data)
    if to in _FOR_LEROBOT:
        written = job.write_for_lerobot(in_place, scale or "value", advantages)
    else:
        written = job.write_for_people()
    console = error_console()
    note = optimism_note([finished.episodes[position] for position in positions])
    for text in (*written.notes, *(() if note is None else (note,))):
        console.print(plain(f"note: {text}"), soft_wrap=True)
    console.print(plain(f"written: {written.path}"), soft_wrap=True)
    console.print(plain(f"next: {written.next_step}"), soft_wrap=True)


def _refuse_unused(
    to: Target, out: Path | None, in_place: bool, scale: str | None, asked: AdvantageArguments
) -> None:
    """An option that the target does not have would be ignored in silence."""
    given = {
        "--in-place": (in_place, _FOR_LEROBOT),
        "--scale": (scale is not None, ("lerobot-progress",)),
        "--n": (asked.n is not None, _WITH_ADVANTAGES),
        "--unit": (asked.unit is not None, _WITH_ADVANTAGES),
        "--positive": (asked.positive is not None, _WITH_ADVANTAGES),
        "--tag": (asked.tag is not None, _WITH_ADVANTAGES),
    }
    for option, (is_given, targets) in given.items():
        if is_given and to not in targets:
            raise GoalwardError(f"{option} means nothing to {to}, but to {', '.join(targets)}")
    if in_place and out is not None:
        raise GoalwardError("give --out or --in-place, not both")
    if asked.tag is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", asked.tag):
        raise GoalwardError(f"--tag must be letters, digits, '_', '.', '-', got {asked.tag!r}")


def _refuse_inside(out: Path, data_set: Path) -> None:
    """A data set is changed with a backup or not at all."""
    if out.resolve().is_relative_to(data_set.resolve()):
        raise GoalwardError(
            f"{out}: lies in the data set, which only --in-place changes; give another --out"
        )


@dataclass(frozen=True)
class _Job:
    """One export: of what, to where."""

    to: Target
    run: FinishedRun
    positions: list[int]
    method: str | None
    out: Path | None
    data: Path | None

    def _place(self, name: str) -> Path:
        return self.run.folder.exports / name if self.out is None else self.out

    def write_for_lerobot(self, in_place: bool, scale: str, asked: AdvantageArguments) -> Written:
        from goalward.exports.evo_rl import export_evo_rl
        from goalward.exports.frame_values import FrameValues
        from goalward.exports.lerobot_frames import read_lerobot_frames
        from goalward.exports.lerobot_progress import FILE, export_lerobot_progress
        from goalward.exports.rlinf_advantages import advantage_file, export_rlinf_advantages

        given = self.run.data if self.data is None else self.data
        if in_place and located(given) != given:
            raise GoalwardError("the rollouts that come with goalward are not changed; use --out")
        values = FrameValues.of(self.run, self.method)
        labelled = self._labelled(values, asked) if self.to in _WITH_ADVANTAGES else None
        frames = read_lerobot_frames(self.run, self.positions, self.data)
        if self.out is not None:
            _refuse_inside(self.out, frames.root)
        if labelled is None:
            out = None if in_place else self._place(FILE)
            return export_lerobot_progress(self.run, values, frames, out=out, scale=scale)
        if self.to == "rlinf-advantages":
            out = None if in_place else self._place(advantage_file(asked.tag))
            return export_rlinf_advantages(
                self.run, values, frames, labelled, out=out, tag=asked.tag
            )
        with progress_bar("data files", error_console()) as update:
            out = None if in_place else self._place("evo-rl")
            return export_evo_rl(
                self.run, values, frames, labelled, out=out, tag=asked.tag, on_progress=update
            )

    def _labelled(self, values: FrameValues, asked: AdvantageArguments) -> Labelled:
        from goalward.exports.labelled import label
        from goalward.exports.positive import PositiveRule

        text = _USUAL_N[self.to] if asked.n is None else asked.n
        if text != "end" and not re.fullmatch(r"0*[1-9][0-9]{0,8}", text):
            raise GoalwardError(f"--n must be a number of steps above 0 or end, got {text!r}")
        return label(
            self.run,
            values,
            self.positions,
            unit=asked.unit or "steps",
            n=None if text == "end" else int(text),
            rule=PositiveRule.from_text(asked.positive or _USUAL_RULE[self.to]),
        )

    def write_for_people(self) -> Written:
        methods = self.run.values.methods if self.method is None else (self.method,)
        if self.to == "csv":
            from goalward.exports.csv_table import FILE, export_csv

            with progress_bar("episodes", error_console()) as update:
                out = self._place(FILE)
                return export_csv(self.run, methods, self.positions, out=out, on_progress=update)
        if self.to == "rerun":
            from goalward.exports.rerun_recording import SUFFIX, export_rerun, import_rerun

            import_rerun()
            out = self._checked_place("rerun", SUFFIX)
            rollouts = self._rollouts()
            with progress_bar("episodes", error_console()) as update:
                return export_rerun(
                    self.run, rollouts, methods, self.positions, out=out, on_progress=update
                )
        from goalward.exports.curve_video import SUFFIX, write_curve_videos
        from goalward.exports.written import Written

        out = self._checked_place("mp4", SUFFIX)
        rollouts = self._rollouts()
        ids = [self.run.episodes[position].id for position in self.positions]
        with progress_bar("episodes", error_console()) as update:
            paths = write_curve_videos(
                self.run, rollouts, out, method=self.method, episodes=ids, on_progress=update
            )
        return Written(out, f"any player shows {paths[0]}{' and the others' * (len(paths) > 1)}")

    def _checked_place(self, name: str, suffix: str) -> Path:
        """Where files of episodes go, after a look at whether they can: reading takes minutes."""
        from goalward.exports.written import episode_paths

        out = self._place(name)
        episode_paths(self.run, self.positions, out, suffix)
        return out

    def _rollouts(self) -> Rollouts:
        with progress_bar("reading", error_console()) as update:
            try:
                return self.run.read_rollouts(self.data, update)
            except GoalwardError as error:
                raise GoalwardError(f"{error} (--data says where the rollouts lie now)") from error

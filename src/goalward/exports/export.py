"""`goalward.export`: the values of a run as files that other tools read."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from goalward.errors import GoalwardError, argument
from goalward.exports.csv_table import FILE as CSV_FILE
from goalward.exports.csv_table import export_csv
from goalward.exports.curve_video import SUFFIX as VIDEO_SUFFIX
from goalward.exports.curve_video import export_curve_videos
from goalward.exports.evo_rl import export_evo_rl
from goalward.exports.labelled import Labelled, label
from goalward.exports.lerobot_frames import LeRobotFrames, read_lerobot_frames
from goalward.exports.lerobot_progress import FILE as PROGRESS_FILE
from goalward.exports.lerobot_progress import export_lerobot_progress
from goalward.exports.positive import PositiveRule
from goalward.exports.rerun_recording import SUFFIX as RECORDING_SUFFIX
from goalward.exports.rerun_recording import export_rerun, import_rerun
from goalward.exports.rlinf_advantages import advantage_file, export_rlinf_advantages
from goalward.exports.tools import TOOLS, Tool, tools_that_take
from goalward.exports.written import Written, episode_paths, optimism_note
from goalward.locks import alone_in
from goalward.metrics.trust import caution_words, trust_words
from goalward.monitor.band import DEFAULT_LEVEL, check_level
from goalward.progress import progress_bar
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.embedded import is_embedded
from goalward.runs.folder.stored import as_run
from goalward.runs.run import Run

# What an advantage looks at, where nobody says how many steps ahead.
HINDSIGHT = "hindsight"


def export(
    run: Run | str | Path,
    to: str,
    *,
    out: str | Path | None = None,
    method: str | None = None,
    episodes: str | Sequence[str] | None = None,
    data: str | Path | None = None,
    in_place: bool = False,
    scale: str | None = None,
    n: int | str | None = None,
    unit: str | None = None,
    positive: str | None = None,
    tag: str | None = None,
    false_alarms: float | None = None,
    anyway: bool = False,
    progress: bool = True,
) -> Written:
    """Write the values of a run for one of `TOOLS`; say where, and what to do with it next.

    | `to` | what is written |
    |---|---|
    | `lerobot-progress` | `sarm_progress.parquet`, for LeRobot's RA-BC; takes `scale` |
    | `rlinf-advantages` | `advantages.parquet`, for RLinf; takes `n`, `unit`, `positive`, `tag` |
    | `evo-rl` | three columns in the data files, for Evo-RL; takes the same |
    | `rerun` | a recording per episode, with videos, values and events |
    | `mp4` | a video per episode, with the curve under it |
    | `csv` | a row per frame, and the events beside it |
    | `onnx` | a folder that `goalward.Monitor` runs beside a robot; takes `false_alarms` |

    The first three need a LeRobot data set, and `in_place` writes into it. Without `out` the result
    lies in the run's folder, under `exports/`. `method` is the run's first one unless named; csv
    and rerun hold all. `data` says where the rollouts lie if not where they were. An advantage is
    the hindsight value less the value; `n`, a number of steps or "end", looks so far ahead instead.
    Values that the run itself does not trust (`Run.trust`) go to a trainer only with `anyway`.
    `docs/exporting.md` has all of it.
    """
    tool = TOOLS.get(to)
    if tool is None:
        raise GoalwardError(f"nothing is written for {to!r}, but for {', '.join(TOOLS)}")
    given = {"scale": scale, "n": n, "unit": unit, "positive": positive, "tag": tag}
    given |= {"in_place": in_place or None, "false_alarms": false_alarms}
    _refuse_unused(to, tool, given)
    if in_place and out is not None:
        raise GoalwardError(f"give {argument('out')} or {argument('in_place', True)}, not both")
    if tag is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", tag):
        raise GoalwardError(
            f"{argument('tag')} must be letters, digits, '_', '.', '-', got {tag!r}"
        )
    folder = run.folder.path if isinstance(run, Run) else Path(run)
    # What is left in a run is of its values: nobody may be making others meanwhile.
    is_inside = out is None and not in_place and folder.is_dir()
    with alone_in(folder) if is_inside else nullcontext():
        run = as_run(run)
        if method is not None:
            run.values.steps(method)
        trusted = run.trust.grade.is_usable
        if tool.trains and not trusted and not anyway:
            raise GoalwardError(
                f"{trust_words(run.trust)} A policy trained on them would learn their mistakes; "
                f"{argument('anyway', True)} writes them all the same"
            )
        work = _Export(
            run=run,
            tool=tool,
            positions=_positions(run, episodes),
            method=method,
            out=None if out is None else Path(out),
            data=data,
            in_place=in_place,
            scale="value" if scale is None else scale,
            unit="steps" if unit is None else unit,
            n=HINDSIGHT if n is None else n,
            positive=tool.positive if positive is None else positive,
            tag=tag,
            false_alarms=DEFAULT_LEVEL if false_alarms is None else false_alarms,
            progress=progress,
        )
        written = _WRITERS[to](work)
        note = optimism_note([run.episodes[position] for position in work.positions])
        notes = [one for one in (note, caution_words(run.trust)) if one]
        return replace(written, notes=(*written.notes, *notes))


def _refuse_unused(to: str, tool: Tool, given: Mapping[str, object]) -> None:
    """An argument that the tool has no use for would be ignored in silence."""
    for name, value in given.items():
        if value is not None and name not in tool.takes:
            others = ", ".join(tools_that_take(name))
            raise GoalwardError(f"{argument(name)} means nothing to {to}, but to {others}")


def _positions(run: Run, episodes: str | Sequence[str] | None) -> list[int]:
    if episodes is None:
        return list(range(len(run.episodes)))
    chosen = [episodes] if isinstance(episodes, str) else episodes
    if len(chosen) == 0:
        raise GoalwardError("no episode is chosen")
    # Data sets number their episodes, so numbers are likely to be given.
    return sorted({run.position(str(episode)) for episode in chosen})


@dataclass(frozen=True)
class _Export:
    """One export: of what, to where, and how."""

    run: Run
    tool: Tool
    positions: list[int]
    method: str | None
    out: Path | None
    data: str | Path | None
    in_place: bool
    scale: str
    unit: str
    n: int | str
    positive: str
    tag: str | None
    false_alarms: float
    progress: bool

    @property
    def _methods(self) -> tuple[str, ...]:
        if self.method is not None:
            return (self.method,)
        return self.run.values.methods if self.tool.all_methods else (self.run.method,)

    def _place(self, name: str) -> Path:
        return self.run.folder.exports / name if self.out is None else self.out

    # ---- for LeRobot's data sets -------------------------------------------------------------

    def lerobot_progress(self) -> Written:
        curves, frames = self.run.curves(self.method), self._frames()
        out = None if self.in_place else self._place(PROGRESS_FILE)
        return export_lerobot_progress(self.run, curves, frames, out=out, scale=self.scale)

    def rlinf_advantages(self) -> Written:
        labelled, frames = self._labelled(), self._frames()
        out = None if self.in_place else self._place(advantage_file(self.tag))
        return export_rlinf_advantages(frames, labelled, out=out, tag=self.tag)

    def evo_rl(self) -> Written:
        labelled, frames = self._labelled(), self._frames()
        out = None if self.in_place else self._place("evo-rl")
        with progress_bar("data files", is_shown=self.progress) as update:
            return export_evo_rl(frames, labelled, out=out, tag=self.tag, on_progress=update)

    def _labelled(self) -> Labelled:
        text = str(self.n)
        if text not in (HINDSIGHT, "end") and not re.fullmatch(r"0*[1-9][0-9]{0,8}", text):
            raise GoalwardError(
                f"{argument('n')} must be hindsight, a number of steps above 0, or end, got "
                f"{self.n!r}"
            )
        return label(
            self.run,
            self.run.curves(self.method),
            self.positions,
            unit=self.unit,
            n=HINDSIGHT if text == HINDSIGHT else "end" if text == "end" else int(text),
            rule=PositiveRule.from_text(self.positive),
        )

    def _frames(self) -> LeRobotFrames:
        root = self.run.data_folder(self.data)
        if self.in_place and is_embedded(root):
            raise GoalwardError(
                f"the rollouts that come with goalward are not changed; use {argument('out')}"
            )
        frames = read_lerobot_frames(self.run, self.positions, root)
        if self.out is not None and self.out.resolve().is_relative_to(root.resolve()):
            raise GoalwardError(
                f"{self.out}: lies in the data set, which only {argument('in_place', True)} "
                f"changes; give another {argument('out')}"
            )
        return frames

    # ---- for people --------------------------------------------------------------------------

    def csv(self) -> Written:
        with progress_bar("episodes", is_shown=self.progress) as update:
            out = self._place(CSV_FILE)
            return export_csv(self.run, self._methods, self.positions, out=out, on_progress=update)

    def rerun(self) -> Written:
        import_rerun()
        out = self._checked_place("rerun", RECORDING_SUFFIX)
        rollouts = self._rollouts()
        with progress_bar("episodes", is_shown=self.progress) as update:
            return export_rerun(
                self.run, rollouts, self._methods, self.positions, out=out, on_progress=update
            )

    def mp4(self) -> Written:
        out = self._checked_place("mp4", VIDEO_SUFFIX)
        rollouts = self._rollouts()
        with progress_bar("drawing", unit="frames", is_shown=self.progress) as update:
            return export_curve_videos(
                self.run, rollouts, self._methods[0], self.positions, out=out, on_progress=update
            )

    # ---- for robots --------------------------------------------------------------------------

    def onnx(self) -> Written:
        check_level(self.false_alarms)
        if len(self.positions) < len(self.run.episodes):
            raise GoalwardError(f"{argument('episodes')} means nothing to onnx: it holds no values")
        out = self._place("onnx")
        rollouts = self._rollouts()
        # torch takes seconds to import.
        from goalward.exports.onnx_monitor import export_onnx

        return export_onnx(
            self.run,
            rollouts,
            self.method,
            out=out,
            false_alarms=self.false_alarms,
            data=self.data,
        )

    def _checked_place(self, name: str, suffix: str) -> Path:
        """Where files of episodes go, after a look at whether they can: reading takes minutes."""
        out = self._place(name)
        episode_paths(self.run, self.positions, out, suffix)
        return out

    def _rollouts(self) -> Rollouts:
        with progress_bar("reading", is_shown=self.progress) as update:
            return self.run.read_rollouts(self.data, update)


_WRITERS: Mapping[str, Callable[[_Export], Written]] = {
    "lerobot-progress": _Export.lerobot_progress,
    "rlinf-advantages": _Export.rlinf_advantages,
    "evo-rl": _Export.evo_rl,
    "rerun": _Export.rerun,
    "mp4": _Export.mp4,
    "csv": _Export.csv,
    "onnx": _Export.onnx,
}

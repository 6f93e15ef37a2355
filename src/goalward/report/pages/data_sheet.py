"""What the rollouts of a run are, as a sheet of facts; how they began; how to cite the run."""

from typing import Any

import numpy as np

from goalward.report.pages.numbers import number
from goalward.report.words.blocks import plain_text
from goalward.report.words.hindsight import hindsight_paragraph
from goalward.report.words.summary import methods_words
from goalward.rollouts.clocks import Clocks
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.endings import FloatArray
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.findings import counted
from goalward.runs.run import Run

# Less than this, in the state's own units, is noise of a sensor and no other start.
_SAME_START = 1e-6
# The correlation from which on one number says what another one says.
_FOLLOWS = 0.9


def data_sheet(run: Run, rollouts: Rollouts | None = None) -> list[tuple[str, str]]:
    """Names and facts, in the order in which a reader would ask."""
    data, policy = run.settings.data, run.scores.policy
    held_out = sum(episode.held_out for episode in run.episodes)
    facts = {
        "Rollouts": data.path or "given in memory",
        "Episodes": f"{len(run.episodes):,}: {policy.success.count:,} successes, "
        f"{policy.num_time_out:,} time-outs, {policy.num_failure:,} failures",
        "Lengths": _lengths(run),
        "Clocks that ran out": _clocks(run),
        "Tasks": f"{len({episode.task for episode in run.episodes}):,}",
        "Labels come from": _label_sources(run, rollouts),
        "Judged by networks that never saw them": f"{held_out:,} of {counted(run.episodes)}",
        "Left out": _left_out(run),
        "A network sees": data.features or "features that were given",
        "Methods" if len(run.scores.methods) > 1 else "Method": methods_words(run),
        "Standard horizon": f"{run.scores.standard_horizon:,} steps",
        "In hindsight": plain_text(hindsight_paragraph(run.hindsight).words),
    }
    return [(name, text) for name, text in facts.items() if text]


def _lengths(run: Run) -> str:
    lengths = [episode.num_frames for episode in run.episodes]
    told = f"{min(lengths):,} to {max(lengths):,} frames, half have {int(np.median(lengths)):,} "
    told += f"or fewer; {sum(lengths):,} in all"
    rates = sorted({episode.fps for episode in run.episodes if episode.fps is not None})
    return f"{told}; {', '.join(f'{fps:g}' for fps in rates)} a second" if rates else told


def _clocks(run: Run) -> str:
    late = [e.num_frames - 1 for e in run.episodes if e.outcome is Outcome.TIME_OUT]
    if not late:
        return "none: no episode timed out"
    return Clocks(min(late), int(np.median(late)), max(late), len(set(late))).words


def _label_sources(run: Run, rollouts: Rollouts | None) -> str:
    if rollouts is not None and rollouts.sources:
        return ", ".join(dict.fromkeys(source.label_source for source in rollouts.sources))
    given = run.settings.reading.get("labels")
    return str(given) if given else ""


def _left_out(run: Run) -> str:
    left_out = run.settings.data.left_out
    if not left_out:
        return "nothing"
    return f"{counted(left_out)} that could not be trusted (the warnings name them)"


def starts_of(rollouts: Rollouts) -> dict[str, Any] | None:
    """The two states of first frames that differ most between episodes; None: starts are alike.

    The second is the one that differs most of those that do not just follow the first.
    """
    shared = [
        name
        for name in dict.fromkeys(one.name for one in rollouts[0].signals if not one.is_action)
        if all(any(one.name == name for one in episode.signals) for episode in rollouts)
    ]
    if len(rollouts) < 3 or len(shared) < 2:
        return None
    states = np.array([_first_state(episode, shared) for episode in rollouts])
    spread = np.where(np.isfinite(states).all(axis=0), states.std(axis=0), 0.0)
    varied = [i for i in range(len(shared)) if spread[i] > _SAME_START]
    first = _named_for_all(states, varied, spread)
    others = [i for i in varied if abs(_correlation(states, first, i)) < _FOLLOWS]
    second = _named_for_all(states, others, spread)
    if first is None or second is None:
        return None
    return {
        "names": [shared[first], shared[second]],
        "x": [number(value) for value in states[:, first].tolist()],
        "y": [number(value) for value in states[:, second].tolist()],
    }


def _named_for_all(states: FloatArray, columns: list[int], spread: FloatArray) -> int | None:
    """The number that differs most, or the first recorded that says the same as it."""
    if not columns:
        return None
    most = max(columns, key=lambda i: float(spread[i]))
    return next(i for i in columns if abs(_correlation(states, most, i)) >= _FOLLOWS)


def _correlation(states: FloatArray, first: int | None, second: int) -> float:
    if first is None or first == second:
        return 1.0
    return float(np.corrcoef(states[:, first], states[:, second])[0, 1])


def _first_state(episode: Episode, names: list[str]) -> list[float]:
    values = {one.name: float(one.values[0]) for one in episode.signals if not one.is_action}
    return [values[name] for name in names]


def citation(run: Run) -> str:
    """An entry for a bibliography: the software, its version, and the command behind the run."""
    made = run.settings.made_by
    version = made.goalward or "unknown version"
    return (
        "@software{goalward,\n"
        f"  title = {{goalward {version}: evaluating manipulation policies from rollouts}},\n"
        f"  version = {{{version}}},\n"
        f"  note = {{{made.command or 'called from Python'}}}\n"
        "}\n"
    )

"""An evaluation on disk: scores as JSON, tables, figures, the summary."""

import json
from collections import Counter
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

from goalward.config import EvaluationConfig
from goalward.files import written_whole
from goalward.metrics.evaluation_scores import EvaluationScores
from goalward.metrics.policy_answers import Rate
from goalward.metrics.scores.card import MEANINGS
from goalward.metrics.truth.card import TruthCard
from goalward.report.figures.scores import metric_bars, reliability_figure, save_figure
from goalward.report.score_json import interval_json, row_json, score_json, tests_json
from goalward.report.truth_json import truth_as_json
from goalward.report.words.summary import summary
from goalward.report.words.tables import score_table
from goalward.report.words.truth_table import chance_table, truth_csv, truth_figure, value_table
from goalward.rollouts.dataset import Rollouts
from goalward.run_folder import RunFolder
from goalward.values.events import EventKind, write_events

_PAPER_METRICS = ("success", "failure", "composite")


def write_evaluation(
    folder: RunFolder,
    scores: EvaluationScores,
    rollouts: Rollouts,
    config: EvaluationConfig,
    truth: TruthCard | None = None,
) -> list[Path]:
    """Write every file that people read, and name them."""
    written = [folder.scores, folder.events, folder.summary]
    numbers = scores_as_json(scores, rollouts)
    numbers |= {} if truth is None else {"truth": truth_as_json(truth)}
    _write_text(folder.scores, json.dumps(numbers, indent=1) + "\n")
    write_events(folder.events, dict(zip(rollouts.ids, scores.policy.events, strict=True)))
    _write_text(folder.summary, summary(scores, rollouts, config.policy, truth))
    tables = {
        "paper_metrics": score_table(scores.cards, _PAPER_METRICS, scores.tests),
        "all_scores": score_table(scores.cards, tuple(MEANINGS), scores.tests),
    }
    if truth is not None:
        tables |= {"truth": value_table(truth), "truth_chances": chance_table(truth)}
        _write_text(folder.tables / "truth.csv", truth_csv(truth))
        written.append(folder.tables / "truth.csv")
    for name, table in tables.items():
        for suffix, text in ((".md", table.markdown()), (".tex", table.latex())):
            path = folder.tables / f"{name}{suffix}"
            _write_text(path, text)
            written.append(path)
    figures = {
        "paper_metrics": metric_bars(scores.cards, _PAPER_METRICS, scores.tests),
        "calibration": reliability_figure(scores.calibration),
    }
    if truth is not None:
        figures["truth"] = truth_figure(truth)
    for name, figure in figures.items():
        save_figure(figure, folder.figures / name)
        written += [folder.figures / f"{name}.png", folder.figures / f"{name}.svg"]
    return written


def _write_text(path: Path, text: str) -> None:
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def scores_as_json(scores: EvaluationScores, rollouts: Rollouts) -> dict[str, Any]:
    """methods -> score -> mean, sd, interval; what is not defined has a reason and no number."""
    policy = scores.policy
    return {
        "policy": {
            "success_rate": _rate(policy.success),
            "num_time_out": policy.num_time_out,
            "num_failure": policy.num_failure,
            "steps_to_success": {
                "median": score_json(policy.steps.median),
                "quarter": score_json(policy.steps.quarter),
                "three_quarters": score_json(policy.steps.three_quarters),
            },
            "time_outs_on_their_way": _rate(policy.time_outs.on_their_way),
            "time_outs": [
                {
                    "episode": rollouts[position].id,
                    # JSON has no infinity: null is never.
                    "steps_to_go": steps if isfinite(steps) else None,
                    "on_their_way": steps <= scores.standard_horizon,
                }
                for position, steps in zip(
                    policy.time_outs.episodes, policy.time_outs.steps_to_go, strict=True
                )
            ],
            "success_rate_with_twice_the_time": score_json(policy.more_time.value)
            | {"interval": interval_json(policy.more_time.interval)},
            "watch_first": [
                {
                    "episode": rollouts[found.episode].id,
                    "frame": found.frame,
                    "reason": found.reason,
                }
                for found in policy.watch_first
            ],
        },
        "events": _events(scores, rollouts),
        "num_episodes": len(rollouts),
        "num_held_out": scores.num_held_out,
        "num_seeds": scores.num_seeds,
        "standard_horizon": scores.standard_horizon,
        "time_limit": scores.time_limit,
        "methods": {
            method: {name: row_json(row) for name, row in card.items()}
            | {"calibration": _calibration(scores, method)}
            for method, card in scores.cards.items()
        },
        "significance": {metric: tests_json(tests) for metric, tests in scores.tests.items()},
    }


def _rate(rate: Rate) -> dict[str, Any]:
    return {
        "value": rate.value,
        "count": rate.count,
        "total": rate.total,
        "interval": interval_json(rate.interval),
    }


def _calibration(scores: EvaluationScores, method: str) -> dict[str, Any]:
    found = scores.calibration[method]
    return {
        "brier": score_json(found.brier),
        "expected_error": score_json(found.expected_error),
        "num_frames": found.num_frames,
        "bins": [
            {
                "edges": list(one.edges),
                "predicted": one.predicted,
                "observed": one.observed,
                "observed_interval": interval_json(one.observed_interval),
                "num_frames": one.num_frames,
                "num_episodes": one.num_episodes,
            }
            for one in found.bins
        ],
    }


def _events(scores: EvaluationScores, rollouts: Rollouts) -> dict[str, Any]:
    """How many of each kind, and those of every episode; steps at the ceiling may be more."""
    found = scores.policy.events
    kinds = Counter(event.kind for events in found for event in events)
    return {
        "method": scores.methods[0],
        "ceiling": scores.time_limit,
        "counts": {str(kind): kinds[kind] for kind in EventKind},
        "episodes": [
            {"episode": episode_id, "events": [asdict(event) for event in events]}
            for episode_id, events in zip(rollouts.ids, found, strict=True)
        ],
    }

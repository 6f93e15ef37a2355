"""An evaluation on disk: scores as JSON, tables, figures, the summary."""

import json
from math import isfinite
from pathlib import Path
from typing import Any

from goalward.config import EvaluationConfig
from goalward.files import written_whole
from goalward.metrics.evaluation_scores import EvaluationScores
from goalward.metrics.policy_answers import Rate
from goalward.metrics.score import Interval, Score
from goalward.metrics.scorecard import MEANINGS, CardRow
from goalward.report.figures import metric_bars, reliability_figure, save_figure
from goalward.report.summary import summary
from goalward.report.tables import score_table
from goalward.rollouts.dataset import Rollouts
from goalward.run_folder import RunFolder

_PAPER_METRICS = ("success", "failure", "composite")


def write_evaluation(
    folder: RunFolder, scores: EvaluationScores, rollouts: Rollouts, config: EvaluationConfig
) -> list[Path]:
    """Write every file that people read, and name them."""
    written = [folder.scores, folder.summary]
    _write_text(folder.scores, json.dumps(scores_as_json(scores, rollouts), indent=1) + "\n")
    _write_text(folder.summary, summary(scores, rollouts, config.policy))
    for name, metrics in (("paper_metrics", _PAPER_METRICS), ("all_scores", tuple(MEANINGS))):
        table = score_table(scores.cards, metrics, scores.tests)
        for suffix, text in ((".md", table.markdown()), (".tex", table.latex())):
            path = folder.tables / f"{name}{suffix}"
            _write_text(path, text)
            written.append(path)
    figures = {
        "paper_metrics": metric_bars(scores.cards, _PAPER_METRICS, scores.tests),
        "calibration": reliability_figure(scores.calibration),
    }
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
                "median": _score(policy.steps.median),
                "quarter": _score(policy.steps.quarter),
                "three_quarters": _score(policy.steps.three_quarters),
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
            "success_rate_with_twice_the_time": _score(policy.more_time.value)
            | {"interval": _interval(policy.more_time.interval)},
            "watch_first": [
                {
                    "episode": rollouts[found.episode].id,
                    "frame": found.frame,
                    "reason": found.reason,
                }
                for found in policy.watch_first
            ],
        },
        "num_episodes": len(rollouts),
        "num_held_out": scores.num_held_out,
        "num_seeds": scores.num_seeds,
        "standard_horizon": scores.standard_horizon,
        "time_limit": scores.time_limit,
        "methods": {
            method: {name: _row(row) for name, row in card.items()}
            | {"calibration": _calibration(scores, method)}
            for method, card in scores.cards.items()
        },
        "significance": {
            metric: {
                f"{pair.first} against {pair.second}": {
                    "p_adjusted": pair.adjusted,
                    "differs": pair.differs,
                }
                for pair in tests.pairs
            }
            for metric, tests in scores.tests.items()
        },
    }


def _score(score: Score) -> dict[str, Any]:
    return {"value": score.value} | ({"reason": score.reason} if score.reason else {})


def _interval(interval: Interval) -> dict[str, Any]:
    if interval.low is None:
        return {"reason": interval.reason}
    return {"low": interval.low, "high": interval.high, "level": interval.level}


def _rate(rate: Rate) -> dict[str, Any]:
    return {
        "value": rate.value,
        "count": rate.count,
        "total": rate.total,
        "interval": _interval(rate.interval),
    }


def _row(row: CardRow) -> dict[str, Any]:
    mean = row.over_seeds.mean
    entry: dict[str, Any] = {
        "mean": mean.value,
        "sd": row.over_seeds.standard_deviation.value,
        "interval": _interval(row.interval),
        "by_seed": [score.value for score in row.by_seed],
    }
    return entry | ({"reason": mean.reason} if mean.reason else {})


def _calibration(scores: EvaluationScores, method: str) -> dict[str, Any]:
    found = scores.calibration[method]
    return {
        "brier": _score(found.brier),
        "expected_error": _score(found.expected_error),
        "num_frames": found.num_frames,
    }

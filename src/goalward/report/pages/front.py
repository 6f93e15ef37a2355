"""What the front page of a report says: the answer, the methods, the truth, how it was made."""

import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import inf, isfinite
from pathlib import Path
from typing import Any

from goalward.errors import GoalwardError
from goalward.metrics.policy_answers import rate
from goalward.metrics.scores.card import MEANINGS
from goalward.metrics.uncertainty.letters import compact_letters
from goalward.report.pages.colours import page_colours
from goalward.report.score_json import interval_json
from goalward.report.words.markdown_sections import doubts, read_summary
from goalward.report.words.tables import HIGHER_IS_BETTER, is_in_steps, shown_metric
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Outcome
from goalward.values.finished_run import FinishedRun

Scores = Mapping[str, Any]


def read_scores(run: FinishedRun) -> Scores:
    """What `scores.json` holds; nothing where a run has none yet."""
    path = run.folder.scores
    if not path.is_file():
        return {}
    try:
        scores = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise GoalwardError(f"{path}: cannot be read as JSON ({error})") from error
    if not isinstance(scores, dict):
        raise GoalwardError(f"{path}: holds no scores")
    return scores


def front_page(run: FinishedRun, scores: Scores, rollouts: Rollouts | None) -> dict[str, Any]:
    """All of the front page as JSON; what is not known is null, with a reason beside it."""
    sections = read_summary(run.folder.summary)
    doubted = doubts(sections)
    return {
        "policy": run.config.policy,
        "answer": _answer(run, scores, is_doubted=bool(doubted)),
        "doubts": doubted,
        "sections": [{"title": s.title, "blocks": s.blocks} for s in sections],
        "warnings": [] if rollouts is None else _warnings(rollouts),
        "tasks": _tasks(run),
        "methods": _methods(run, scores),
        "scores": [
            {
                "key": key,
                "name": shown_metric(key),
                "meaning": meaning,
                "in_steps": is_in_steps(key),
                "more_is_better": key in HIGHER_IS_BETTER,
            }
            for key, meaning in MEANINGS.items()
        ],
        "truth": _truth(run, scores),
        "standard_horizon": scores.get("standard_horizon"),
        "num_held_out": sum(episode.held_out for episode in run.episodes),
        "num_seeds": len(run.values.seeds),
        "num_frames": run.values.num_frames,
        "made_by": {str(k): str(v) for k, v in run.settings.get("made_by", {}).items()},
        "config": _text_of(run.folder.config),
    }


def _text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


# ---- the answer ------------------------------------------------------------------------------


def _answer(run: FinishedRun, scores: Scores, *, is_doubted: bool) -> dict[str, Any]:
    policy: Scores = scores.get("policy", {})
    outcomes = [episode.outcome for episode in run.episodes]
    counts = {str(outcome): outcomes.count(outcome) for outcome in Outcome}
    steps = policy.get("steps_to_success", {})
    late = _late(policy, counts)
    return {
        "success": _rate(policy.get("success_rate") or _success_rate(outcomes)),
        "counts": counts,
        "more_time": late | _rate(policy.get("success_rate_with_twice_the_time")),
        "on_their_way": late
        | _rate(policy.get("time_outs_on_their_way"))
        | _late_episodes(run, policy),
        "steps": {
            name: number(steps.get(name, {}).get("value"))
            for name in ("median", "quarter", "three_quarters")
        }
        | {"reason": str(steps.get("median", {}).get("reason", "no scores were written"))},
        "is_doubted": is_doubted,
    }


def _late(policy: Scores, counts: Mapping[str, int]) -> dict[str, Any]:
    """Why there is nothing to say of timed-out episodes, as the summary has it; else empty."""
    if counts[Outcome.TIME_OUT] == 0:
        return {"silence": "No episode timed out: more time would change nothing."}
    if counts[Outcome.SUCCESS] == 0:
        return {"silence": "No episode succeeded: values cannot say what more time would bring."}
    if not policy.get("time_outs_on_their_way", {}).get("total"):
        return {
            "silence": "No timed-out episode was held out; more episodes or --folds would help."
        }
    return {"silence": ""}


def _late_episodes(run: FinishedRun, policy: Scores) -> dict[str, list[int]]:
    """Positions of held-out time-outs that look on their way and of those stuck, nearest first."""
    position = {episode.id: i for i, episode in enumerate(run.episodes)}
    found = [one for one in policy.get("time_outs", []) if one.get("episode") in position]
    # Never is null in JSON.
    found.sort(key=lambda one: inf if (steps := one.get("steps_to_go")) is None else steps)
    return {
        name: [position[one["episode"]] for one in found if bool(one.get("on_their_way")) is is_on]
        for name, is_on in (("nearest", True), ("stuck", False))
    }


def _success_rate(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    found = rate(outcomes.count(Outcome.SUCCESS), len(outcomes))
    interval = interval_json(found.interval)
    return {
        "value": found.value,
        "count": found.count,
        "total": found.total,
        "interval": interval,
    }


def _rate(found: Any) -> dict[str, Any]:
    found = found if isinstance(found, Mapping) else {}
    interval = found.get("interval") or {}
    return {
        "value": number(found.get("value")),
        "count": found.get("count"),
        "total": found.get("total"),
        "low": number(interval.get("low")),
        "high": number(interval.get("high")),
        "level": number(interval.get("level")),
        "reason": str(found.get("reason", interval.get("reason", ""))),
    }


def _tasks(run: FinishedRun) -> list[dict[str, Any]]:
    """Success by task, in order of first appearance."""
    found: dict[str, list[Outcome]] = {}
    for episode in run.episodes:
        found.setdefault(episode.task, []).append(episode.outcome)
    return [{"name": task} | _rate(_success_rate(outcomes)) for task, outcomes in found.items()]


def _warnings(rollouts: Rollouts) -> list[str]:
    """What reading the data noticed; the end of the summary tells it too."""
    left = [f"Episode {one.episode_id} was left out: {one.reason}" for one in rollouts.left_out]
    return [*left, *rollouts.warnings]


# ---- the methods -----------------------------------------------------------------------------


def _methods(run: FinishedRun, scores: Scores) -> list[dict[str, Any]]:
    names = run.values.methods
    cards: Scores = scores.get("methods", {})
    letters = {
        key: _letters(names, cards, scores.get("significance", {}).get(key), key)
        for key in MEANINGS
    }
    return [
        {
            "name": name,
            "colours": colours,
            "scores": {
                key: _row(cards.get(name, {}).get(key), letters[key].get(name, ""))
                for key in MEANINGS
            },
            "calibration": _calibration(cards.get(name, {}).get("calibration")),
        }
        for name, colours in zip(names, page_colours(names), strict=True)
    ]


def _row(found: Any, letters: str) -> dict[str, Any]:
    found = found if isinstance(found, Mapping) else {"reason": "it was not computed"}
    interval = found.get("interval") or {}
    by_seed = found.get("seeds", found.get("by_seed")) or []
    return {
        "mean": number(found.get("mean")),
        "sd": number(found.get("sd")),
        "low": number(interval.get("low")),
        "high": number(interval.get("high")),
        "seeds": [number(value) for value in by_seed],
        "letters": letters,
        "reason": str(found.get("reason", "")),
    }


def _letters(names: Sequence[str], cards: Scores, tests: Any, key: str) -> dict[str, str]:
    """Methods without a common letter differ; best first, so that the best has an a."""
    if not isinstance(tests, Mapping) or len(names) < 2:
        return {}
    pairs = {(a, b): tests.get(f"{a} against {b}") for a, b in combinations(names, 2)}
    known = {pair: test for pair, test in pairs.items() if isinstance(test, Mapping)}
    if all(test.get("p_adjusted") is None for test in known.values()):
        return {}
    differs = {frozenset(pair) for pair, test in known.items() if test.get("differs")}

    def mean(name: str) -> float:
        value = number((cards.get(name, {}).get(key) or {}).get("mean"))
        return float("-inf") if value is None else value

    return compact_letters(names, differs, sorted(names, key=lambda name: -mean(name)))


def _calibration(found: Any) -> dict[str, Any]:
    found = found if isinstance(found, Mapping) else {}
    return {
        "brier": number((found.get("brier") or {}).get("value")),
        "expected_error": number((found.get("expected_error") or {}).get("value")),
        "num_frames": found.get("num_frames"),
        "bins": [
            {
                "predicted": number(one.get("predicted")),
                "observed": number(one.get("observed")),
                "num_frames": one.get("num_frames"),
                "low": number(one.get("observed_interval", {}).get("low")),
                "high": number(one.get("observed_interval", {}).get("high")),
            }
            for one in found.get("bins") or []
        ],
    }


# ---- the truth -------------------------------------------------------------------------------


def _truth(run: FinishedRun, scores: Scores) -> dict[str, Any] | None:
    """How far each method is from what a simulator measured; None where nothing was."""
    truth = scores.get("truth")
    if not isinstance(truth, Mapping):
        return None
    frames: Scores = truth.get("frames", {})
    groups = [group for group in ("all", *Outcome) if group in frames]
    return {
        "cap": truth.get("cap"),
        "groups": [
            {
                "key": str(group),
                "num_frames": frames[group].get("num_frames"),
                "noise": number(frames[group].get("noise", {}).get("value", {}).get("value")),
            }
            for group in groups
        ],
        "methods": [
            {
                "name": name,
                "errors": [
                    _rate(truth["methods"][name].get(group, {}).get("value", {}).get("absolute"))
                    for group in groups
                ],
                "biases": [
                    _rate(truth["methods"][name].get(group, {}).get("value", {}).get("bias"))
                    for group in groups
                ],
            }
            for name in run.values.methods
            if name in truth.get("methods", {})
        ],
    }


def number(value: Any) -> float | None:
    """A finite number with six digits, or None: JSON has no infinity.

    >>> number(0.123456789), number(float("nan")), number("7")
    (0.123457, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return float(f"{value:.6g}")

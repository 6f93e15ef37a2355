"""Methods against the truth as JSON: the part "truth" of scores.json."""

from typing import Any

from goalward.metrics.truth.card import Closeness, GroupTruth, TruthCard
from goalward.metrics.truth.errors import TruthError, TruthScores
from goalward.report.score_json import interval_json, row_json, score_json, tests_json


def truth_as_json(card: TruthCard) -> dict[str, Any]:
    """What is true of the frames, each method against it, and tests between methods."""
    return {
        "discount": card.discount,
        "cap": card.cap,
        "standard_horizon": card.standard_horizon,
        "num_branches": {"least": card.num_branches[0], "most": card.num_branches[1]},
        "made_with": dict(card.known.truth.made_with or {}),
        "frames": {group: _group(known) for group, known in card.groups.items()},
        "methods": {
            name: {group: _closeness(found) for group, found in method.by_group.items()}
            | {
                "calibration": {
                    "brier": score_json(method.calibration.brier),
                    "expected_error": score_json(method.calibration.expected_error),
                }
            }
            for name, method in card.methods.items()
        },
        "closest_first": list(card.closest()),
        "significance": {
            group: {
                name: test | {"difference": pair.difference}
                for (name, test), pair in zip(tests_json(tests).items(), tests.pairs, strict=True)
            }
            for group, tests in card.tests.items()
        },
    }


def _group(known: GroupTruth) -> dict[str, Any]:
    return {
        "num_frames": known.num_frames,
        "num_episodes": known.num_episodes,
        "value": score_json(known.value),
        "more_time_success": score_json(known.more_time_success)
        | {"interval": interval_json(known.more_time_interval)},
        "noise": {
            "value": score_json(known.noise),
            "within": {str(steps): score_json(one) for steps, one in known.noise_within.items()},
        },
        "raised_by_cap_at_most": score_json(known.by_cap),
    }


def _closeness(found: Closeness) -> dict[str, Any]:
    return {
        "value": _scores(found.value)
        | {"root_mean_square_less_noise": score_json(found.root_mean_square)},
        "within": {str(steps): _scores(scores) for steps, scores in found.within.items()},
        "spearman": row_json(found.spearman),
        "pearson": row_json(found.pearson),
    }


def _scores(scores: TruthScores) -> dict[str, Any]:
    return {"bias": _error(scores.bias), "absolute": _error(scores.absolute)}


def _error(error: TruthError) -> dict[str, Any]:
    return score_json(error.mean) | {
        "standard_error": error.standard_error.value,
        "interval": interval_json(error.interval),
    }

"""What the front page of a report says: the answer, the methods, the truth, how it was made."""

from dataclasses import asdict
from typing import Any

from goalward.metrics.evaluation_scores import EvaluationScores
from goalward.metrics.more_time import ON_ITS_WAY_FROM, STUCK_UP_TO
from goalward.metrics.scores.calibration import Calibration
from goalward.metrics.scores.table import SCORES
from goalward.metrics.truth.card import TruthCard
from goalward.metrics.truth.errors import TruthError
from goalward.metrics.truth.known_frames import ALL
from goalward.report.pages.colours import page_colours
from goalward.report.pages.numbers import estimate, number, share
from goalward.report.pages.training import training_stages
from goalward.report.words.rendering import page_sections, page_spans
from goalward.report.words.summary import summary_document
from goalward.report.words.tables import card_cell, column_name, letters_of
from goalward.report.words.tasks import values_words
from goalward.report.words.time_outs import late_ids, silence_about_time_outs
from goalward.rollouts.episode import Outcome
from goalward.runs.codec import settings_text
from goalward.runs.run import Run

# A page is read on a screen, beside error bars: more decimals than these are noise.
_MOST_DIGITS = 2


def front_page(run: Run) -> dict[str, Any]:
    """All of the front page as JSON; what is not known is null, with a reason beside it."""
    document, scores, data = summary_document(run), run.scores, run.settings.data
    left_out = [f"Episode {one.episode_id} was left out: {one.reason}" for one in data.left_out]
    has_log = run.folder.training_log.is_file()
    return {
        "policy": run.policy,
        "answer": _answer(run),
        "doubts": [page_spans(found.words) for found in document.paragraphs("doubt")],
        "sections": page_sections(document),
        "warnings": [*left_out, *data.warnings],
        "tasks": _tasks(run),
        "methods": _methods(scores),
        "scores": [
            {
                "key": name,
                "name": kind.shown,
                "heading": column_name(kind),
                "meaning": kind.meaning,
                "digits": min(kind.digits, _MOST_DIGITS),
                "is_main": "paper" in kind.places,
            }
            for name, kind in SCORES.items()
        ],
        "truth": None if run.truth is None else _truth(run.truth),
        "standard_horizon": scores.standard_horizon,
        "num_held_out": scores.num_held_out,
        "num_seeds": scores.num_seeds,
        "training": training_stages(run.training_log()) if has_log else [],
        "made_by": {name: text for name, text in asdict(run.settings.made_by).items() if text},
        "config": settings_text(run.settings),
    }


def _answer(run: Run) -> dict[str, Any]:
    policy = run.scores.policy
    steps, more = policy.steps, policy.more_time
    return {
        "success": share(policy.success),
        "counts": {
            Outcome.SUCCESS: policy.success.count,
            Outcome.TIME_OUT: policy.num_time_out,
            Outcome.FAILURE: policy.num_failure,
        },
        "silence": silence_about_time_outs(run),
        "more_time": estimate(more.twice.rate, more.twice.rate_interval),
        "share": estimate(more.twice.share, more.twice.share_interval),
        "late": {str(verdict): ids for verdict, ids in late_ids(run).items()},
        "verdicts": {"on_its_way_from": ON_ITS_WAY_FROM, "stuck_up_to": STUCK_UP_TO},
        "steps": {
            "median": number(steps.median.value),
            "quarter": number(steps.quarter.value),
            "three_quarters": number(steps.three_quarters.value),
            "reason": steps.median.reason,
        },
    }


def _tasks(run: Run) -> list[dict[str, Any]]:
    """The tasks in order of first appearance, which is how episodes refer to them.

    With what is known of each where there are several; runs of older versions have names alone.
    """
    answers = run.scores.tasks
    if answers is None:
        return [{"name": task} for task in dict.fromkeys(e.task for e in run.episodes)]
    return [
        {
            "name": one.task,
            "success": share(one.success),
            "time_outs": one.num_time_out,
            "failures": one.num_failure,
            "more_time": estimate(one.share, one.share_interval),
            "auroc": estimate(one.auroc, one.auroc_interval),
            "values_tell": one.values_tell,
            "values": values_words(one),
        }
        for one in answers.tasks
    ]


# ---- the methods -----------------------------------------------------------------------------


def _methods(scores: EvaluationScores) -> list[dict[str, Any]]:
    letters = {name: _letters(scores, name) for name in SCORES}
    return [
        {
            "name": method,
            "colours": colours,
            "scores": {
                name: estimate(row.over_seeds.mean, row.interval)
                | {
                    "sd": number(row.over_seeds.standard_deviation.value),
                    "seeds": [number(score.value) for score in row.by_seed],
                    "letters": letters[name].get(method, ""),
                }
                for name, row in scores.cards[method].items()
            },
            "calibration": _calibration(scores.calibration[method]),
        }
        for method, colours in zip(scores.methods, page_colours(scores.methods), strict=True)
    ]


def _letters(scores: EvaluationScores, name: str) -> dict[str, str]:
    """Methods without a common letter differ, as in the tables."""
    if name not in scores.tests:
        return {}
    cells = {method: card_cell(card[name], SCORES[name]) for method, card in scores.cards.items()}
    return letters_of(cells, scores.tests[name], SCORES[name].better)


def _calibration(found: Calibration) -> list[dict[str, Any]]:
    return [
        {
            "predicted": number(one.predicted),
            "observed": number(one.observed),
            "low": number(one.observed_interval.low),
            "high": number(one.observed_interval.high),
            "num_frames": one.num_frames,
        }
        for one in found.bins
    ]


# ---- the truth -------------------------------------------------------------------------------


def _truth(card: TruthCard) -> dict[str, Any]:
    """How far each method is from what a simulator measured, by group of frames."""
    groups = [group for group in (ALL, *Outcome) if group in card.groups]
    return {
        "groups": [
            {"name": group, "noise": number(card.groups[group].noise.value)} for group in groups
        ],
        "methods": [
            {
                "name": name,
                "errors": [_error(method.by_group[group].value.absolute) for group in groups],
            }
            for name, method in card.methods.items()
        ],
    }


def _error(error: TruthError) -> dict[str, Any]:
    return estimate(error.mean, error.interval)

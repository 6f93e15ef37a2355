"""What the front page of a report says: the answer, the methods, the truth, how it was made."""

from dataclasses import asdict
from typing import Any

import numpy as np

from goalward.metrics.evaluation_scores import EvaluationScores
from goalward.metrics.more_time import ON_ITS_WAY_FROM, STUCK_UP_TO
from goalward.metrics.scores.calibration import Calibration
from goalward.metrics.scores.table import SCORES
from goalward.metrics.trust import caution_words
from goalward.metrics.truth.card import TruthCard
from goalward.metrics.truth.errors import TruthError
from goalward.metrics.truth.known_frames import ALL
from goalward.report.pages.colours import page_colours
from goalward.report.pages.data_sheet import citation, data_sheet, starts_of
from goalward.report.pages.numbers import estimate, number, share
from goalward.report.pages.task_curves import task_curves
from goalward.report.pages.training import training_stages
from goalward.report.words.glossary import GLOSSARY
from goalward.report.words.next_steps import next_step_words
from goalward.report.words.rendering import page_sections, page_spans
from goalward.report.words.summary import summary_document
from goalward.report.words.tables import column_name
from goalward.report.words.tasks import values_words
from goalward.report.words.time_outs import (
    POLICY_LEARNED_FROM,
    is_of_another_run,
    late_ids,
    needed_words,
    silence_about_time_outs,
)
from goalward.report.words.trust import trust_answer
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Outcome
from goalward.runs.folder.codec import settings_text
from goalward.runs.next_steps import NextStep
from goalward.runs.run import Run

# A page is read on a screen, beside error bars: more decimals than these are noise.
_MOST_DIGITS = 2


def front_page(run: Run, rollouts: Rollouts | None = None) -> dict[str, Any]:
    """All of the front page as JSON; what is not known is null, with a reason beside it.

    `rollouts` are those of the run, where they are at hand: they know how episodes began.
    """
    document, scores, data = summary_document(run), run.scores, run.settings.data
    left_out = [f"Episode {one.episode_id} was left out: {one.reason}" for one in data.left_out]
    return {
        "policy": run.policy,
        "answer": _answer(run),
        "trust": asdict(trust_answer(run.trust, run.truth))
        | {"grade": run.trust.grade, "caution": caution_words(run.trust)},
        "next": [_next(step, run) for step in run.next_steps],
        "doubts": [page_spans(found.words) for found in document.paragraphs("doubt")],
        "sections": page_sections(document),
        "warnings": [*left_out, *data.warnings],
        "tasks": _tasks(run),
        "starts": None if rollouts is None else starts_of(rollouts),
        "data_sheet": data_sheet(run, rollouts),
        "cite": citation(run),
        "glossary": GLOSSARY,
        "methods": _methods(run),
        "scores": [
            {
                "key": name,
                "name": kind.shown,
                "heading": column_name(kind),
                "plain": kind.plain_name,
                "meaning": kind.meaning_with(scores.standard_horizon),
                "is_percent": kind.is_percent,
                "no_skill": kind.no_skill,
                "digits": min(kind.digits, _MOST_DIGITS),
                "is_main": "paper" in kind.places,
            }
            for name, kind in SCORES.items()
        ],
        "truth": None if run.truth is None else _truth(run, run.truth),
        "standard_horizon": scores.standard_horizon,
        "num_held_out": scores.num_held_out,
        "num_seeds": scores.num_seeds,
        "training": training_stages(run.training_log()) if run.has_training_log else [],
        "made_by": {
            name: text
            for name, text in asdict(run.settings.made_by).items()
            if text and name != "packages"
        },
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
        "saying": run.time_outs.saying,
        # What the answer rests on that is not this policy's own.
        "condition": POLICY_LEARNED_FROM if is_of_another_run(run) else "",
        "more_time": estimate(more.twice.rate, more.twice.rate_interval),
        "share": estimate(run.time_outs.share, run.time_outs.share_interval),
        "doubtful": None if run.time_outs.doubtful is None else run.time_outs.doubtful.value,
        "needed": needed_words(run),
        "late": {str(verdict): ids for verdict, ids in late_ids(run).items()},
        "verdicts": {"on_its_way_from": ON_ITS_WAY_FROM, "stuck_up_to": STUCK_UP_TO},
        "steps": {
            "median": number(steps.median.value),
            "quarter": number(steps.quarter.value),
            "three_quarters": number(steps.three_quarters.value),
            "reason": steps.median.reason,
        },
    }


def _next(step: NextStep, run: Run) -> dict[str, Any]:
    """A step in words; names of episodes among them are links on the page."""
    return {
        "kind": step.kind,
        "spans": page_spans(next_step_words(step, run)),
        "episodes": step.episodes,
        "frame": step.frame,
        "command": step.command,
    }


def _tasks(run: Run) -> list[dict[str, Any]]:
    """The tasks in order of first appearance, which is how episodes refer to them.

    With what is known of each where there are several; runs of older versions have names alone.
    """
    answers, tells = run.scores.tasks, run.time_outs.saying.uses_values
    if answers is None:
        return [{"name": task} for task in dict.fromkeys(e.task for e in run.episodes)]
    return [
        {
            "name": one.task,
            "success": share(one.success),
            "time_outs": one.num_time_out,
            "failures": one.num_failure,
            # What nobody should rely on is no answer, for all tasks or for this one.
            "more_time": estimate(one.share, one.share_interval)
            if tells and one.values_tell is not False
            else None,
            "auroc": estimate(one.auroc, one.auroc_interval),
            "values_tell": one.values_tell,
            "values": values_words(one),
            "means": means,
        }
        for one, means in zip(answers.tasks, task_curves(run), strict=True)
    ]


# ---- the methods -----------------------------------------------------------------------------


def _methods(run: Run) -> list[dict[str, Any]]:
    scores = run.scores
    return [
        {
            "name": method,
            "colours": colours,
            "scores": {
                name: estimate(row.over_seeds.mean, row.interval)
                | {
                    "sd": number(row.over_seeds.standard_deviation.value),
                    "seeds": [number(score.value) for score in row.by_seed],
                    "better_than": _better_than(scores, method, name),
                }
                for name, row in scores.cards[method].items()
            },
            "says_chances": run.chances.says_chances(method),
            "calibration": _calibration(scores.calibration[method]),
        }
        for method, colours in zip(scores.methods, page_colours(scores.methods), strict=True)
    ]


def _better_than(scores: EvaluationScores, method: str, name: str) -> list[str] | None:
    """The methods that this one is better than by more than seeds explain; None: not tested."""
    tests, better = scores.tests.get(name), SCORES[name].better
    if tests is None or method not in tests.names:
        return None
    sign = -1 if better == "lower" else 1

    def mean(one: str) -> float:
        return sign * (scores.cards[one][name].over_seeds.mean.value or 0.0)

    others = [other for other in tests.names if other != method]
    return [
        other
        for other in others
        if tests.pair(method, other).differs and mean(method) > mean(other)
    ]


def _calibration(found: Calibration) -> dict[str, Any]:
    """Chances against what came, in bins; how far off they are, and how much they say at all."""
    return {
        "bins": [
            {
                "from": one.edges[0],
                "to": one.edges[1],
                "predicted": number(one.predicted),
                "observed": number(one.observed),
                "low": number(one.observed_interval.low),
                "high": number(one.observed_interval.high),
                "num_frames": one.num_frames,
                "num_episodes": one.num_episodes,
            }
            for one in found.bins
        ],
        "num_frames": found.num_frames,
        "reliability": number(found.reliability.value),
        "sharpness": number(found.sharpness),
    }


# ---- the truth -------------------------------------------------------------------------------


def _truth(run: Run, card: TruthCard) -> dict[str, Any]:
    """How far each method is from what a simulator measured, by group of frames."""
    groups = [group for group in (ALL, *Outcome) if group in card.groups]
    return {
        "frames": _true_frames(run, card),
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


def _true_frames(run: Run, card: TruthCard) -> dict[str, list[Any]]:
    """Frame by frame: what the speaking method said, at the time and in hindsight, and the truth.

    The truth is the mean over the futures of a frame; both curves are means over seeds.
    """
    known, curves = card.known, run.curves()
    starts = np.concatenate([[0], run.values.episode_ends[:-1]])
    return {
        "episode": known.episode.tolist(),
        "frame": (known.position - starts[known.episode]).tolist(),
        "outcome": list(known.outcome),
        "truth": [number(value) for value in card.true_value.mean.tolist()],
        "now": [number(value) for value in curves.value[known.position].tolist()],
        "hindsight": [number(value) for value in curves.hindsight[known.position].tolist()],
    }


def _error(error: TruthError) -> dict[str, Any]:
    return estimate(error.mean, error.interval)

"""The pages that a hub shows first: what was learned from what, how good it is, what it is not."""

import re

from goalward.errors import command_line
from goalward.rollouts.episode import Outcome
from goalward.runs.run import Run

_MODEL_HEAD = """---
library_name: goalward
pipeline_tag: robotics
tags: [goalward, robotics, policy-evaluation, value-function]
"""
_DATASET_HEAD = """---
tags: [goalward, robotics, policy-evaluation]
configs:
  - {config_name: values, data_files: values.parquet, default: true}
  - {config_name: chances, data_files: chances.parquet}
  - {config_name: episodes, data_files: episodes.csv}
  - {config_name: events, data_files: events.csv}
"""
_NO_LICENCE = " Whoever shared this stated no licence."
_LIMITS = """## Limits

- The values speak of the policy they were learned from. For another policy they can say where its
  episodes go wrong, but not what it would do with more time.
- They hold for frames that look like those learned from: the same cameras, scene and task, embedded
  in the same way.
- Scores come from episodes that the networks never saw, of the same recordings. Where no truth
  is named below, none is known: agreement with labels is all that was measured.
- Values are optimistic on the episodes they were learned from.
"""


def is_card(text: str) -> bool:
    """Whether it was written here: a folder with any other README is somebody else's.

    >>> is_card(_MODEL_HEAD + _end_of_head(None)), is_card("# My models")
    (True, False)
    """
    return text.startswith("---\n") and "tags: [goalward," in text.partition("\n---")[0]


def model_card(run: Run, name: str, *, licence: str | None = None, has_report: bool = True) -> str:
    """Data, scores with intervals, truth where known, limits, and how to use it."""
    made_by = run.settings.made_by
    report = "`report/index.html` shows in a browser what is said below. " if has_report else ""
    return "\n".join(
        [
            _MODEL_HEAD + _end_of_head(licence),
            f"# {name}",
            "",
            "Value functions of a robot's policy, learned from its recorded rollouts by goalward "
            f"{made_by.goalward}. For every frame they say how many steps from success the policy "
            "is: a value of -1 is at the goal, 1 is never. To judge rollouts of yours by them:",
            "",
            f"    {command_line('evaluate', 'my_rollouts', out='run', values=f'hub:{name}')}",
            "",
            f"{report}The values of every frame are in the data set {name}-values."
            f"{_NO_LICENCE if licence is None else ''}",
            "",
            "## Data",
            "",
            _data(run),
            "",
            _LIMITS,
            "## What was found",
            "",
            _demoted(run.summary()),
        ]
    )


def dataset_card(run: Run, name: str, *, licence: str | None = None) -> str:
    return "\n".join(
        [
            _DATASET_HEAD + _end_of_head(licence),
            f"# {name}-values",
            "",
            f"How near to success the policy *{run.policy}* is in every frame of its rollouts, by "
            f"the networks of {name}.{_NO_LICENCE if licence is None else ''}",
            "",
            "- `values.parquet`: a row per method, seed and frame. `value` is -1 at the goal and 1 "
            "for never; `hindsight_value` is the same, knowing how the episode went on.",
            "- `chances.parquet`: the chance of success within so many steps of every frame.",
            "- `episodes.csv`: the episodes and how they ended.",
            "- `events.csv`: setbacks, recoveries and stalls in them.",
            "",
            "## Data",
            "",
            _data(run),
            "",
        ]
    )


def _end_of_head(licence: str | None) -> str:
    """
    >>> _end_of_head("apache-2.0")
    'license: apache-2.0\\n---\\n'
    """
    return ("" if licence is None else f"license: {licence}\n") + "---\n"


def _data(run: Run) -> str:
    outcomes = [episode.outcome for episode in run.episodes]
    counts = ", ".join(
        f"{outcomes.count(outcome)} {outcome.replace('_', '-')}"
        for outcome in (Outcome.SUCCESS, Outcome.TIME_OUT, Outcome.FAILURE)
    )
    tasks = sorted({episode.task for episode in run.episodes if episode.task})
    encoder = run.settings.embedding.get("encoder", "none, features were given")
    lines = [
        f"- {len(run.episodes)} episodes of *{run.policy}*: {counts}; "
        f"{run.values.num_frames:,} frames",
        f"- methods: {', '.join(run.values.methods)}; the first speaks for the policy",
        f"- frames embedded by: {encoder}",
    ]
    if tasks:
        shown = "; ".join(tasks[:10]) + (" and others" if len(tasks) > 10 else "")
        lines.append(f"- tasks: {shown}")
    return "\n".join(lines)


def _demoted(text: str) -> str:
    """Headings of a page become those of a part of it."""
    return re.sub(r"^(#+ )", r"##\1", text, flags=re.MULTILINE)

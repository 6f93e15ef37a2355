"""The pages that a hub shows first: what was learned from what, how good it is, what it is not."""

import re

from goalward.errors import command_line
from goalward.rollouts.episode import Outcome
from goalward.runs.run import Run

_MODEL_HEAD = """---
library_name: goalward
pipeline_tag: robotics
tags: [goalward, robotics, policy-evaluation, value-function]
---
"""
_DATASET_HEAD = """---
tags: [goalward, robotics, policy-evaluation]
configs:
  - {config_name: values, data_files: values.parquet, default: true}
  - {config_name: chances, data_files: chances.parquet}
  - {config_name: episodes, data_files: episodes.csv}
  - {config_name: events, data_files: events.csv}
---
"""
_LIMITS = """## Limits

- The values are those of the policy they were learned from. For another policy they say where its
  episodes go wrong, and not what it would do with more time.
- They hold for frames that look like those learned from: the same cameras, scene and task, embedded
  in the same way.
- Scores come from episodes that the networks never saw, of the same recordings. Where no truth
  is named, none is known: agreement with labels is all that was measured.
- Values are optimistic on the episodes they were learned from.
"""


def model_card(run: Run, name: str) -> str:
    """Data, scores with intervals, truth where known, limits, and how to use it."""
    made_by = run.settings.made_by
    return "\n".join(
        [
            _MODEL_HEAD,
            f"# {name}",
            "",
            "How many steps from success a robot's policy is, for every frame of its rollouts: "
            f"value functions learned by goalward {made_by.goalward}.",
            "",
            f"    {command_line('evaluate', 'my_rollouts', out='run', values=f'hub:{name}')}",
            "",
            "`report/index.html` shows all of it in a browser. "
            f"Values of every frame: the data set {name}-values.",
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


def dataset_card(run: Run, name: str) -> str:
    return "\n".join(
        [
            _DATASET_HEAD,
            f"# {name}-values",
            "",
            f"Values of every frame of rollouts of *{run.policy}*, by the networks of {name}. "
            "`values.parquet`: a row per method, seed and frame; `value` is -1 at the goal and 1 "
            "for never, `hindsight_value` knows how the episode went on. `chances.parquet`: the "
            "chance of success within so many steps. `episodes.csv`, `events.csv`: outcomes; "
            "setbacks, recoveries, stalls.",
            "",
            _data(run),
            "",
        ]
    )


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

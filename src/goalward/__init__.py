"""goalward: how good a manipulation policy is, from its recorded rollouts alone."""

# As `typing` has it, which takes longer to import than all of this file.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from goalward.embeddings.embed import embed
    from goalward.errors import GoalwardError, RolloutError
    from goalward.exports.curating.curate import curate
    from goalward.exports.curating.curation import Curation
    from goalward.exports.export import export
    from goalward.exports.hub.push import push
    from goalward.metrics.auditing.audit import Audit
    from goalward.monitor.monitor import Monitor
    from goalward.report.audit_files import write_audit
    from goalward.report.comparison_files import write_comparison
    from goalward.report.files import write_summary
    from goalward.report.pages.files import write_report
    from goalward.report.preference_files import write_preferences
    from goalward.report.words.summary import summary
    from goalward.rollouts.concatenation import concatenate
    from goalward.rollouts.dataset import Rollouts
    from goalward.rollouts.episode import Episode, Outcome
    from goalward.rollouts.readers import read
    from goalward.rollouts.readers.arrays import from_arrays
    from goalward.runs.auditing.audit import audit
    from goalward.runs.compare import compare
    from goalward.runs.evaluate import evaluate
    from goalward.runs.folder.stored import open_run
    from goalward.runs.making.plan import Plan, plan
    from goalward.runs.preferences import rank_preferences
    from goalward.runs.run import Run
    from goalward.trackers.track import track
    from goalward.training.stored.feature_file import read_features, write_features
    from goalward.values.fit import fit
    from goalward.values.fitted import Fitted, load
    from goalward.values.table import ValueTable, read_values

__version__ = "0.2.0"

__all__ = [
    "Audit",
    "Curation",
    "Episode",
    "Fitted",
    "GoalwardError",
    "Monitor",
    "Outcome",
    "Plan",
    "RolloutError",
    "Rollouts",
    "Run",
    "ValueTable",
    "audit",
    "compare",
    "concatenate",
    "curate",
    "embed",
    "evaluate",
    "export",
    "fit",
    "from_arrays",
    "load",
    "open_run",
    "plan",
    "push",
    "rank_preferences",
    "read",
    "read_features",
    "read_values",
    "summary",
    "track",
    "write_audit",
    "write_comparison",
    "write_features",
    "write_preferences",
    "write_report",
    "write_summary",
]


# Imported when first used: torch takes seconds, and a command that is stopped while it starts
# should end quietly, which it can only once its own code runs.
_HOMES = {
    "Audit": "metrics.auditing.audit",
    "Curation": "exports.curating.curation",
    "Episode": "rollouts.episode",
    "Fitted": "values.fitted",
    "GoalwardError": "errors",
    "Monitor": "monitor.monitor",
    "Outcome": "rollouts.episode",
    "Plan": "runs.making.plan",
    "RolloutError": "errors",
    "Rollouts": "rollouts.dataset",
    "Run": "runs.run",
    "ValueTable": "values.table",
    "audit": "runs.auditing.audit",
    "compare": "runs.compare",
    "concatenate": "rollouts.concatenation",
    "curate": "exports.curating.curate",
    "embed": "embeddings.embed",
    "evaluate": "runs.evaluate",
    "export": "exports.export",
    "fit": "values.fit",
    "from_arrays": "rollouts.readers.arrays",
    "load": "values.fitted",
    "open_run": "runs.folder.stored",
    "plan": "runs.making.plan",
    "push": "exports.hub.push",
    "rank_preferences": "runs.preferences",
    "read": "rollouts.readers",
    "read_features": "training.stored.feature_file",
    "read_values": "values.table",
    "summary": "report.words.summary",
    "track": "trackers.track",
    "write_audit": "report.audit_files",
    "write_comparison": "report.comparison_files",
    "write_features": "training.stored.feature_file",
    "write_preferences": "report.preference_files",
    "write_report": "report.pages.files",
    "write_summary": "report.files",
}


def __getattr__(name: str) -> "Any":
    if name not in _HOMES:
        raise AttributeError(f"module 'goalward' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"goalward.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> "list[str]":
    return sorted({*globals(), *__all__})

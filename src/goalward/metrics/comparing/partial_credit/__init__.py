"""Comparing policies by a score between 0 and 1 per rollout: rubrics, progress, sub-tasks."""

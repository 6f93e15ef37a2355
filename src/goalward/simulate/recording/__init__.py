"""From a task and a policy to a data set on disk."""

"""Several tasks: one rate per policy, verdicts per task, and whether tasks differ."""

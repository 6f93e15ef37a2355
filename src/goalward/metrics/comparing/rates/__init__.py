"""Two success rates at a fixed number of rollouts: exact tests, and what to believe."""

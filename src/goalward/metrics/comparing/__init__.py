"""Which of several policies is better, from the outcomes of their episodes."""

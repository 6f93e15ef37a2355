"""Results in an experiment tracker: imported only when asked for."""

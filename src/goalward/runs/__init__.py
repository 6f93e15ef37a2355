"""Room 7: one evaluation as one object; the only writer and the only reader of a run's folder."""

"""Which frames of a run to learn from next: kept, dropped or weighed by stated rules."""

"""Room 1: what was recorded. Episodes, data sets of them, and a reader for every format."""

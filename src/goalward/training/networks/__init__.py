"""Networks of many runs as one, what they say, and the arithmetic of their steps."""

"""A comparison of policies in words: what was found, tables, what watching says."""

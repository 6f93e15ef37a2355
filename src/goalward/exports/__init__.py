"""Results as files that other tools read."""

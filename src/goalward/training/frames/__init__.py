"""What networks learn from: recorded frames as arrays, and what of them is shown."""

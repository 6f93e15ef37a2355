"""Networks that turn pictures and texts into vectors, and what they take for input."""

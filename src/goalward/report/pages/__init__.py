"""A run as pages that open in a browser."""

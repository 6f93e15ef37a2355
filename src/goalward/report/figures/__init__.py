"""A run in pictures, drawn by matplotlib."""

"""Room 3: the mathematics. Pure functions on arrays, from target functions to exact values."""

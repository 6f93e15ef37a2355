"""How many steps policies need, when some episodes never reached the goal."""

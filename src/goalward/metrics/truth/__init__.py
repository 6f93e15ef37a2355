"""How far values are from what a simulator knows to be true."""

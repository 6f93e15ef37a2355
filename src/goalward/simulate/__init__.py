"""Simulators, policies and the true value of a frame (extra `sim`)."""

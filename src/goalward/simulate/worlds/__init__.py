"""Simulated tasks that can be put back into any state, and their cameras."""

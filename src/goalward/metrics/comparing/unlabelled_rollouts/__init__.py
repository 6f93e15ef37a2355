"""Policies of which few rollouts are labelled and many have a prediction only."""

"""Grids of runs, evaluations of a data set: everything from rollouts to scores in one go."""

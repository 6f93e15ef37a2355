"""The files of a run's folder: written, read back, checked, described."""

"""Frames -> vectors kept on disk: each is made once in its life, and work on them is shared."""

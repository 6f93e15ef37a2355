"""Frames -> vectors: encoders, the embedding cache, features per frame."""

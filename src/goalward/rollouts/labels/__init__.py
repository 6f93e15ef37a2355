"""How an episode ended: where that is said, and how contradictions are settled."""

"""Labels that a run contradicts, and recordings that are there twice."""

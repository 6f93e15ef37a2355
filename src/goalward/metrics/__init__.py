"""Numbers become scores, intervals and tests."""

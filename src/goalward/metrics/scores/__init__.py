"""Scores of predicted steps against how episodes ended; `table.py` lists them all."""

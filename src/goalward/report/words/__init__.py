"""A run in words: blocks that Markdown, page and terminal render, and tables."""

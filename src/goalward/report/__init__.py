"""Results become pictures and pages for people."""

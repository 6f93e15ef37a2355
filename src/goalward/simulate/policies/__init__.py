"""What acts in the worlds: scripts that err and retry, and a learned policy."""

"""Which labels the values contradict, and which recordings are there twice."""

"""How a run comes about: what was given, where it goes, its steps, and what each is made from."""

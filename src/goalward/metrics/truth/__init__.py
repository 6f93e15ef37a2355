"""How far values are from what a simulator knows to be true."""

# Of the files beside a table of truth that hold what was measured so far. Here, as workers that
# simulate are not to import what reads tables.
BRANCHES_SUFFIX = ".branches.jsonl"

"""What pytest must know to try mutants: `benchmarks/mutants.py` loads this with `-p`.

mutmut notes, in one run of the tests, which functions each test reaches, and then runs for every
mutant the tests that reach it. Four things it leaves open for tests like ours:

- The copies it makes of a function carry the function's examples. One example is enough.
- What a fixture reaches, it credits to the first test that asks for the fixture. Here every test
  that uses a fixture reaches what the fixture reached.
- Preparing a test is not in the time it notes, and training happens there.
- It hands the tests over in no order. Quick files first, then quick tests: most mutants die early.
"""

import json
import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from mutmut.state import state

STATS = Path("mutmut-stats.json")
reached_by_fixture: dict[Any, set[str]] = defaultdict(set)


def notes_reach() -> bool:
    """In the one run that notes which test reaches what."""
    return os.environ.get("MUTANT_UNDER_TEST") == "stats"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[Any]) -> None:
    items[:] = [item for item in items if "__mutmut_" not in item.name]
    for item in items:
        # mutmut 3.8 reads this name, which pytest 9.2 gives to some kinds of test only.
        item._nodeid = item.nodeid
    if STATS.exists() and not notes_reach():
        seconds: dict[str, float] = json.loads(STATS.read_text())["duration_by_test"]
        of_file: dict[str, float] = defaultdict(float)
        for item in items:
            of_file[str(item.path)] += seconds.get(item.nodeid, 0.0)
        items.sort(
            key=lambda item: (
                of_file[str(item.path)],
                str(item.path),
                seconds.get(item.nodeid, 0.0),
            )
        )


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any) -> Generator[None, Any, Any]:
    if not notes_reach():
        return (yield)
    reached = state()._stats
    before = set(reached)
    reached.clear()
    try:
        return (yield)
    finally:
        reached_by_fixture[fixturedef] |= reached
        reached |= before


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: Any) -> None:
    if notes_reach():
        for definitions in item._request._arg2fixturedefs.values():
            for definition in definitions:
                state()._stats.update(reached_by_fixture[definition])


@pytest.hookimpl(trylast=True)
def pytest_runtest_makereport(item: Any, call: Any) -> None:
    if notes_reach() and call.when == "setup":
        state().duration_by_test[item.nodeid] += call.duration

"""The page of validation says what its command says now."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "validation.md").read_text()


@pytest.fixture(scope="module")
def validation():
    spec = importlib.util.spec_from_file_location("v", ROOT / "benchmarks" / "validation.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_numbers_that_are_counted_out_are_on_the_page(validation):
    for total in (10, 50):
        for name, share in validation.rate_coverage(total).items():
            assert validation.row_of(f"a rate, {total} rollouts", name, share) in PAGE


def test_numbers_that_are_simulated_are_on_the_page(validation):
    ours, by_frames = validation.frame_coverage(0.85, 20)
    assert f"| 0.85 | 20 | {100 * ours:.1f} | {100 * by_frames:.1f} |" in PAGE
    ours, usual = validation.alarms_while_watching(0.5).values()
    assert f"| 300 looks, both 50% | ours | | {100 * ours[-1]:.1f} |" in PAGE
    assert ours[-1] < 0.05 < 0.3 < usual[-1]


def test_errors_of_estimators_are_those_of_the_case_study(validation):
    values, shares = validation.truth_tables()
    assert {"pick", "square", "cloth", "mw-shelf-place"} <= {row[0] for row in values}
    by_world = {row[0]: row for row in shares}
    expected = {name: round(validation.number(row[4])) for name, row in by_world.items()}
    measured = {name: round(validation.number(row[5])) for name, row in by_world.items()}
    worlds = ("mw-shelf-place", "square_fresh")
    first, second = (expected[name] for name in worlds)
    assert f"{first} and {second} % are expected" in " ".join(PAGE.split())
    first, second = (measured[name] for name in worlds)
    assert f"where {first} and {second} % succeed" in " ".join(PAGE.split())

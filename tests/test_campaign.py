"""A small part of the campaign of docs/damage.md, so that it can be run when it is wanted."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

CAMPAIGN = Path(__file__).parent.parent / "benchmarks" / "campaign.py"
BAD = ("silently different", "traceback", "hang")


def campaign(folder: Path, *arguments: str) -> str:
    """What it prints. A busy machine is no hang."""
    command = [sys.executable, str(CAMPAIGN), "--folder", str(folder), "--limit", "400"]
    ended = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=1700)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def tries(folder: Path) -> list[dict]:
    return json.loads(next(folder.glob("*/tries.json")).read_text())


# Half a minute of the processor; a machine may be busy.
@pytest.mark.timeout(1800)
def test_a_few_kills_flips_and_mutations(tmp_path: Path):
    pytest.importorskip("mujoco")
    campaign(tmp_path, "kills", "flips", "mutations", "--tries", "2")
    found = tries(tmp_path)
    by_part = {part: [one for one in found if one["part"] == part] for part in ("kills", "flips")}
    assert sum(one["num_attacks"] for one in by_part["kills"]) >= 2
    assert {one["outcome"] for one in by_part["kills"]} == {"right"}
    assert len(by_part["flips"]) == 2
    assert [one for one in found if one["outcome"] in BAD or one["num_leftovers"]] == []
    # What was tried stays, and is told again without trying anything.
    assert "| **flips** | 2 |" in campaign(tmp_path, "--table")
    assert tries(tmp_path) == found

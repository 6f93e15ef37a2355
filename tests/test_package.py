"""What a package says of itself is true."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import goalward
from goalward.errors import GoalwardError
from goalward.simulate import tasks

ROOT = Path(__file__).parent.parent
TOLD = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = TOLD["project"]
README = TOLD["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]


def test_one_version_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == goalward.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", goalward.__version__)
    # The newest one that is out; what comes next stands above it.
    released = re.findall(
        r"^## (\d\S+)(?: \((.+)\))?$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    assert released[0] == (goalward.__version__, str(citation["date-released"]))
    assert f"=={goalward.__version__}'" in (ROOT / "docs" / "many_machines.md").read_text()


def test_the_paper_is_cited_with_its_authors():
    (paper,) = yaml.safe_load((ROOT / "CITATION.cff").read_text())["references"]
    assert [author["family-names"] for author in paper["authors"]] == [
        "Wang",
        "Bowden",
        "Crosby",
        "Bansal",
    ]


def test_types_are_shipped():
    assert (ROOT / "src" / "goalward" / "py.typed").is_file()
    assert "Typing :: Typed" in PROJECT["classifiers"]


def test_what_an_index_shows_has_no_link_that_leads_nowhere():
    """The README as the package carries it; every rule that makes it so still finds its place."""
    text = (ROOT / README["fragments"][0]["path"]).read_text()
    for rule in README["substitutions"]:
        text, found = re.subn(rule["pattern"], rule["replacement"], text)
        assert found, rule["pattern"]
    assert re.findall(r"\]\((?!https?://)", text) == []
    assert "goalward evaluate demo --out demo_run --encoder effnet-lite0" in text
    assert "make demo" not in text
    assert len(text.splitlines()) > 60


def test_files_that_the_package_names_exist():
    for name in [*PROJECT["license-files"], README["fragments"][0]["path"]]:
        assert (ROOT / name).is_file(), name


def test_every_extra_that_an_error_recommends_exists():
    extras = set(PROJECT["optional-dependencies"])
    recommended = {
        extra
        for path in (ROOT / "src").rglob("*.py")
        for extra in re.findall(r"goalward\[([a-z,]+)\]", path.read_text())
    }
    assert {"sim", "rerun"} <= recommended
    assert {name for names in recommended for name in names.split(",")} <= extras


def test_every_package_has_a_reason_and_a_tested_version():
    """Not those of simulators: some live in environments of their own."""
    reasons = (ROOT / "docs" / "dependencies.md").read_text().lower()
    pinned = {
        line.split("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if not line.startswith("#")
    }
    extras = PROJECT["optional-dependencies"]
    needed = [*PROJECT["dependencies"], *extras["offline"], *extras["docs"]]
    names = [re.split(r"[<>=\[]", line)[0].lower() for line in needed]
    assert [name for name in names if name not in reasons] == []
    assert [name for name in names if name not in pinned] == []


def test_policies_whose_weights_are_not_in_the_wheel_say_where_they_are(tmp_path, monkeypatch):
    missing = tmp_path / "square_diffusion.safetensors"
    with pytest.raises(GoalwardError, match=r"take square_diffusion\.safetensors from the source"):
        tasks._shipped_diffusion(missing)

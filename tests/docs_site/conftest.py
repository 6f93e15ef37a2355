"""The site, built once as `make docs` builds it, with the report of a small run in its gallery."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from goalward.report.pages.files import write_report
from report.pages.browser.conftest import browser  # noqa: F401  (a fixture)
from report.pages.browser.demo_run import write_demo_run

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    if find_spec("mkdocs") is None or find_spec("mkdocstrings") is None:
        problem = "the extra docs is not installed: make docs"
        if os.environ.get("GOALWARD_REQUIRE_BROWSER") == "1":
            pytest.fail(problem)
        pytest.skip(problem)
    report = write_report(write_demo_run(tmp_path_factory.mktemp("run"), num_each=1)).parent
    folder = tmp_path_factory.mktemp("site")
    surroundings = {"GOALWARD_DOCS_REPORT": str(report), "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env=os.environ | surroundings,
        capture_output=True,
        text=True,
    )
    # A broken link, a page that no menu names, a name that is gone: MkDocs says which.
    assert built.returncode == 0, built.stderr
    return folder

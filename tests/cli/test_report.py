"""`goalward report`: where the pages go, and what happens when the rollouts are gone."""

import shutil

import pytest

from goalward.cli.console import telling
from goalward.cli.report import report_command
from goalward.errors import GoalwardError
from report.pages.browser.demo_run import write_demo_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_demo_run(tmp_path_factory.mktemp("run"), num_each=1)


def test_the_page_is_written_into_the_run_and_named(run, capsys):
    report_command(run)
    told = capsys.readouterr()
    assert told.out.strip() == str(run / "report" / "index.html")
    assert len(list((run / "report" / "videos").glob("*.mp4"))) == 4
    # Two episodes prove nothing, and the page says so.
    assert '"doubts":[[["strong","Do not rely' in (run / "report" / "data" / "run.js").read_text()


def test_another_folder_and_no_videos(run, tmp_path, capsys):
    report_command(run, out=tmp_path / "small", videos=False)
    assert capsys.readouterr().out.strip() == str(tmp_path / "small" / "index.html")
    assert not (tmp_path / "small" / "videos").exists()


def test_rollouts_that_are_gone_are_a_warning(run, tmp_path, capsys):
    moved = tmp_path / "moved"
    shutil.copytree(run, moved, ignore=shutil.ignore_patterns("report"))
    # Without the checksum, as a version before it wrote settings.
    config = (moved / "config.toml").read_text().split("\n", 1)[1]
    (moved / "config.toml").write_text(config.replace('path = "demo"', 'path = "/no/such/place"'))
    with telling():
        report_command(moved)
    told = capsys.readouterr()
    assert told.err.startswith("warning: no pictures: /no/such/place: ")
    assert told.err.endswith("give --data if the rollouts lie elsewhere\n")
    assert (moved / "report" / "index.html").is_file()
    with pytest.raises(GoalwardError, match="nowhere"):
        report_command(moved, data=tmp_path / "nowhere")


def test_what_is_no_run_is_an_error(tmp_path):
    with pytest.raises(GoalwardError, match="is no folder of `goalward evaluate`"):
        report_command(tmp_path)


def test_videos_of_no_height_are_refused(run):
    with pytest.raises(GoalwardError, match="--max-height"):
        report_command(run, max_height=0)

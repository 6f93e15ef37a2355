"""`goalward sheet`: from a run's folder to figures."""

import shutil

import pytest
from rollout_files.drawn_runs import countdown, drawn_run

import goalward
from goalward.cli.sheet import sheet_command
from goalward.errors import GoalwardError
from goalward.report.figures import sheet
from goalward.rollouts.embedded import located
from goalward.runs.folder.stored import write_run
from goalward.runs.settings import RunData


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """As `goalward evaluate demo` leaves it, with values that nobody learned."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    episodes = list(goalward.read("demo"))
    steps = [countdown(episode.num_frames) for episode in episodes]
    data = RunData(path="demo")
    run, _ = drawn_run(episodes, {"liveness": steps, "td": steps}, folder, data=data)
    write_run(run)
    return folder


@pytest.fixture
def run(made, tmp_path):
    return shutil.copytree(made, tmp_path / "run")


def test_sheets_lie_in_the_run_and_are_named_by_episode(run, capsys):
    sheet_command(run, ("5", "0", "5"))
    names = sorted(path.name for path in (run / "sheets").iterdir())
    suffixes = (".pdf", ".png", ".svg")
    assert names == [f"episode_{name}{suffix}" for name in (0, 5) for suffix in suffixes]
    told = capsys.readouterr().err
    assert "episode 5: " in told
    assert "episode_5.png and .svg, .pdf" in told


def test_truth_beside_the_data_is_in_the_figure(run, tmp_path, monkeypatch):
    drawn = []
    episode_figure = sheet.episode_figure

    def noted(*given, **options):
        drawn.append(options)
        return episode_figure(*given, **options)

    monkeypatch.setattr(sheet, "episode_figure", noted)
    sheet_command(run, ("1",), out=tmp_path / "out", cameras=("agentview",))
    assert (tmp_path / "out" / "episode_1.png").is_file()
    assert not (run / "sheets").exists()
    assert drawn[0]["cameras"] == ["agentview"]
    assert len(drawn[0]["truth"]) > 0


def test_the_curve_alone_needs_no_data(run, tmp_path):
    config = (run / "config.toml").read_text().replace('"demo"', '"/nowhere/at/all"')
    # Without the checksum, as a version before it wrote settings.
    (run / "config.toml").write_text(config.split("\n", 1)[1])
    sheet_command(run, ("3",), cameras=(), columns=4)
    assert (run / "sheets" / "episode_3.svg").is_file()
    with pytest.raises(
        GoalwardError, match="--data says where .* lie now.; --cameras '' draws the curve alone"
    ):
        sheet_command(run, ("3",))
    sheet_command(run, ("3",), data=located("demo"), method="td", out=tmp_path / "moved")
    assert (tmp_path / "moved" / "episode_3.pdf").is_file()


def test_what_does_not_exist_is_told_before_anything_is_drawn(run):
    with pytest.raises(
        GoalwardError, match="no episode nine; there are: 0, 1, 2, 3, 4 and 43 more"
    ):
        sheet_command(run, ("0", "nine"))
    with pytest.raises(GoalwardError, match="no method 'best'; there are: liveness, td"):
        sheet_command(run, ("0",), method="best")
    with pytest.raises(GoalwardError, match="2 to 12 columns, not 0"):
        sheet_command(run, ("0",), columns=0)
    with pytest.raises(GoalwardError, match="no such folder"):
        sheet_command(run / "none", ("0",))
    assert not (run / "sheets").exists()
    (run / "taken").touch()
    with pytest.raises(GoalwardError, match="taken: is a file, but results need a folder"):
        sheet_command(run, ("0",), out=run / "taken", data=run / "nowhere")

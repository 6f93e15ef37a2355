"""`goalward view`: the right folder, the browser, a quiet end."""

import queue
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from goalward.cli.view import report_folder, view_command
from goalward.errors import GoalwardError
from goalward.report.pages.serving import PageServer


def write_run(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("<title>it</title>")
    return folder


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    code = "import goalward.cli; goalward.cli.main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, "view", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PATH": "/usr/bin:/bin"} | environment,
    )


def test_it_serves_the_report_until_it_is_interrupted(tmp_path):
    run = write_run(tmp_path / "run", "report/index.html", "config.toml")
    process = start(str(run), "--no-browser")
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    assert url.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(url, timeout=20) as response:
        assert response.read() == b"<title>it</title>"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "Ctrl-C ends it" in errors
    assert "Traceback" not in errors
    assert "interrupted" not in errors


def test_it_opens_the_browser_that_is_asked_for(tmp_path):
    run = write_run(tmp_path / "run", "report/index.html")
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(
        f'#!/bin/sh\necho "$1" > {opened}.new; mv {opened}.new {opened}\n'
        f"for second in 1 2 3 4 5 6 7 8 9; do test -e {opened} && sleep 1; done\n"
    )
    browser.chmod(0o755)
    process = start(str(run), BROWSER=f"{browser} %s")
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    # The browser stays open; pages are served all the same.
    with urllib.request.urlopen(url, timeout=20) as response:
        assert response.status == 200
    for _ in range(200):
        if opened.exists():
            break
        try:
            process.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=5) == 0
    asked_for = opened.read_text().strip()
    opened.unlink()  # the browser ends
    process.communicate(timeout=20)
    assert asked_for == url


def test_without_a_screen_no_browser_is_started(tmp_path, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    opened: queue.Queue[str] = queue.Queue()
    monkeypatch.setattr("webbrowser.open", opened.put)
    monkeypatch.setattr(PageServer, "serve_forever", lambda self: None)
    run = write_run(tmp_path, "index.html")
    view_command(run)
    monkeypatch.setenv("DISPLAY", ":0")
    view_command(run)
    # A thread of its own opens it, which may come late.
    assert opened.get(timeout=30).startswith("http://")
    assert opened.empty()


def test_a_port_in_use_is_explained(tmp_path):
    run = write_run(tmp_path, "index.html")
    with PageServer(run) as other:
        process = start(str(run), "--port", str(other.server_port), "--no-browser")
        output, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert output == ""
    assert f"error: port {other.server_port} is in use by another program" in errors


def test_a_report_folder_itself_will_do(tmp_path):
    assert report_folder(write_run(tmp_path, "index.html")) == tmp_path
    assert report_folder(write_run(tmp_path, "report/index.html")) == tmp_path / "report"


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["config.toml", "episodes.csv", "values.parquet"], "has no report yet; `goalward report "),
        (["config.toml", "episodes.csv"], "is not finished; run its `goalward evaluate` again"),
        (["notes.txt"], "holds no report, nor is it a folder of `goalward evaluate`"),
    ],
)
def test_a_folder_without_a_report_says_what_to_do(tmp_path, names, words):
    with pytest.raises(GoalwardError) as error:
        report_folder(write_run(tmp_path, *names))
    assert str(error.value).startswith(f"{tmp_path}: {words}")


def test_no_folder_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(GoalwardError, match="gone: no such folder"):
        report_folder(tmp_path / "gone")
    with pytest.raises(GoalwardError, match="file: is a file"):
        report_folder(tmp_path / "file")

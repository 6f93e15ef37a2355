"""What an audit and a curation said of episodes, in the report of the run."""

import json
import os

import pytest

import goalward
from exports.conftest import told_run
from exports.curating.conftest import EPISODES
from goalward.cli.app import app
from goalward.metrics.auditing.audit import Audit, AuditedEpisode, Finding, FindingKind
from goalward.parquet_files import read_parquet, write_parquet
from goalward.report.pages.marks import refresh_marks, write_marks
from goalward.rollouts.episode import Outcome
from goalward.run_folder import RunFolder
from goalward.runs.notes import EpisodeNote, keep_note


@pytest.fixture
def run(tmp_path) -> RunFolder:
    return RunFolder(told_run(tmp_path / "run", None, EPISODES))


def audited(run):
    found = Finding("2", FindingKind.LOOKED_DONE, 0.66, Outcome.TIME_OUT, (40, 90), looked=0.9)
    episodes = (AuditedEpisode("2", Outcome.TIME_OUT, 121),)
    audit = Audit("policy", (found,), episodes, "liveness", 6)
    goalward.write_audit(audit, run.audit, progress=False)


def marks_in(folder):
    text = (folder / "data" / "marks.js").read_text()
    return json.loads(text.split('goalward.receive("marks",', 1)[1].rsplit(");\n", 1)[0])


def test_without_them_there_are_no_marks(run, tmp_path):
    write_marks(run, tmp_path / "report")
    assert marks_in(tmp_path / "report") == {"audit": {}, "curation": {}}


def test_findings_and_decisions_with_their_reasons(run, tmp_path):
    audited(run)
    goalward.curate(run.path)
    write_marks(run, tmp_path / "report")
    marks = marks_in(tmp_path / "report")
    words = "called a time-out, but looked done: success within 6 steps 90 % likely at frame 40"
    assert marks["audit"] == {"2": [{"sure": 66, "frame": 40, "words": words}]}
    assert marks["curation"]["0"] == {"decision": "part", "kept": 80, "reasons": ["after-goal"]}
    assert marks["curation"]["5"] == {"decision": "keep", "kept": 41, "reasons": []}
    assert len(marks["curation"]) == 6


def test_what_was_said_of_other_values_is_not_shown_whatever_the_times_of_files_say(
    run, tmp_path, caplog
):
    goalward.audit(run.path, progress=False)
    goalward.curate(run.path)
    now = run.values.stat().st_mtime
    # As a copy that keeps no times may leave them, or another machine's clock.
    os.utime(run.values, (now + 10, now + 10))
    write_marks(run, tmp_path / "report")
    assert marks_in(tmp_path / "report")["curation"]["0"]["decision"] == "part"
    write_parquet(run.values, read_parquet(run.values).slice(1))
    os.utime(run.values, (now - 10, now - 10))
    write_marks(run, tmp_path / "report")
    assert marks_in(tmp_path / "report") == {"audit": {}, "curation": {}}
    for name, verb in (("audit/audit.json", "audit"), ("curation/episodes.csv", "curate")):
        words = f"{name}: was made of other values, and marks nothing; `goalward {verb} {run.path}`"
        assert words in caplog.text


def test_an_audit_of_a_version_that_did_not_say_of_which_values_goes_by_its_time(run, tmp_path):
    audited(run)
    write_marks(run, tmp_path / "report")
    assert "2" in marks_in(tmp_path / "report")["audit"]
    later = run.audit.stat().st_mtime + 10
    os.utime(run.values, (later, later))
    write_marks(run, tmp_path / "report")
    assert marks_in(tmp_path / "report")["audit"] == {}


def test_files_that_somebody_spoiled_are_left_aside_with_a_word(run, tmp_path, caplog):
    audited(run)
    goalward.curate(run.path)
    for path, old, new in (
        (run.audit / "audit.json", '"sure": 0.6', '"sure": 0.9'),
        (run.curation / "episodes.csv", ",part,", ",keep,"),
    ):
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
    write_marks(run, tmp_path / "report")
    assert marks_in(tmp_path / "report") == {"audit": {}, "curation": {}}
    assert "no marks of the audit" in caplog.text
    assert "is no list of a curation" in caplog.text
    goalward.curate(run.path)
    write_marks(run, tmp_path / "report")
    assert marks_in(tmp_path / "report")["curation"]["0"]["decision"] == "part"


def test_a_report_that_is_there_is_marked_by_the_command_and_no_other_is_made(run, capsys):
    assert refresh_marks(run) is None
    assert not run.report.exists()
    goalward.write_report(run.path, videos=False, progress=False)
    before = (run.report / "data" / "run.js").read_bytes()
    app(["curate", str(run.path), "--drop", "not-success"], result_action="return_value")
    assert marks_in(run.report)["curation"]["2"]["decision"] == "drop"
    assert (run.report / "data" / "run.js").read_bytes() == before
    told = capsys.readouterr().err
    assert f"marked in the report: {run.report / 'index.html'}#episodes" in told
    app(["audit", str(run.path)], result_action="return_value")
    assert "marked in the report" not in capsys.readouterr().err
    keep_note(run.notes, "5", EpisodeNote(wrong_label=True))
    app(["audit", str(run.path)], result_action="return_value")
    assert "#episodes?marked=audit" in capsys.readouterr().err
    assert list(marks_in(run.report)["audit"]) == ["5"]

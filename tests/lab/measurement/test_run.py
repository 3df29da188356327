"""`python -m lab measure`, on the real lab."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from lab.measurement import duets
from lab.measurement.beside import open_beside
from lab.measurement.record import LabResults
from lab.measurement.run import Plan, run
from loadtest.record import meta
from tests.harness.processes import alive, names

ROOT = Path(__file__).parents[3]
TRIAL = Plan(repeats=1, quick=True, scale=0.001)


@pytest.mark.slow
def test_studies_are_measured(tools: None, tmp_path: Path) -> None:
    """Measures with Postgres and several workers. A study that is measured again takes the place of the old one."""
    file = tmp_path / "results" / "lab.json"
    lab = run(("three_tasks", "database"), TRIAL, file, meta.environment("vegeta"))
    for study in lab.studies:
        for row in study.rows:
            assert row.measurement.accepted == row.measurement.requests > 0
            assert row.cores is not None
            assert row.cores.lab > 0
            if study.name == "database":
                assert row.cores.database > 0
            assert row.threads is not None
            assert row.threads.os >= row.threads.before
            assert (row.threads.python is None) == (row.workers > 1)
    # Postgres runs beside the other study, too. No case queries it, but it may still clean up after it was filled.
    idle = [row.cores for row in lab.studies[0].rows if row.cores is not None]
    assert min(cores.database for cores in idle) < min(cores.lab for cores in idle)
    assert [study.scale for study in lab.studies] == [None, 0.001]
    again = run(("three_tasks",), TRIAL, file, meta.environment("vegeta"))
    assert [study.name for study in again.studies] == ["three_tasks", "database"]
    assert again.studies[0].rows != lab.studies[0].rows
    assert again.studies[1] == lab.studies[1]
    assert LabResults.model_validate_json(file.read_text(encoding="utf-8")) == again


@pytest.mark.slow
def test_a_duet_of_labs(tools: None, tmp_path: Path) -> None:
    """Both labs are measured, and the name of the reference contains that of its partner."""
    with open_beside(database=False) as beside:
        rows = duets.measure(beside, duets.QUICK_GROUPS, 1, tmp_path / "lab.json", TRIAL.shorter)
    assert [row.name for row in rows] == ["nothing again", "nothing beside nothing again"]
    for row in rows:
        assert row.measurement.accepted > 0
        assert row.measurement.used is not None
        assert row.measurement.used.cpu_ms_per_accepted


@pytest.mark.slow
def test_ctrl_c_leaves_no_process(tools: None, tmp_path: Path) -> None:
    """The exit code is 130, and every started process ends: lab, workers, upstream, Postgres and vegeta."""
    command = [sys.executable, "-m", "lab", "measure", "--only", "database", "--out", str(tmp_path), "--scale", "0.001"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, encoding="utf-8", env=os.environ) as process:
        assert process.stderr is not None
        while not process.stderr.readline().startswith("[1/"):
            assert process.poll() is None
        started: list[psutil.Process] = []
        while "vegeta" not in names(started):
            assert process.poll() is None
            started = psutil.Process(process.pid).children(recursive=True)
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert "interrupted" in process.stderr.read()
        assert process.wait() == 130
    assert alive(started) == []


@pytest.mark.slow
def test_help_names_the_studies(tools: None) -> None:
    """The help names the options of the command and the studies."""
    shown = subprocess.run(
        [sys.executable, "-m", "lab", "measure", "--help"], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    ).stdout
    assert all(word in shown for word in ("--only", "--quick", "--repeats", "--out", "three_tasks", "orders"))


def test_a_study_that_is_not_there(tools: None) -> None:
    """The error lists the studies that exist."""
    command = [sys.executable, "-m", "lab", "measure", "--only", "nothing"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert ended.returncode == 2
    assert "'do_nothing', 'three_tasks'" in ended.stderr

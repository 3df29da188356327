"""Instructions per webhook: the count itself, and the comparison with its budget."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.settings import NEWEST
from loadtest import instructions
from loadtest.instructions import BUDGETS, SUBJECTS, VERSION, Count, exceeded, main
from loadtest.record.folders import ROOT
from loadtest.stage import callgrind
from loadtest.stage.in_process import FLOOR
from tests.harness.missing import missing

WRITTEN = "version: 1\nevents: Ir\nsummary: 0\n\nfn=(1) main\n16 400\n\ntotals: 45107\n"


def run(subject: str, folder: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Serves 200 webhooks in one process, without callgrind."""
    environment = instructions.environment(subject, folder) | variables
    command = [sys.executable, "-m", "loadtest.stage.in_process", subject, "200"]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=False, timeout=120
    )


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Replaces the budget by one of 1,000 for the floor and this Python. Returns the budget's file."""
    file = tmp_path / "budgets.json"
    file.write_text(json.dumps({VERSION: {FLOOR: 1000}}), encoding="utf-8")
    monkeypatch.setattr(instructions, "BUDGETS", file)
    return file


def count(monkeypatch: pytest.MonkeyPatch, found: int) -> None:
    """Makes the command count `found` instructions for the floor."""
    monkeypatch.setattr(instructions, "count_all", lambda *_: {FLOOR: Count(found, None)})


def test_the_totals_of_callgrind(tmp_path: Path) -> None:
    """The count is in the last line of callgrind's file. (The line `summary` is 0 if counting begins later.)"""
    (tmp_path / "out").write_text(WRITTEN, encoding="utf-8")
    assert callgrind.instructions(tmp_path / "out") == 45107


@pytest.mark.parametrize("written", ["", WRITTEN.replace("45107", "0")])
def test_nothing_was_counted(tmp_path: Path, written: str) -> None:
    """If callgrind has counted nothing, the error names the file."""
    (tmp_path / "out").write_text(written, encoding="utf-8")
    with pytest.raises(ValueError, match=r"counted nothing in .*out"):
        callgrind.instructions(tmp_path / "out")


def test_three_percent_over_the_budget_is_too_much() -> None:
    """A count may be exactly 3 % over its budget. A subject without a budget is an error."""
    assert exceeded({FLOOR: Count(1030, None)}, {FLOOR: 1000}) == []
    assert exceeded({FLOOR: Count(1031, None)}, {FLOOR: 1000}) == [
        f"{FLOOR}: 1,031 instructions per webhook are 3.1% over the budget of 1,000; allowed are 3%"
    ]
    assert exceeded({FLOOR: Count(1, None)}, {}) == [
        f"{FLOOR}: no budget; set it with python -m loadtest instructions --write"
    ]


@pytest.mark.parametrize(("found", "code"), [(1030, 0), (1031, 1)])
def test_check(monkeypatch: pytest.MonkeyPatch, counted: Path, found: int, code: int) -> None:
    """The exit code is 1 if a count is over its budget."""
    count(monkeypatch, found)
    assert CliRunner().invoke(main, ["--check", "--only", FLOOR]).exit_code == code


def test_check_without_a_budget_for_this_python(monkeypatch: pytest.MonkeyPatch, counted: Path) -> None:
    """The command says that there is no budget, counts nothing, and exits with 0."""
    counted.write_text("{}", encoding="utf-8")
    monkeypatch.setattr(instructions, "count_all", None)
    ended = CliRunner().invoke(main, ["--check"])
    assert (ended.exit_code, f"no budget for Python {VERSION}" in ended.output) == (0, True)


def test_write(monkeypatch: pytest.MonkeyPatch, counted: Path) -> None:
    """The counts become the budget. The budgets of other subjects and Pythons do not change."""
    counted.write_text(json.dumps({"3.0.0": {FLOOR: 1}, VERSION: {FLOOR: 2, "v09_group_commit": 3}}), encoding="utf-8")
    count(monkeypatch, 4)
    CliRunner().invoke(main, ["--write"])
    assert json.loads(counted.read_text(encoding="utf-8")) == {
        "3.0.0": {FLOOR: 1},
        VERSION: {FLOOR: 4, "v09_group_commit": 3},
    }


def test_every_subject_has_a_budget() -> None:
    """Each Python in the budget has a number for each subject."""
    assert NEWEST in SUBJECTS
    for version, budget in json.loads(BUDGETS.read_text(encoding="utf-8")).items():
        assert set(budget) == set(SUBJECTS), version


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS)
def test_webhooks_are_served_in_one_process(subject: str, tmp_path: Path) -> None:
    """Each call to SQS has ten webhooks, as under load."""
    done = json.loads(run(subject, tmp_path).stdout)
    assert done["webhooks"] >= 200
    assert done["calls"] == (0 if subject == FLOOR else done["webhooks"] / 10)


def test_a_refused_webhook_fails_the_count(tmp_path: Path) -> None:
    """A webhook without a 200 is an error, because a count of refusals would be too low."""
    ended = run(NEWEST, tmp_path, APP_MAX_BODY_BYTES="1000")
    assert (ended.returncode, "not answered with 200: b'HTTP/1.1 413" in ended.stderr) == (1, True)


@pytest.mark.slow
def test_a_count_repeats_beside_a_busy_process(tmp_path: Path) -> None:
    """Counts per webhook differ by at most 1 %, even with twice as many webhooks, because the warm-up is excluded."""
    if shutil.which("valgrind") is None:
        missing("valgrind is not on PATH; on Debian: apt install valgrind")
    alone = instructions.count(FLOOR, 200, tmp_path)
    with subprocess.Popen([sys.executable, "-c", "while True: pass"], env=os.environ) as busy:
        try:
            beside = instructions.count(FLOOR, 400, tmp_path)
        finally:
            busy.kill()
    assert beside.instructions == pytest.approx(alone.instructions, rel=0.01)

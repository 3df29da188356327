"""`asgi-doctor attach`: what it finds in a running process, and that it leaves nothing behind."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from asgi_doctor import attach
from asgi_doctor.errors import DoctorError
from asgi_doctor.finding import Finding
from tests.asgi_doctor.doctor_process import PATIENCE, command, environment

# A shop that handles the same request until the file `stop` exists. Before Python 3.14, SIGUSR1 makes it run the
# script, as `sys.remote_exec` does. `state` returns everything that the doctor could leave behind in the process.
SHOP = """
    import asyncio, ctypes, gc, linecache, os, signal, sys, threading, time

    import uvloop

    def state():
        modules = [name for name in sys.modules if "asgi_doctor" in name]
        files = [path for path in [*linecache.cache, *sys.path_importer_cache] if "asgi-doctor" in path]
        threads = sorted(thread.name for thread in threading.enumerate())
        return [modules, files, threads, len(gc.callbacks), len(os.listdir("/proc/self/fd"))]

    def answer():
        time.sleep(0.3)

    async def handle(scope):
        answer()

    async def serve():
        await asyncio.to_thread(time.sleep, 0)  # the default executor has a thread from now on
        print(state(), flush=True)
        while not os.path.exists("stop"):
            await asyncio.create_task(handle({"type": "http", "method": "GET", "path": "/orders/7"}))
            await asyncio.sleep(0.05)
        print(state(), flush=True)

    ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1))  # PR_SET_PTRACER: any process may attach, under Yama too
    signal.signal(signal.SIGUSR1, lambda *_: exec(open(open("script").read()).read(), {}))
    (uvloop if "uvloop" in sys.argv else asyncio).run(serve())
"""


@contextmanager
def _running(folder: Path, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    (folder / "shop.py").write_text(textwrap.dedent(SHOP), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "shop.py", *arguments], cwd=folder, stdout=subprocess.PIPE, encoding="utf-8"
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def _attach(folder: Path, pid: int, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Finding], list[str]]:
    """Attaches for two seconds. Before Python 3.14, writes the script's path to a file that the process reads."""

    def remote_exec(pid: int, script: str) -> None:
        (folder / "script").write_text(script, encoding="utf-8")
        os.kill(pid, signal.SIGUSR1)

    if not hasattr(sys, "remote_exec"):
        monkeypatch.setattr(sys, "remote_exec", remote_exec, raising=False)
    said: list[str] = []
    return attach.run(pid, 0.1, 2, said.append).findings, said


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_a_process_that_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loop: str) -> None:
    """The doctor finds line and route. Afterwards, the process has no thread, module or open file of the doctor."""
    monkeypatch.setenv("TMPDIR", "/nowhere")  # not writable, as /tmp in some containers, so the next folder is used
    with _running(tmp_path, loop) as process:
        assert process.stdout is not None
        before = process.stdout.readline()
        findings, said = _attach(tmp_path, process.pid, monkeypatch)
        (tmp_path / "stop").touch()
        assert process.stdout.readline() == before
        assert process.wait(PATIENCE) == 0
    [finding] = findings
    assert (finding.route, finding.function, finding.source) == ("GET /orders/{}", "answer", "time.sleep(0.3)")
    assert finding.count >= 1
    assert said[0] == "Watching 1 event loop for 2 s"
    assert said[1].startswith("blocked for ")


def test_a_process_without_a_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a process that only starts workers, like gunicorn's parent, the error has the process ids of the workers."""
    code = """
        import signal, subprocess, sys, time
        signal.signal(signal.SIGUSR1, lambda *_: exec(open(open("script").read()).read(), {}))
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        print(child.pid, flush=True)
        while True:
            time.sleep(0.1)
    """
    monkeypatch.setitem(globals(), "SHOP", code)
    with _running(tmp_path) as process:
        assert process.stdout is not None
        child = process.stdout.readline().strip()
        with pytest.raises(DoctorError, match=f"runs no event loop .*; its child processes are {child}$"):
            _attach(tmp_path, process.pid, monkeypatch)


@pytest.mark.skipif(not hasattr(sys, "remote_exec"), reason="needs Python 3.14")
def test_the_command(tmp_path: Path) -> None:
    """The command names a line while it blocks. Ctrl-C ends the command with a summary and files, and --check fails."""
    with _running(tmp_path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        attached = subprocess.Popen(
            command("attach", str(process.pid), "--for", "60", "--check", "--json", "found.json"),
            cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        )  # fmt: skip
        with attached:
            assert attached.stdout is not None
            assert any(line.startswith("blocked for ") for line in attached.stdout)
            attached.send_signal(signal.SIGINT)
            summary, errors = attached.communicate(timeout=PATIENCE)
    assert (attached.returncode, errors) == (1, "error: --check: there are new findings, so the exit code is 1\n")
    assert f"process {process.pid}; 1 finding (limit 0.1 s)" in summary
    [found] = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))["findings"]
    assert (found["function"], found["kind"]) == ("answer", "waits")


def test_where_nothing_can_be_attached(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the reason: the version of Python is too old, or there is no such process."""
    with monkeypatch.context() as without:
        without.delattr(sys, "remote_exec", raising=False)
        with pytest.raises(DoctorError, match=r"attach needs Python 3\.14 or newer, here and in the process; this is"):
            attach.run(1, 0.1, 1, print)
    monkeypatch.setattr(sys, "remote_exec", None, raising=False)
    with pytest.raises(DoctorError, match=r"^process 99999999: there is no such process$"):
        attach.run(99999999, 0.1, 1, print)

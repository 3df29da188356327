"""Tests the page's process: it starts, and neither outlives nor delays its parent."""

import signal
import socket
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import pytest

from local.live.page_config import PageConfig, ShownService
from local.live.start import start
from tests.harness.commands import LocalRunProcess
from tests.harness.processes import alive
from tests.local.live.viewer import viewing

PARENT = textwrap.dedent("""
    import sys
    from local.live.start import start
    from local.live.page_config import PageConfig, ShownService
    with start() as page:
        page.show(PageConfig([ShownService("x", "", "", "http://127.0.0.1:9")]))
        print(page.pid, page.url(), flush=True)
        sys.stdin.read()
""")


@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_its_parent(sig: signal.Signals) -> None:
    """The page ends when the pipe from its parent ends, with or without viewers."""
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as parent:
        assert parent.stdout is not None
        pid, url = parent.stdout.readline().split()
        page = psutil.Process(int(pid))
        with viewing(url) as events:
            next(events)
            parent.send_signal(sig)
            parent.wait(60)
            with suppress(httpx.RemoteProtocolError):  # the stream ends in the middle
                list(events)
        assert alive([page]) == []


def test_a_page_that_has_ended() -> None:
    """`show` raises no error if the page has ended, and neither does the end of the context."""
    with start() as page:
        process = psutil.Process(page.pid)
        process.kill()
        process.wait(60)
        page.show(PageConfig([ShownService("x", "", "", "http://127.0.0.1:9")]))
        assert page.url() is None


@pytest.mark.slow
def test_a_viewer_does_not_hold_up_a_stop(tmp_path: Path) -> None:
    """SIGTERM ends the service long before the time-out for open requests, and the viewer's stream ends with it."""
    with LocalRunProcess(tmp_path, drain_delay=0, graceful_timeout=600) as web:
        url = web.wait_for("Live page on").split()[-1]
        with viewing(url) as events:
            next(events)
            assert web.stop(timeout=100) == 0
            with suppress(httpx.RemoteProtocolError):
                list(events)


def test_it_listens_on_loopback_alone() -> None:
    """The page has one socket, on 127.0.0.1."""
    with start() as page:
        page.show(PageConfig([ShownService("x", "", "", "http://127.0.0.1:9")]))
        url = page.url()
        process = psutil.Process(page.pid)
        sockets = [one for each in (process, *process.children(True)) for one in each.net_connections("tcp")]
    listening = [one.laddr for one in sockets if one.status == psutil.CONN_LISTEN]
    assert [f"http://{address.ip}:{address.port}" for address in listening] == [url]
    assert listening[0].ip == "127.0.0.1"


@pytest.mark.slow
def test_a_port_that_is_taken(tmp_path: Path) -> None:
    """If the port is in use, one line says so, and the service runs without the page."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with LocalRunProcess(tmp_path, local_live_port=port) as web:
            assert web.wait_for(
                f"APP_LOCAL_LIVE_PORT={port}: the live page cannot listen on 127.0.0.1:{port}: Address already in use"
            )
            assert httpx.get(f"{web.url}/readyz", timeout=60).status_code == 200

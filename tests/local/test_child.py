"""Tests where each stand-in that runs as a child process listens, and when it ends."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
from types import ModuleType

import psutil
import pytest

from app.errors import ConfigurationError
from local import embedded_aws
from local.chargebee import chargebee_start as chargebee
from tests.harness.processes import alive

PARENT = """
    import sys
    from {module} import start
    with start() as child:
        print(child.pid, flush=True)
        sys.stdin.read()
"""
each_of_them = pytest.mark.parametrize(
    "stand_in", [embedded_aws, chargebee], ids=lambda module: module.__name__.removeprefix("local.")
)


@each_of_them
def test_it_listens_on_loopback_alone(stand_in: ModuleType) -> None:
    """A stand-in has one socket, on 127.0.0.1, whatever the emulator's defaults are."""
    with stand_in.start() as child:
        process = psutil.Process(child.pid)
        sockets = [socket for each in (process, *process.children(True)) for socket in each.net_connections("all")]
        listening = [socket.laddr for socket in sockets if socket.status == psutil.CONN_LISTEN]
        bound = [socket.laddr for socket in sockets if socket.laddr and socket.status == psutil.CONN_NONE]
    assert [address.ip for address in listening] == ["127.0.0.1"]
    assert [address for address in bound if hasattr(address, "ip")] == []


@each_of_them
@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_when_its_parent_is_killed(stand_in: ModuleType, sig: signal.Signals) -> None:
    """The child ends when the pipe from its parent ends, which needs no signal."""
    command = [sys.executable, "-c", textwrap.dedent(PARENT.format(module=stand_in.__name__))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.send_signal(sig)
        parent.wait(60)
        assert alive([child]) == []


@each_of_them
def test_a_port_that_is_taken(stand_in: ModuleType) -> None:
    """A port in use gives one line, and leaves no child process behind."""
    before = _children()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"did not start on port {port}"), stand_in.start(port):
            pass
    assert _children() == before


def _children() -> set[int]:
    return {child.pid for child in psutil.Process(os.getpid()).children()}

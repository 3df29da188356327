"""Tests that a port in use gives one line, which names the process that has it."""

import os
import socket
import sys

import pytest

from app.errors import ConfigurationError
from local.ports import free_port, listen


def test_a_port_that_is_taken() -> None:
    """The error names this process, which listens on the port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError) as error:
            listen("127.0.0.1", port, "the page")
    _assert_named(port, str(error.value))


@pytest.mark.skipif(sys.platform != "linux", reason="macOS has no other address of loopback")
def test_a_port_of_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Linux accepts the port. For macOS, which would also accept it beside 0.0.0.0, the function refuses it."""
    port = free_port()
    with socket.create_server(("127.0.0.2", port)):
        listen("127.0.0.1", port, "the page").close()
        monkeypatch.setattr("sys.platform", "darwin")
        with pytest.raises(ConfigurationError) as error:
            listen("127.0.0.1", port, "the page")
    _assert_named(port, str(error.value))


def _assert_named(port: int, error: str) -> None:
    line = f"the page cannot listen on 127.0.0.1:{port}: Address already in use; allowed is a free port, or 0; process "
    assert error.startswith(f"{line}{os.getpid()} (")
    assert error.endswith(") listens on this port")

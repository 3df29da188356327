"""Tests that a port in use gives one line, which names the process that has it."""

import os
import socket

import pytest

from app.errors import ConfigurationError
from local.ports import listen


def test_a_port_that_is_taken() -> None:
    """The error names this process, which listens on the port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError) as error:
            listen("127.0.0.1", port, "the page")
    line = f"the page cannot listen on 127.0.0.1:{port}: Address already in use; allowed is a free port, or 0; process "
    assert str(error.value).startswith(f"{line}{os.getpid()} (")
    assert str(error.value).endswith(") listens on this port")

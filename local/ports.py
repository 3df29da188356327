"""Finds free ports for processes that get their port as an argument."""

import random
import socket
from contextlib import closing, suppress

# These ports are below the ports that a system gives to outgoing connections (Linux: from 32,768; macOS and Windows:
# from 49,152). Otherwise, an outgoing connection could take the port before the process listens on it.
PORTS = range(20_000, 32_000)
START_SECONDS = 60  # the time-out for a process to start and listen on its port


def free_port(ports: range = PORTS) -> int:
    """Returns one of `ports` that is not in use on loopback."""
    while True:
        port = random.choice(ports)  # noqa: S311  # a port need not be secret
        with suppress(OSError), closing(socket.create_server(("127.0.0.1", port))):
            return port

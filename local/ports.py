"""Free ports for processes that take their port as an argument."""

import random
import socket
from contextlib import closing, suppress

# These are below the ports that a system gives to outgoing connections (Linux: from 32,768; macOS and Windows: from
# 49,152). Otherwise, an outgoing connection could take the port before the process does.
PORTS = range(20_000, 32_000)
START_SECONDS = 60  # until a process that got such a port listens


def free_port() -> int:
    """Returns a port on loopback that is not in use."""
    while True:
        port = random.choice(PORTS)  # noqa: S311  # not a secret
        with suppress(OSError), closing(socket.create_server(("127.0.0.1", port))):
            return port

"""Free ports, for processes that take the port as an argument."""

import socket
from contextlib import closing


def free_port() -> int:
    """A port on loopback that is not in use."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port: int = free.getsockname()[1]
        return port

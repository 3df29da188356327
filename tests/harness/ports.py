"""Ports that refuse connections."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def refusing() -> Iterator[int]:
    """Yields a port of loopback that has no listener, and that no other process can get until the context ends."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]

"""Ports that refuse connections."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def refusing() -> Iterator[int]:
    """A port of loopback without a listener, which no other process gets meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]

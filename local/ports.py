"""Finds free ports for processes that get their port as an argument, and listens on ports."""

import errno
import os
import random
import socket
import sys
from contextlib import closing, suppress

from app.errors import ConfigurationError

# These ports are below the ports that a system gives to outgoing connections (Linux: from 32,768; macOS and Windows:
# from 49,152). Otherwise, an outgoing connection could take the port before the process listens on it.
PORTS = range(20_000, 32_000)
START_SECONDS = 60  # the time-out for a process to start and listen on its port


def listen(host: str, port: int, what: str, backlog: int = 128) -> socket.socket:
    """Returns a listening socket; `port` 0 takes a free port.

    Raises ConfigurationError if the process cannot listen. The message begins with `what`, which names the server that
    needs the port. The message also names the processes that listen on the port, if they are known.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        # On macOS and BSD, `bind` succeeds even if another process listens on this port with another address.
        if port and sys.platform != "linux" and _listeners(port):
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
        listener.bind((host, port))
        listener.listen(backlog)  # if the port is in use, `bind` may succeed; `listen` then fails
    except (OSError, OverflowError, UnicodeError) as error:  # a port above 65535 is an OverflowError
        listener.close()
        reason = getattr(error, "strerror", None) or error
        others = "".join(f"; {one} listens on this port" for one in _listeners(port))
        raise ConfigurationError(
            f"{what} cannot listen on {host}:{port}: {reason}; allowed is a free port, or 0{others}"
        ) from None
    return listener


def _listeners(port: int) -> list[str]:
    """Returns the processes that listen on `port`, such as `process 4711 (python -m app web)`, as far as known.

    The operating system may hide the ports of other users' processes.
    """
    import psutil  # most processes that import this module need no psutil

    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            sockets = process.net_connections("tcp")
            if any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in sockets):
                found.append(f"process {process.pid} ({' '.join(process.cmdline())})")
    return found


def free_port(ports: range = PORTS) -> int:
    """Returns one of `ports` that is not in use on loopback."""
    while True:
        port = random.choice(ports)  # noqa: S311  # a port need not be secret
        with suppress(OSError), closing(socket.create_server(("127.0.0.1", port))):
            return port

"""The listening socket: bound by us, and at the end closed without resetting anybody."""

import ctypes
import resource
import socket
import struct
import sys
from contextlib import suppress

from app.errors import ConfigurationError
from app.settings import Settings

# From <linux/filter.h> and <asm-generic/socket.h>: a packet filter of one instruction, "return 0": drop.
_SO_ATTACH_FILTER = 26
_DROP = struct.pack("HBBI", 0x06, 0, 0, 0)

# One socket a connection: the usual soft limit (1,024; macOS 256) is below APP_MAX_IN_FLIGHT.
_OPEN_FILES = 65_536


def bind(settings: Settings) -> socket.socket:
    """The socket on APP_HOST and APP_PORT; who connects waits in its backlog. Raises ConfigurationError."""
    try:
        candidates = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = candidates[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(settings.backlog)  # two sockets may bind to a port, but only one may listen
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(
            f"APP_HOST={settings.host}, APP_PORT={settings.port}: cannot listen there: {error};"
            " allowed is an address of this machine and a free port (0 takes one)"
        ) from None
    listener.set_inheritable(True)  # for workers
    return listener


def url(listener: socket.socket) -> str:
    """Where a browser on this machine finds it."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # compared, not bound
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def turn_away(listener: socket.socket) -> None:
    """From now on nobody new gets in, while those already in the queue can still be accepted.

    Closing a listener resets every connection that waits to be accepted, and under load some always do.
    A filter makes the kernel drop new ones unseen: their sender tries again a second later, and is then
    refused like anybody who comes after the end. Linux only; elsewhere those few are reset.
    """
    if sys.platform == "linux":
        program = ctypes.create_string_buffer(_DROP)
        with suppress(OSError):  # a kernel that is none (gVisor, WSL 1)
            listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HL", 1, ctypes.addressof(program)))


def raise_open_files_limit() -> None:
    """Lifts the soft limit as far as the hard one allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError):  # macOS has a lower bound of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))

"""Binds the listening socket, and prepares to close it without resetting connections in the backlog."""

import ctypes
import resource
import socket
import struct
import sys
from contextlib import suppress

from app.errors import ConfigurationError
from app.settings import Settings
from app.settings.text import http_url

# From <linux/filter.h> and <asm-generic/socket.h>. A filter on a TCP socket sees a segment from the TCP header
# on; byte 13 of that header has the flags.
_SO_ATTACH_FILTER = 26
_FLAGS, _SYN, _SYN_ACK = 13, 0x02, 0x12
_LOAD_BYTE, _AND, _JUMP_IF_EQUAL, _RETURN = 0x30, 0x54, 0x15, 0x06
_DROP_SYN = b"".join(
    struct.pack("HBBI", *instruction)
    for instruction in (
        (_LOAD_BYTE, 0, 0, _FLAGS),
        (_AND, 0, 0, _SYN_ACK),
        (_JUMP_IF_EQUAL, 0, 1, _SYN),
        (_RETURN, 0, 0, 0),  # drop
        (_RETURN, 0, 0, 0xFFFFFFFF),  # pass
    )
)

# A connection takes one descriptor, and the usual soft limit (1,024; macOS 256) is below APP_MAX_CONNECTIONS.
_OPEN_FILES = 65_536
# Descriptors that are neither for clients nor for connections to SQS: the log, the event loop.
_RESERVED_FILES = 100


def bind(settings: Settings) -> socket.socket:
    """Returns a socket that listens on APP_HOST and APP_PORT. Raises ConfigurationError."""
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
    return listener


def url(listener: socket.socket) -> str:
    """Returns the URL under which a browser on this machine reaches the listener."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # compared, not bound
    return http_url(host, port)


def drop_new(listener: socket.socket) -> None:
    """Makes the kernel drop new SYNs, while handshakes under way can still be completed and accepted. Linux only.

    Closing a listener resets every connection in the backlog, which is never empty under load. The client of a dropped
    SYN retransmits it after a second, and its connection is refused then, as after any stop. The filter drops SYNs
    only: if it dropped the last ACK of a handshake, a client that is connected already would be reset.
    """
    if sys.platform == "linux":
        program = ctypes.create_string_buffer(_DROP_SYN, len(_DROP_SYN))
        with suppress(OSError):  # another kernel (gVisor, WSL 1), or one that requires CAP_NET_ADMIN (6.18)
            filter_ = struct.pack("HL", len(_DROP_SYN) // 8, ctypes.addressof(program))
            listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, filter_)


def accepted_at_once(settings: Settings) -> int:
    """Returns how many connections to accept per loop iteration: APP_ACCEPT, or the release's own choice.

    v01 to v07 accept as their loop does by default: uvloop one connection, asyncio the whole backlog. This limits how
    many webhooks they have in memory: the others wait in the backlog, which takes no memory of the process.
    """
    own = "one" if settings.release.published and settings.loop == "uvloop" else "all"
    return 1 if (settings.accept or own) == "one" else settings.backlog


def max_connections(settings: Settings) -> int | None:
    """Returns APP_MAX_CONNECTIONS, or less if there are fewer descriptors. Raises their soft limit first."""
    files = _raise_open_files_limit()
    possible = max(files - _RESERVED_FILES - max(settings.sqs_max_connections or 0, 64), 1) if files else None
    return min(filter(None, (settings.max_connections, possible)), default=None)


def _raise_open_files_limit() -> int | None:
    """Raises the soft limit as far as the hard limit allows. Returns the soft limit, or None for no limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError):  # macOS has a lower bound of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft

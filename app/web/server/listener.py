"""The listening socket: bound here, and closed without resetting connections in its backlog."""

import ctypes
import resource
import socket
import struct
import sys
from contextlib import suppress

from app.errors import ConfigurationError
from app.settings import Settings
from app.settings.text import http_url

# From <linux/filter.h> and <asm-generic/socket.h>. A filter on a TCP socket gets the segment from the TCP header on,
# whose byte 13 holds the flags.
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

# One descriptor a connection: the usual soft limit (1,024; macOS 256) is below APP_MAX_CONNECTIONS.
_OPEN_FILES = 65_536
# Descriptors that are not for clients: the log, the event loop, connections to SQS.
_RESERVED_FILES = 100


def bind(settings: Settings) -> socket.socket:
    """The socket on APP_HOST and APP_PORT, listening. Raises ConfigurationError."""
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
    """Where a browser on this machine finds it."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # compared, not bound
    return http_url(host, port)


def drop_new(listener: socket.socket) -> None:
    """From now on the kernel drops new SYNs, while handshakes under way can still be completed and accepted.

    Closing a listener resets every connection in its backlog, and under load there always are some. The client of a
    dropped SYN retransmits it a second later, and is refused then, as after any stop. Only SYNs are dropped: without
    the last ACK of its handshake, a client that is connected already would be reset. Linux only.
    """
    if sys.platform == "linux":
        program = ctypes.create_string_buffer(_DROP_SYN, len(_DROP_SYN))
        with suppress(OSError):  # not Linux's own kernel (gVisor, WSL 1), or one that requires CAP_NET_ADMIN (6.18)
            filter_ = struct.pack("HL", len(_DROP_SYN) // 8, ctypes.addressof(program))
            listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, filter_)


def accepted_at_once(settings: Settings) -> int:
    """APP_ACCEPT, or the release's own, as connections per iteration of the event loop.

    v02 to v07 accept as their loop does by itself: uvloop one, asyncio the whole backlog. It decides how many webhooks
    they hold at a time: the others wait in the backlog, where they take no memory of the process.
    """
    own = "one" if settings.release.published and settings.loop == "uvloop" else "all"
    return 1 if (settings.accept or own) == "one" else settings.backlog


def max_connections(settings: Settings) -> int | None:
    """APP_MAX_CONNECTIONS, or less where there are fewer descriptors, whose soft limit is raised first."""
    files = _raise_open_files_limit()
    possible = max(files - _RESERVED_FILES - max(settings.sqs_max_connections or 0, 64), 1) if files else None
    return min(filter(None, (settings.max_connections, possible)), default=None)


def _raise_open_files_limit() -> int | None:
    """Raises the soft limit as far as the hard one allows; returns it, None for no limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError):  # macOS has a lower bound of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft

"""Opens the listening socket, and lets the server close the socket without resetting connections in its backlog."""

import ctypes
import socket
import struct
import sys
from contextlib import suppress
from ipaddress import ip_address

from app import open_files
from app.errors import ConfigurationError
from app.settings import Release, WebSettings
from app.settings.text import http_url, shown

# _DROP_SYN is a socket filter (classic BPF), which the kernel runs on each TCP segment. It drops a SYN and passes all
# other segments. Byte 13 of a segment contains the TCP flags. The numbers come from <linux/filter.h> and
# <asm-generic/socket.h>.
_SO_ATTACH_FILTER = 26
_FLAGS, _SYN, _SYN_ACK = 13, 0x02, 0x12
_LOAD_BYTE, _AND, _JUMP_IF_EQUAL, _RETURN = 0x30, 0x54, 0x15, 0x06
_DROP_SYN = b"".join(
    struct.pack("HBBI", *instruction)
    for instruction in (
        (_LOAD_BYTE, 0, 0, _FLAGS),
        (_AND, 0, 0, _SYN_ACK),
        (_JUMP_IF_EQUAL, 0, 1, _SYN),
        (_RETURN, 0, 0, 0),  # drop the segment
        (_RETURN, 0, 0, 0xFFFFFFFF),  # pass the segment
    )
)

# Maximum connections that wait in the kernel for the server to accept. The kernel may allow fewer (net.core.somaxconn).
BACKLOG = 2048
# Number of file descriptors for everything except connections (from clients and to SQS), for example for the log.
_RESERVED_FILES = 100
# With a lower maximum, probes would close the connections of senders: the service does not start.
_LEAST_CONNECTIONS = 32


def bind(settings: WebSettings) -> socket.socket:
    """Returns a socket that listens on APP_HOST and APP_PORT. Raises ConfigurationError if that is not possible."""
    try:
        candidates = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = candidates[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)  # on a port that is in use, `bind` may succeed; `listen` fails
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(
            f"APP_HOST={shown(settings.host)}, APP_PORT={settings.port}: cannot listen there: {error};"
            " allowed are an address of this machine and a free port (0 chooses one)"
        ) from None
    return listener


def is_loopback(host: str) -> bool:
    """Returns True if all addresses of `host` are loopback addresses, or if `host` cannot be resolved."""
    try:
        # As `bind` does it: without AI_PASSIVE, the C library takes `*` for a loopback address.
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        return True  # `bind` will raise an error that names the host
    return all(ip_address(str(address[0])).is_loopback for *_, address in found)


def described(listener: socket.socket, release: Release) -> str:
    """Returns the URL that a browser on this machine can use for the listener, and the release with its version."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # replaced in the URL, not bound
    return f"{http_url(host, port)} with {release.value} ({release.version})"


def drop_new(listener: socket.socket) -> None:
    """Makes the kernel drop new SYNs, so that the backlog can become empty before the server closes the listener.

    Closing a listener resets every connection in its backlog, and under load new connections arrive all the time. A
    client retransmits a dropped SYN after a second; the kernel then refuses the connection, because the listener is
    closed. Handshakes that have begun can still complete, because the filter drops only SYNs. If the filter dropped the
    last ACK of a handshake, closing would reset a connection that the client regards as open.

    Does nothing on systems other than Linux, and where the kernel requires CAP_NET_ADMIN, which containers lack.
    """
    if sys.platform == "linux":
        program = ctypes.create_string_buffer(_DROP_SYN, len(_DROP_SYN))
        # gVisor and WSL 1 have no such filters, and some kernels, such as Linux 6.18.44, require CAP_NET_ADMIN.
        with suppress(OSError):
            filter_ = struct.pack("HL", len(_DROP_SYN) // 8, ctypes.addressof(program))
            listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, filter_)


def max_connections(settings: WebSettings) -> int | None:
    """Raises the process's limit of open files. Then returns the maximum number of connections, or None for no limit.

    The maximum is APP_MAX_CONNECTIONS, or less if the process may open fewer files. Raises ConfigurationError if that
    would be too few to be useful.
    """
    files = open_files.raise_limit()
    if files is None:
        return settings.max_connections or None
    reserved = _RESERVED_FILES + max(settings.sqs_max_connections or 0, 64)
    needed = reserved + min(settings.max_connections or _LEAST_CONNECTIONS, _LEAST_CONNECTIONS)
    if files < needed:
        raise ConfigurationError(
            f"ulimit -n {files}: allowed are {needed} or more open files, because the service reserves {reserved} for"
            " everything except connections from clients"
        )
    return min(settings.max_connections or files, files - reserved)

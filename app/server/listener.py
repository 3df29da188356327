"""Opens the listening socket, and lets the server close the socket without resetting connections in its backlog."""

import ctypes
import socket
import struct
import sys
from contextlib import suppress
from ipaddress import ip_address

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

# Maximum number of connections that wait in the kernel to be accepted. The kernel may allow fewer (somaxconn).
BACKLOG = 2048


def bind(host: str, port: int) -> socket.socket:
    """Returns a listening socket. Raises OSError or UnicodeError if `host` or `port` cannot be used."""
    candidates = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, kind, protocol, _, address = candidates[0]
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(address)
    listener.listen(BACKLOG)  # if the port is in use, `bind` may succeed, but `listen` fails
    return listener


def is_loopback(host: str) -> bool:
    """Returns True if all addresses of `host` are loopback addresses, or if `host` cannot be resolved."""
    try:
        # AI_PASSIVE, as in `bind`: without this flag, the C library resolves `*` to a loopback address.
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        return True  # `bind` will raise an error that names the host
    return all(ip_address(str(address[0])).is_loopback for *_, address in found)


def drop_new(listener: socket.socket) -> None:
    """Makes the kernel drop new SYNs, so that the backlog can become empty before the server closes the listener.

    Closing a listener resets every connection in its backlog, and under load new connections arrive all the time. A
    client retransmits a dropped SYN after a second; the kernel then refuses the connection, because the listener is
    closed. Handshakes that have begun can still complete, because the filter drops only SYNs. If the filter dropped the
    last ACK of a handshake, closing would reset a connection that the client regards as open.

    Does nothing on systems other than Linux, or if the kernel requires CAP_NET_ADMIN, which containers lack.
    """
    if sys.platform == "linux":
        program = ctypes.create_string_buffer(_DROP_SYN, len(_DROP_SYN))
        # gVisor and WSL 1 have no socket filters. Some kernels, such as Linux 6.18.44, require CAP_NET_ADMIN.
        with suppress(OSError):
            filter_ = struct.pack("HL", len(_DROP_SYN) // 8, ctypes.addressof(program))
            listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, filter_)

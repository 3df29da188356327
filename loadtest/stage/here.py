"""Whether an address belongs to this machine."""

import socket
from ipaddress import ip_address
from urllib.parse import urlsplit


def is_here(url: str) -> bool:
    """Returns True if every address of the host of `url` is one of this machine. Raises OSError for an unknown host."""
    found = socket.getaddrinfo(urlsplit(url).hostname, None, type=socket.SOCK_STREAM)
    return all(_is_own(family, address[0]) for family, *_, address in found)


def _is_own(family: socket.AddressFamily, address: str | int) -> bool:
    """A socket can be bound to addresses of this machine only. Without IPv6, `::1` cannot be bound, either."""
    if ip_address(address).is_loopback:
        return True
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        try:
            one.bind((address, 0))
        except OSError:
            return False
    return True

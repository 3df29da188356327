"""Checks whether an address belongs to this machine."""

import socket
from ipaddress import ip_address
from urllib.parse import urlsplit


def is_here(url: str) -> bool:
    """Returns True if all addresses of the host in `url` belong to this machine. Raises OSError for an unknown host."""
    found = socket.getaddrinfo(urlsplit(url).hostname, None, type=socket.SOCK_STREAM)
    return all(_is_own(family, address[0]) for family, *_, address in found)


def _is_own(family: socket.AddressFamily, address: str | int) -> bool:
    """Returns True if a socket can be bound to the address, which is possible only for addresses of this machine.

    Returns True for all loopback addresses, even for `::1` if this machine has no IPv6 and thus no such address.
    """
    if ip_address(address).is_loopback:
        return True
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        try:
            one.bind((address, 0))
        except OSError:
            return False
    return True

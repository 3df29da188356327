"""One warning at the start if strangers can use the service with credentials that are easy to guess."""

import socket
from ipaddress import ip_address

from loguru import logger

from app.settings import Settings
from app.web.gate.auth import LEAST_CHARACTERS, weak_passwords


def warn(settings: Settings) -> None:
    """Logs the warning, unless only this machine reaches the service."""
    if (weak := weak_passwords(settings)) and not is_loopback(settings.host):
        logger.warning("{}: fewer than {} characters (as demo's) can be guessed", ", ".join(weak), LEAST_CHARACTERS)


def is_loopback(host: str) -> bool:
    """Whether every address of `host` is on loopback; True for a host that cannot be resolved."""
    try:
        found = socket.getaddrinfo(host, None)
    except (OSError, UnicodeError):
        return True  # binding fails, and reports it
    return all(ip_address(str(address[0])).is_loopback for *_, address in found)

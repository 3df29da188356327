"""Checks HTTP Basic credentials in constant time, and warns of passwords that can be guessed."""

import base64
import binascii
import socket
from ipaddress import ip_address
from secrets import compare_digest

from loguru import logger

from app.settings import Settings
from app.settings.gate import GateSettings

# Passwords with fewer characters, such as `demo`, count as easy to guess.
LEAST_CHARACTERS = 8


def weak_passwords(settings: Settings) -> list[str]:
    """Returns the names of the environment variables whose passwords can be guessed."""
    passwords = {
        "APP_BASIC_AUTH_PASSWORD": settings.basic_auth_password,
        "APP_BASIC_AUTH_PREVIOUS_PASSWORD": settings.basic_auth_previous_password,
    }
    return [name for name, password in passwords.items() if password and len(password) < LEAST_CHARACTERS]


def warn_of_weak_passwords(settings: Settings) -> None:
    """Logs a warning if a password can be guessed, unless the service listens on loopback addresses only."""
    if (weak := weak_passwords(settings)) and not is_loopback(settings.host):
        logger.warning("{}: passwords of fewer than {} characters can be guessed", ", ".join(weak), LEAST_CHARACTERS)


def is_loopback(host: str) -> bool:
    """Returns True if all addresses of `host` are loopback addresses, or if `host` cannot be resolved."""
    try:
        found = socket.getaddrinfo(host, None)
    except (OSError, UnicodeError):
        return True  # `listener.bind` will raise an error that names the host
    return all(ip_address(str(address[0])).is_loopback for *_, address in found)


def accepted_pairs(settings: GateSettings) -> list[bytes]:
    """Returns each accepted pair as `user:password`: the current pair, and the previous pair if it is configured."""
    pairs = (
        (settings.basic_auth_username, settings.basic_auth_password),
        (settings.basic_auth_previous_username, settings.basic_auth_previous_password),
    )
    return [f"{user}:{password.get_secret_value()}".encode() for user, password in pairs if user and password]


def authorized(header: bytes, pairs: list[bytes]) -> bool:
    """Returns True if the Authorization header contains one of `pairs`."""
    scheme, _, token = header.partition(b" ")
    try:
        given = base64.b64decode(token.strip(), validate=True) if scheme.lower() == b"basic" else b""
    except binascii.Error:
        given = b""
    # The list compares all pairs. With any(), the response time would show which pair matches.
    return True in [compare_digest(given, pair) for pair in pairs]

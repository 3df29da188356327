"""HTTP Basic authentication in constant time, and a warning for passwords that can be guessed."""

import base64
import binascii
import socket
from collections.abc import Iterable
from ipaddress import ip_address
from secrets import compare_digest

from loguru import logger

from app.settings import Settings
from app.settings.gate import GateSettings

# A password with fewer characters, such as `demo`, can be guessed.
LEAST_CHARACTERS = 8


def weak_passwords(settings: Settings) -> list[str]:
    """Returns the variables of the current and the previous password that can be guessed."""
    passwords = {
        "APP_BASIC_AUTH_PASSWORD": settings.basic_auth_password,
        "APP_BASIC_AUTH_PREVIOUS_PASSWORD": settings.basic_auth_previous_password,
    }
    return [name for name, password in passwords.items() if password and len(password) < LEAST_CHARACTERS]


def warn_of_weak_passwords(settings: Settings) -> None:
    """Logs one warning at the start if a password can be guessed, unless only this machine reaches the service."""
    if (weak := weak_passwords(settings)) and not is_loopback(settings.host):
        logger.warning("{}: fewer than {} characters (as demo's) can be guessed", ", ".join(weak), LEAST_CHARACTERS)


def is_loopback(host: str) -> bool:
    """Returns whether every address of `host` is a loopback address, or `host` cannot be resolved."""
    try:
        found = socket.getaddrinfo(host, None)
    except (OSError, UnicodeError):
        return True  # binding will fail with a clear error
    return all(ip_address(str(address[0])).is_loopback for *_, address in found)


def accepted_pairs(settings: GateSettings) -> list[bytes]:
    """Returns `user:password` of the current pair, and of the previous pair while passwords rotate."""
    pairs = (
        (settings.basic_auth_username, settings.basic_auth_password),
        (settings.basic_auth_previous_username, settings.basic_auth_previous_password),
    )
    return [f"{user}:{password.get_secret_value()}".encode() for user, password in pairs if user and password]


def authorized(headers: Iterable[tuple[bytes, bytes]], pairs: list[bytes]) -> bool:
    """Returns whether the Authorization header contains one of `pairs`."""
    header = next((value for name, value in headers if name == b"authorization"), b"")
    scheme, _, token = header.partition(b" ")
    try:
        given = base64.b64decode(token.strip(), validate=True) if scheme.lower() == b"basic" else b""
    except binascii.Error:
        given = b""
    # A list instead of any(), so that the time does not depend on which pair matches.
    return True in [compare_digest(given, pair) for pair in pairs]

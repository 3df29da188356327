"""Checks HTTP Basic credentials in constant time, and warns of passwords that can be guessed."""

import base64
import binascii
from secrets import compare_digest

from loguru import logger

from app.server.listener import is_loopback
from app.settings import WebSettings

# Passwords with fewer characters, such as `demo`, count as easy to guess.
LEAST_CHARACTERS = 8


def weak_passwords(settings: WebSettings) -> list[str]:
    """Returns the names of the environment variables whose password has fewer than LEAST_CHARACTERS characters."""
    weak = [prefix for prefix, _, password in settings.credentials if password and len(password) < LEAST_CHARACTERS]
    return [f"{prefix}_PASSWORD" for prefix in weak]


def warn_of_weak_passwords(settings: WebSettings) -> None:
    """Logs a warning if a password can be guessed, unless the service listens on loopback addresses only."""
    if (weak := weak_passwords(settings)) and not is_loopback(settings.host):
        logger.warning("{}: passwords of fewer than {} characters can be guessed", ", ".join(weak), LEAST_CHARACTERS)


class Accepted:
    """The accepted pairs of user name and password: the current pair, and the previous pair if it is configured."""

    def __init__(self, settings: WebSettings) -> None:
        self._pairs = [
            f"{user}:{password.get_secret_value()}".encode()
            for _, user, password in settings.credentials
            if user and password
        ]
        self._headers = [b"Basic " + base64.b64encode(pair) for pair in self._pairs]

    def accepts(self, header: bytes) -> bool:
        """Returns True if the Authorization header contains an accepted pair.

        First compares the header with the usual encoding of each pair, because this needs no decoding. Always compares
        with all pairs, so that the response time does not show which pair matches.
        """
        accepted = False
        for usual in self._headers:
            accepted |= compare_digest(header, usual)
        return accepted or self._decoded(header)

    def _decoded(self, header: bytes) -> bool:
        scheme, _, token = header.partition(b" ")
        try:
            given = base64.b64decode(token.strip(), validate=True) if scheme.lower() == b"basic" else b""
        except binascii.Error:
            given = b""
        return True in [compare_digest(given, pair) for pair in self._pairs]

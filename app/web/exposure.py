"""One warning at the start if strangers can use the service: credentials to guess, or a local run that others reach."""

import socket
from collections.abc import Iterator
from ipaddress import ip_address

from loguru import logger

from app.settings import Settings
from app.web.gate.auth import LEAST_CHARACTERS, weak_passwords
from app.web.webhook import PATH


def warn(settings: Settings, *, local: bool) -> None:
    """Logs the warning; in local mode only if other machines reach it, because demo:demo is its default."""
    weak = ", ".join(weak_passwords(settings))
    if not local and weak:
        logger.warning("{}: fewer than {} characters (as demo's) can be guessed", weak, LEAST_CHARACTERS)
    elif local and (exposed := list(_exposed(settings))):
        logger.warning("APP_LOCAL=1 is for this machine alone, but others reach {}", "; ".join(exposed))


def _exposed(settings: Settings) -> Iterator[str]:
    """Yields what other machines can use of a local run. Its stand-ins listen on loopback only."""
    if not _is_loopback(settings.host):
        guessed = f" with credentials that can be guessed ({settings.basic_auth_username}:…)"
        yield f"POST {PATH}{guessed if weak_passwords(settings) else ''}"
        yield "the probes"
        if settings.docs:
            yield "/docs and /openapi.json"
        yield f"all by APP_HOST={settings.host}"
    if settings.metrics_port is not None and not _is_loopback(settings.metrics_host):
        yield f"/metrics by APP_METRICS_HOST={settings.metrics_host}"


def _is_loopback(host: str) -> bool:
    try:
        found = socket.getaddrinfo(host, None)
    except (OSError, UnicodeError):
        return True  # binding fails, and reports it
    return all(ip_address(str(address[0])).is_loopback for *_, address in found)

"""One warning at the start if strangers can use the service: credentials to guess."""

from loguru import logger

from app.settings import Settings
from app.web.gate.auth import LEAST_CHARACTERS, weak_passwords


def warn(settings: Settings, *, local: bool) -> None:
    """Logs the warning; not in local mode, because demo:demo is its default."""
    weak = ", ".join(weak_passwords(settings))
    if not local and weak:
        logger.warning("{}: fewer than {} characters (as demo's) can be guessed", weak, LEAST_CHARACTERS)

"""Warns if other machines can reach a local run, which is meant for this machine only."""

from collections.abc import Iterator

from loguru import logger

from app.server.listener import is_loopback
from app.settings import WebSettings
from app.web.middleware import PATH


def warn(settings: WebSettings) -> None:
    """Logs one warning if other machines can reach the service. The stand-ins listen on loopback only."""
    if exposed := list(_exposed(settings)):
        logger.warning("A local run is for this machine only, but other machines can reach {}", "; ".join(exposed))


def _exposed(settings: WebSettings) -> Iterator[str]:
    if not is_loopback(settings.host):
        metrics = "" if settings.metrics_port is None else ", /metrics"
        yield f"POST {PATH}, the probes{metrics}, /docs and /openapi.json because of APP_HOST={settings.host}"

"""Tests the warning of a local run that other machines can reach."""

from collections.abc import Iterator

import pytest
from loguru import logger

from app.settings import WebSettings
from local import exposure

ALL = "POST /webhooks/chargebee, the probes, /docs and /openapi.json because of APP_HOST=0.0.0.0"
WITH_METRICS = ALL.replace("probes", "probes, /metrics")


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    found: list[str] = []
    sink = logger.add(lambda message: found.append(message.record["message"]), level="WARNING")
    yield found
    logger.remove(sink)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"host": "127.0.0.1"}, None),
        ({"host": "localhost", "metrics_port": 0}, None),
        ({"host": "0.0.0.0", "metrics_port": 9000}, WITH_METRICS),  # noqa: S104  # as below
        ({"host": "0.0.0.0"}, ALL),  # noqa: S104  # no socket is bound
    ],
    ids=str,
)
def test_what_others_reach(warnings: list[str], given: dict[str, object], expected: str | None) -> None:
    """The warning names only sockets that exist and do not listen on loopback."""
    exposure.warn(WebSettings.model_validate(given))
    wanted = f"A local run is for this machine only, but other machines can reach {expected}"
    assert warnings == ([wanted] if expected else [])

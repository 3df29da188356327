"""The service logs one warning at the start if strangers could guess its credentials."""

from collections.abc import Iterator

import pytest
from loguru import logger

from app.settings import WebSettings
from app.web.credentials import warn_of_weak_passwords
from tests.harness.service import Service
from tests.harness.sqs_stand_in import SqsStandIn

DEMO = {"basic_auth_username": "demo", "basic_auth_password": "demo"}
STRONG = {"basic_auth_username": "chargebee", "basic_auth_password": "8-characters"}
SHORT = {"basic_auth_previous_username": "chargebee", "basic_auth_previous_password": "seven-7"}


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    found: list[str] = []
    sink = logger.add(lambda message: found.append(message.record["message"]), level="WARNING")
    yield found
    logger.remove(sink)


def test_credentials_that_can_be_guessed() -> None:
    """demo:demo and a previous password of seven characters give one warning, and the service starts."""
    everywhere = {"host": "0.0.0.0"}  # noqa: S104  # on loopback there is no warning
    with SqsStandIn() as sqs, Service(sqs.endpoint, sqs.queue_url, **everywhere, **DEMO, **SHORT) as service:
        service.wait_for("Listening on")
        found = [line["message"] for line in service.lines if line["level"] == "WARNING"]
    assert found == [
        "APP_BASIC_AUTH_PASSWORD, APP_BASIC_AUTH_PREVIOUS_PASSWORD: passwords of fewer than 8 characters can be guessed"
    ]


@pytest.mark.parametrize(("given", "number"), [(STRONG, 0), (STRONG | SHORT, 1), (DEMO, 1)], ids=str)
def test_which_credentials(warnings: list[str], given: dict[str, str], number: int) -> None:
    """A weak password in either pair gives a warning. No warning contains a password."""
    warn_of_weak_passwords(WebSettings.model_validate({"host": "0.0.0.0", **given}))  # noqa: S104  # no socket is bound
    assert len(warnings) == number
    assert "seven-7" not in "".join(warnings)


@pytest.mark.parametrize(("host", "number"), [("127.0.0.1", 0), ("localhost", 0), ("::1", 0), ("::", 1), ("*", 1)])
def test_on_loopback(warnings: list[str], host: str, number: int) -> None:
    """There is no warning if only this machine can connect to the service."""
    warn_of_weak_passwords(WebSettings.model_validate({**DEMO, "host": host}))
    assert len(warnings) == number

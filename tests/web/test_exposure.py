"""One warning at the start if strangers can use the service."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from loguru import logger

from app.settings import Settings
from app.web import exposure
from tests.harness.service import Service, Web, clean_environment
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
    """demo:demo, and a previous password of seven characters: one warning, and the service starts."""
    with SqsStandIn() as sqs, Service(sqs.endpoint, sqs.queue_url, **DEMO, **SHORT) as service:
        service.wait_for("Listening on")
        found = [line["message"] for line in service.lines if line["level"] == "WARNING"]
    assert found == [
        "APP_BASIC_AUTH_PASSWORD, APP_BASIC_AUTH_PREVIOUS_PASSWORD: fewer than 8 characters (as demo's) can be guessed"
    ]


@pytest.mark.parametrize(("given", "number"), [(STRONG, 0), (STRONG | SHORT, 1), (DEMO, 1)], ids=str)
def test_which_credentials(warnings: list[str], given: dict[str, str], number: int) -> None:
    """Either pair counts; no warning repeats a password."""
    exposure.warn(Settings.model_validate(given), local=False)
    assert len(warnings) == number
    assert "seven-7" not in "".join(warnings)


def test_a_local_run_that_others_reach(tmp_path: Path) -> None:
    """APP_LOCAL=1 APP_HOST=0.0.0.0: one warning, with what they reach."""
    settings = {"local": 1, "port": 0, "run_dir": tmp_path, "host": "0.0.0.0"}  # noqa: S104  # the subject
    with Web(clean_environment(**settings)) as service:
        found = [line["message"] for line in service.lines if line["level"] == "WARNING"]
    assert found == [
        "APP_LOCAL=1 is for this machine alone, but others reach POST /webhooks/chargebee with credentials that can be"
        " guessed (demo:…); the probes; /docs and /openapi.json; all by APP_HOST=0.0.0.0"
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"host": "127.0.0.1"}, None),
        ({"host": "localhost", "metrics_port": 0}, None),
        ({"host": "::1", "metrics_host": "0.0.0.0"}, None),  # noqa: S104  # it has no port
        ({"metrics_port": 9000, "metrics_host": "::"}, "/metrics by APP_METRICS_HOST=::"),
        (
            {"host": "0.0.0.0", **STRONG},  # noqa: S104  # no socket is bound
            "POST /webhooks/chargebee; the probes; all by APP_HOST=0.0.0.0",
        ),
    ],
    ids=str,
)
def test_what_others_reach(warnings: list[str], given: dict[str, object], expected: str | None) -> None:
    """Only what is there, and what does not listen on loopback."""
    exposure.warn(Settings.model_validate({**DEMO, **given}), local=True)
    wanted = f"APP_LOCAL=1 is for this machine alone, but others reach {expected}"
    assert warnings == ([wanted] if expected else [])

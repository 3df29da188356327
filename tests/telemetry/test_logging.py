"""Logging: JSON lines in production, readable on a terminal, one format for all loggers, no secrets."""

import json
import logging
import subprocess
import sys
import textwrap
import warnings
from datetime import datetime
from pathlib import Path

import pytest
from loguru import logger

from app.settings import WebSettings
from app.telemetry.logging import configure_logging

pytestmark = pytest.mark.usefixtures("undone")


def test_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """Each line is one object with the message and the event's fields, from the standard library's loggers, too."""
    configure_logging(WebSettings(log_format="json"))
    logger.bind(event_id="ev_1", duration_ms=1.5).info("webhook queued")
    logging.getLogger("uvicorn.error").warning("from %s", "uvicorn")
    first, second = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert datetime.fromisoformat(first.pop("time")).tzinfo is not None
    assert first == {"level": "INFO", "message": "webhook queued", "event_id": "ev_1", "duration_ms": 1.5}
    assert (second["level"], second["message"]) == ("WARNING", "from uvicorn")


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    """On a terminal, lines are readable text."""
    configure_logging(WebSettings(log_format="text"))
    logger.bind(event_id="ev_1").info("webhook {}", "queued")
    line = capsys.readouterr().err
    assert "webhook queued" in line
    assert "event_id=" in line
    assert "ev_1" in line


@pytest.mark.parametrize("log_format", ["json", "text"])
def test_a_traceback_shows_no_values(capsys: pytest.CaptureFixture[str], log_format: str) -> None:
    """A traceback shows where the error occurred, but no payload; in JSON it is one line."""
    configure_logging(WebSettings.model_validate({"log_format": log_format}))

    def fail(payload: str) -> None:
        raise RuntimeError("broken")

    try:
        fail("4111-1111-1111-1111")
    except RuntimeError:
        logger.exception("unexpected")
        logging.getLogger("uvicorn.error").exception("unexpected, too")
    output = capsys.readouterr().err
    assert output.count("RuntimeError: broken") == 2
    assert "fail(" in output
    # A traceback quotes the source line with this literal; the value must not appear anywhere else.
    assert output.count("4111-1111-1111-1111") == output.count('fail("4111') + output.count('fail(\\"4111')
    if log_format == "json":
        assert [json.loads(line)["message"] for line in output.splitlines()] == ["unexpected", "unexpected, too"]


def test_the_least_severe_level(capsys: pytest.CaptureFixture[str]) -> None:
    """APP_LOG_LEVEL is the least severe level; the AWS clients' debug messages are dropped at any level."""
    configure_logging(WebSettings(log_format="json", log_level="WARNING"))
    logger.info("below the level")
    configure_logging(WebSettings(log_format="json", log_level="DEBUG"))
    logging.getLogger("botocore.endpoint").debug("Authorization: AWS4-HMAC-SHA256 …")
    logging.getLogger("aiobotocore.endpoint").debug("MessageBody …")
    assert capsys.readouterr().err == ""


def test_warnings_are_logged(capsys: pytest.CaptureFixture[str]) -> None:
    """Python's warnings are logged in the same format."""
    configure_logging(WebSettings(log_format="json"))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old", UserWarning, stacklevel=1)
    assert "UserWarning: old" in json.loads(capsys.readouterr().err)["message"]


def test_a_warning_with_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    """A library's warning is one line, which has the exception. An error keeps its traceback."""
    configure_logging(WebSettings(log_format="text"))
    try:
        Path("/does/not/exist").read_bytes()
    except OSError:
        logging.getLogger("botocore.credentials").warning("Refreshing failed.", exc_info=True)
        logging.getLogger("uvicorn").error("Exception", exc_info=True)
    warning, *rest = capsys.readouterr().err.splitlines()
    assert warning.endswith("Refreshing failed. FileNotFoundError(2, 'No such file or directory')")
    assert "Traceback" in rest[1]


def test_auto_is_json_without_a_terminal() -> None:
    """A pipe is not a terminal, so `auto` writes JSON."""
    script = """
        from app.settings import WebSettings
        from app.telemetry.logging import configure_logging
        from loguru import logger
        configure_logging(WebSettings())
        logger.info("hello")
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert json.loads(ended.stderr)["message"] == "hello"

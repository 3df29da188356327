"""Configures loguru, which writes JSON lines or text, and writes the log lines of webhooks and messages.

loguru also writes what libraries log with the standard library's logging.
"""

import logging
import sys
from typing import TYPE_CHECKING, Any

import orjson
from loguru import logger

from app.settings import ProcessSettings
from app.telemetry.record import UNANSWERED, MessageRecord, WebhookRecord
from app.telemetry.trace import Trace
from app.terminal import is_plain

if TYPE_CHECKING:
    from loguru import Message, Record

    from asgi_doctor.stacks import Location, Stack

# Messages with these outcomes need a person's attention, so their lines have the level WARNING.
WARNED = ("dead_letter", "lost")
# At the levels DEBUG and INFO, most of these libraries log each request, and some log its headers and its body.
CHATTY = ("aiobotocore", "aiohttp", "asyncio", "boto3", "botocore", "urllib3")
_TEXT = "<dim>{time:HH:mm:ss.SSS}</dim> <level>{level: <7}</level> {message}"


def configure_logging(settings: ProcessSettings) -> None:
    """Replaces all handlers of loguru and of the module `logging`. Call this function before the first log line."""
    logger.remove()
    # With `diagnose=True`, tracebacks would contain the values of variables, including payloads and passwords.
    if as_json(settings):
        logger.add(_write_json, level=settings.log_level, format="{message}", backtrace=False, diagnose=False)
    else:
        colorize = False if is_plain() else None
        logger.add(
            sys.stderr, level=settings.log_level, format=_readable, colorize=colorize, backtrace=False, diagnose=False
        )
    logging.basicConfig(handlers=[_ToLoguru()], level=settings.log_level, force=True)
    logging.captureWarnings(True)
    for chatty in CHATTY:
        logging.getLogger(chatty).setLevel(logging.WARNING)


def as_json(settings: ProcessSettings) -> bool:
    """Returns True if the process logs JSON lines, and False if it logs text."""
    return settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty())


def log_webhook(record: WebhookRecord) -> None:
    """Writes the log line of a webhook that has ended, with or without an answer."""
    level = "WARNING" if record.status is not None or record.outcome == UNANSWERED else "INFO"
    logger.bind(**fields(record)).log(level, "webhook {}", record.outcome)


def fields(record: WebhookRecord) -> dict[str, Any]:
    """Returns the fields of a webhook's log line, such as its event id, outcome and duration, without the payload."""
    assert record.answered is not None
    found: dict[str, Any] = {"duration_ms": round((record.answered - record.began) * 1000, 2)}
    if (event := record.event) is not None:
        found["event_id"] = event.id
        found["event_type"] = event.event_type
        found["retry"] = event.is_retry
    found["outcome"] = record.outcome
    if record.status is not None:
        found["status"] = record.status
    if record.cause is not None:
        found["cause"] = record.cause
    if record.delivery is not None:
        found["delivery"] = record.delivery
    return found if record.trace is None else found | _trace(record.trace)


def log_blocked(location: "Location", stack: "Stack", seconds: float) -> None:
    """Logs a warning about the line of code at `location`, which blocks the event loop, with a shortened stack."""
    from asgi_doctor.stacks import short  # imported only if APP_BLOCK_WARN is set

    logger.bind(place=str(location), held_ms=round(seconds * 1000), stack=short(stack)).warning(
        "Event loop blocked for {:.2f} s so far by {}", seconds, location
    )


def log_message(record: MessageRecord) -> None:
    """Writes the log line of a message that a worker has processed, without the payload."""
    assert record.ended is not None
    found: dict[str, Any] = {"duration_ms": round((record.ended - record.began) * 1000, 2)}
    if (event := record.event) is not None:
        found |= {"event_id": event.id, "event_type": event.event_type}
    found |= {"outcome": record.outcome, "message_id": record.message_id, "receives": record.receives}
    if record.waited is not None:
        found["waited_s"] = round(record.waited, 3)
    if record.code is not None:
        found["cause"] = record.code
    if record.retry_in is not None:
        found["retry_in_s"] = record.retry_in
    level = "WARNING" if record.outcome in WARNED else "INFO"
    logger.bind(**found, **_trace(record.trace)).log(level, "message {}", record.outcome)


def _trace(trace: Trace | None) -> dict[str, Any]:
    return {"trace_id": f"{trace.trace_id:032x}", "span_id": f"{trace.span_id:016x}"} if trace is not None else {}


def _readable(record: "Record") -> str:
    extra = "".join(f" <dim>{name}=</dim>{{extra[{name}]}}" for name in record["extra"])
    return f"{_TEXT}{extra}\n{{exception}}"


def _write_json(message: "Message") -> None:
    record = message.record
    line = {
        "time": record["time"].isoformat(timespec="milliseconds"),
        "level": record["level"].name,
        "message": record["message"],
        **record["extra"],
    }
    if record["exception"] is not None:
        line["exception"] = str(message).removeprefix(record["message"]).strip()
    sys.stderr.write(orjson.dumps(line, default=str).decode() + "\n")


class _ToLoguru(logging.Handler):
    """Forwards log records of the standard library's logging, which uvicorn and other libraries use, to loguru.

    A warning has its exception instead of a traceback: botocore warns of credentials that it cannot renew.
    """

    def emit(self, record: logging.LogRecord) -> None:
        text, exception = record.getMessage(), record.exc_info
        if exception and record.levelno < logging.ERROR:
            text, exception = f"{text} {exception[1]!r}", None
        logger.opt(exception=exception).log(record.levelname, "{}", text)

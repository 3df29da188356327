"""Configures loguru to write JSON lines or text. Logs webhooks, messages, and code that blocks the event loop.

loguru also writes the lines that libraries log with the module `logging`.
"""

import logging
import sys
from typing import TYPE_CHECKING

import orjson
from loguru import logger

from app.settings import ProcessSettings
from app.telemetry.fields import log_fields
from app.telemetry.record import UNANSWERED, MessageRecord, WebhookRecord
from app.terminal import is_plain

if TYPE_CHECKING:
    from loguru import Message, Record

    from asgi_doctor.stacks import Location, Stack

# Messages with these outcomes need a person's attention, so their lines have the level WARNING.
WARNED = ("dead_letter", "lost")
# `configure_logging` lets these libraries log only warnings and errors. At lower levels, most of them log each request,
# and some log its headers and body.
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
    logger.bind(**log_fields(record)).log(level, "webhook {}", record.outcome)


def log_message(record: MessageRecord) -> None:
    """Writes the log line of a message that a worker has processed."""
    level = "WARNING" if record.outcome in WARNED else "INFO"
    logger.bind(**log_fields(record)).log(level, "message {}", record.outcome)


def log_blocked(location: "Location", stack: "Stack", seconds: float) -> None:
    """Logs, with a short stack, that the code at `location` has blocked the event loop for `seconds` so far."""
    from asgi_doctor.stacks import short  # imported only if APP_BLOCK_WARN is set

    logger.bind(place=str(location), held_ms=round(seconds * 1000), stack=short(stack)).warning(
        "Event loop blocked for {:.2f} s so far by {}", seconds, location
    )


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
    """Forwards the log records of the module `logging` to loguru. uvicorn and other libraries use `logging`.

    Below the level ERROR, logs an exception without its traceback. For example, botocore logs a warning with a
    traceback if it cannot renew credentials.
    """

    def emit(self, record: logging.LogRecord) -> None:
        text, exception = record.getMessage(), record.exc_info
        if exception and record.levelno < logging.ERROR:
            text, exception = f"{text} {exception[1]!r}", None
        logger.opt(exception=exception).log(record.levelname, "{}", text)

"""loguru: JSON lines in production, readable on a terminal; the standard library's loggers go the same way."""

import logging
import sys
from typing import TYPE_CHECKING

import orjson
from loguru import logger

from app.settings import Settings

if TYPE_CHECKING:
    from loguru import Message, Record

_TEXT = "<dim>{time:HH:mm:ss.SSS}</dim> <level>{level: <7}</level> {message}"


def configure_logging(settings: Settings) -> None:
    """Replaces every handler; call it once per process, before anything logs."""
    text = settings.log_format == "text" or (settings.log_format == "auto" and sys.stderr.isatty())
    logger.remove()
    # diagnose would print the values of variables into tracebacks: payloads and passwords among them.
    if text:
        logger.add(sys.stderr, level=settings.log_level, format=_readable, backtrace=False, diagnose=False)
    else:
        logger.add(_write_json, level=settings.log_level, format="{message}", backtrace=False, diagnose=False)
    logging.basicConfig(handlers=[_ToLoguru()], level=settings.log_level, force=True)
    logging.captureWarnings(True)
    # Below WARNING, these write headers and bodies of what they send.
    for chatty in ("aiobotocore", "aiohttp", "asyncio", "boto3", "botocore", "urllib3"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


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
    """uvicorn and everyone else who uses the standard library's logging."""

    def emit(self, record: logging.LogRecord) -> None:
        logger.opt(exception=record.exc_info).log(record.levelname, "{}", record.getMessage())

"""The errors in the log of simulated processes."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from loguru import logger


@contextmanager
def unexpected_errors() -> Iterator[list[str]]:
    """Yields a list to which each error in the log is added. The service logs unexpected exceptions and continues."""
    errors: list[str] = []
    sink = logger.add(lambda message: errors.append(message.record["message"]), level="ERROR")
    uvicorn, handler = logging.getLogger("uvicorn.error"), logging.Handler(logging.ERROR)
    handler.emit = lambda record: errors.append(record.getMessage().strip())  # type: ignore[method-assign]
    uvicorn.addHandler(handler)
    try:
        yield errors
    finally:
        logger.remove(sink)
        uvicorn.removeHandler(handler)

"""Undoes what a test of logging changes in the process."""

import logging
from collections.abc import Iterator

import pytest
from loguru import logger


@pytest.fixture
def undone() -> Iterator[None]:
    """`configure_logging` replaces handlers and takes Python's warnings, which a later test would miss."""
    handlers = logging.root.handlers[:]
    yield
    logger.remove()
    logging.captureWarnings(False)
    logging.root.handlers[:] = handlers

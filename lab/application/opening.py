"""The context manager `opened` of experiments that need no resources: see `lab.application.main.create_app`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from lab.lab_settings import LabSettings


@asynccontextmanager
async def nothing(settings: LabSettings) -> AsyncIterator[dict[str, Any]]:
    """Yields an empty state. Experiments import this function as `opened`."""
    yield {}

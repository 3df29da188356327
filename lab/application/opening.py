"""Defines what an experiment opens for the life of a process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from lab.lab_settings import LabSettings


@asynccontextmanager
async def nothing(settings: LabSettings) -> AsyncIterator[dict[str, Any]]:
    """Opens nothing, for experiments that need nothing."""
    yield {}

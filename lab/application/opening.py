"""Defines `opened` for experiments that need no clients, pools or files: see `lab.application.main.create_app`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from lab.lab_settings import LabSettings


@asynccontextmanager
async def nothing(settings: LabSettings) -> AsyncIterator[dict[str, Any]]:
    """Yields an empty state."""
    yield {}

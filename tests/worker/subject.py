"""A worker process whose work is decided by a test: `python -m tests.worker.subject`, see `controller.py`."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.errors import Postponed, Unprocessable
from app.events import Event
from app.settings import load_worker_settings
from app.telemetry.logging import configure_logging
from app.telemetry.observers import exported, make_worker_observers
from app.worker.handle import Process
from app.worker.worker_process import run

CONTROLLER, NAME, PREFETCHED = "TEST_CONTROLLER_PORT", "TEST_WORKER_NAME", "TEST_WORKER_PREFETCH"


async def process(event: Event) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(os.environ[CONTROLLER]))
    try:
        writer.write(json.dumps({"event_id": event.id, "worker": os.environ[NAME]}).encode() + b"\n")
        reply = json.loads(await reader.readline())
    finally:
        writer.close()
    if "postponed" in reply:
        raise Postponed("as the test says", reply["postponed"], reply.get("retry_after"))
    if "unprocessable" in reply:
        raise Unprocessable("as the test says", reply["unprocessable"])
    if "crash" in reply:
        raise RuntimeError(reply["crash"])
    outcome: str = reply["outcome"]
    return outcome


@asynccontextmanager
async def opened() -> AsyncIterator[Process]:
    yield process


def main() -> None:
    settings = load_worker_settings()
    configure_logging(settings)
    observers = make_worker_observers(settings, "test")
    with exported(observers, settings):
        run(settings, opened, observers, prefetch=int(os.environ[PREFETCHED]))


if __name__ == "__main__":
    main()
